"""How a score was built is told from the trace, whatever stages were at work."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from stages.worlds import Scripted
from tables import table

from recall_stages.core.memory import Memory, Query
from recall_stages.core.requests import Reply
from recall_stages.core.stage import Recall, Stage, pipeline
from recall_stages.core.world import run
from recall_stages.explain.build_up import build_up
from recall_stages.explain.explanation import explain
from recall_stages.ranking.fusion import fuse_arms
from recall_stages.stages.filters import TimeDecay
from recall_stages.stages.fuse_rerank import FuseRerank
from recall_stages.stages.rankers import HybridRank
from recall_stages.stages.semantic_rank import SemanticRank
from recall_stages.timeline import extract_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)  # a Friday
TOLD = [
    ("The dentist filled a tooth.", "conversation", "2024-03-05T10:00Z", "Ann"),
    ("Ann is afraid of the dentist.", "insight", "2023-11-20T18:30Z", ""),
    ("Elm Street is where the dentist is.", "observation", None, "assistant"),
]


def candidates(count: int = 3) -> list[Memory]:
    found = [
        Memory(content=said, memory_type=kind, created_at=when, author=author, id=str(number))
        for number, (said, kind, when, author) in enumerate(TOLD[:count])
    ]
    similar = [each.scored(0.6 - 0.1 * n, similarity=0.6 - 0.1 * n) for n, each in enumerate(found)]
    worded = [each.scored(1.0 + n, keyword=1.0 + n) for n, each in enumerate(found)]
    return fuse_arms([similar], [worded], limit=10)


def ranked(*stages: Stage, found: list[Memory] | None = None) -> list[Memory]:
    question = "What did Ann say about the dentist last Tuesday?"
    query = Query(text=question, reference_time=NOW, time_ranges=extract_time(question, NOW))
    said = '{"scores": [{"memory": 1, "score": 0.9}, {"memory": 2, "score": 0.4}]}'
    given = candidates() if found is None else found
    recall = run(
        pipeline(stages, Recall(query, tuple(given))), Scripted(lambda asked: [Reply(said)])
    )
    return list(recall.memories)


@table(
    "stages",
    [
        [],
        [FuseRerank()],
        [TimeDecay()],
        [HybridRank()],
        [SemanticRank(llm=object())],
        [SemanticRank(llm=object()), FuseRerank()],
        [TimeDecay(), FuseRerank()],
        [FuseRerank(), TimeDecay()],
        [FuseRerank(), TimeDecay(), HybridRank()],
        [HybridRank(), FuseRerank(), TimeDecay()],
        [FuseRerank(fuse_ratio_dict={"insight": 0.0}), TimeDecay()],
        [FuseRerank(), SemanticRank(llm=object())],
    ],
    ids=lambda stages: "+".join(type(each).__name__ for each in stages) or "search",
)
def test_the_way_leads_from_nothing_to_the_score(stages: list[Stage]) -> None:
    for memory in ranked(*stages):
        steps = build_up(memory).steps

        assert steps[0].before == 0
        assert steps[-1].after == pytest.approx(memory.score)
        assert all(one.after == pytest.approx(next_.before) for one, next_ in pairwise(steps))


def ways(*stages: Stage) -> list[list[str]]:
    return [[step.told for step in build_up(memory).steps] for memory in ranked(*stages)]


def test_each_weight_has_its_step() -> None:
    insight, conversation, assistants = ways(FuseRerank())

    assert insight == ["0.500 by meaning", "0.267 by words", "x 2 insight"]
    assert conversation[:2] == ["0.600 by meaning", "0.133 by words"]
    assert conversation[2:4] == ["x 0.5 conversation", "x 1.25 said by Ann"]
    assert conversation[4:] == ["x 1.8 recorded in time"]
    assert assistants == ["0.400 by meaning", "0.400 by words", "x 0.6 said by assistant"]


def test_what_decayed_and_was_fused_then_is_told_in_that_order() -> None:
    [dated] = [way for way in ways(TimeDecay(), FuseRerank()) if "said by Ann" in str(way)]
    assert dated[2:4] == ["x 0.74 for its age", "x 0.5 conversation"]

    [dated] = [way for way in ways(FuseRerank(), TimeDecay()) if "said by Ann" in str(way)]
    assert dated[2] == "x 0.5 conversation"
    assert dated[-2:] == ["/ 1.53, so that the best has 1", "x 0.74 for its age"]


def test_recency_that_was_mixed_in_is_told() -> None:
    assert "mixed with recency 0.90" in {way[-1] for way in ways(HybridRank())}


def test_a_model_that_ranked_has_the_first_word() -> None:
    assert ways(SemanticRank(llm=object()))[0] == ["the model says 0.900"]


def test_likeness_word_by_word_and_a_framework_s_own_stage_are_named() -> None:
    late = candidates(1)[0].scored(0.9, relevance=0.8, late=0.9)
    stock = candidates(1)[0].scored(0.9, ranked_by="CohereRerank")

    told = [[step.told for step in build_up(each).steps] for each in (late, stock)]

    assert told[0] == ["relevance 0.800", "mixed with the likeness of its words"]
    assert told[1] == ["0.900 by CohereRerank"]


def test_a_score_that_somebody_else_gave_is_not_passed_off_as_ours() -> None:
    [best, *_] = ranked(FuseRerank())

    shown = str(explain([best.model_copy(update={"score": 7.0})]))

    assert "7.000 from a later step" in shown
    assert "x 2 insight" not in shown


def test_a_memory_without_a_score_has_no_way() -> None:
    assert build_up(Memory(content="Tea.", trace={"relevance": 0.5})).steps == ()
    assert "Tea." in str(explain([Memory(content="Tea.", trace={"relevance": 0.5})]))


def test_the_table_tells_of_age_too() -> None:
    assert "x 0.74 for its age" in str(explain(ranked(TimeDecay())))
