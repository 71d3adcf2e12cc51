"""How a score was built: the steps of the stages, whatever stages were at work."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from stages.scripted import answered
from stages.test_fusion import fuse_arms
from tables import table

from recall_retrievers.core.candidate import Candidate, Hit, Step
from recall_retrievers.core.query import Dropped, Query
from recall_retrievers.core.stage import Recall, Stage
from recall_retrievers.explain.explanation import explain
from recall_retrievers.explain.rows import rows
from recall_retrievers.stages.filters import TimeDecay
from recall_retrievers.stages.foreign_stages import FunctionStage
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.stages.model_rankers import SemanticRank
from recall_retrievers.stages.rankers import HybridRank
from recall_retrievers.timeline import extract_time, parse_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)  # a Friday
TOLD = [
    ("The dentist filled a tooth.", "conversation", "2024-03-05T10:00Z", "Ann"),
    ("Ann is afraid of the dentist.", "insight", None, ""),
    ("Elm Street is where the dentist is.", "observation", None, "assistant"),
]


def candidates(count: int = 3) -> list[Candidate]:
    found = [
        Candidate(
            content=said,
            memory_type=kind,
            created_at=when and parse_time(when),
            author=author,
            id=str(number),
        )
        for number, (said, kind, when, author) in enumerate(TOLD[:count])
    ]
    similar = [Hit(each, 0.6 - 0.1 * n) for n, each in enumerate(found)]
    worded = [Hit(each, 1.0 + n) for n, each in enumerate(found)]
    return [*fuse_arms([similar], [worded], limit=10)]


def ranked(*stages: Stage, found: list[Candidate] | None = None) -> list[Candidate]:
    question = "What did Ann say about the dentist last Tuesday?"
    query = Query(text=question, reference_time=NOW, time_ranges=extract_time(question, NOW))
    said = '{"scores": [{"memory": 1, "score": 0.9}, {"memory": 2, "score": 0.4}]}'
    given = candidates() if found is None else found
    return list(answered(stages, Recall(query, tuple(given)), said)[0].memories)


def by_hand(labels: list[str]) -> float:
    """What a reader gets who adds and multiplies the numbers that are shown."""
    score = 0.0
    for label in labels:
        number = float(re.search(r"[\d.]+(e-?\d+)?", label).group())
        if label.startswith("x "):
            score *= number
        elif label.startswith("/ "):
            score /= number
        else:
            score += number
    return score


@table(
    ("stages", "adds_up"),
    [
        ([], True),
        ([FuseRerank()], True),
        ([TimeDecay()], True),
        ([HybridRank()], True),
        ([SemanticRank(llm=object())], True),
        ([SemanticRank(llm=object()), FuseRerank()], True),
        ([TimeDecay(), FuseRerank()], True),
        ([FuseRerank(), TimeDecay(), HybridRank()], False),  # of rounded numbers
        ([HybridRank(), FuseRerank(), TimeDecay()], True),
        ([FuseRerank(fuse_ratio_dict={"insight": 0.0}), TimeDecay()], True),
        ([FuseRerank(), SemanticRank(llm=object())], True),
    ],
    ids=lambda stages: "+".join(type(each).__name__ for each in stages) or "search",
)
def test_the_way_leads_from_nothing_to_the_score(stages: list[Stage], adds_up: bool) -> None:
    for memory in ranked(*stages):
        steps = rows(memory)
        shown = explain([memory]).to_text(width=300)
        labels = [row.whole.split(" = ")[0] for row in steps]

        assert steps[0].before == 0
        assert steps[-1].after == pytest.approx(memory.score)
        assert all(one.after == pytest.approx(next_.before) for one, next_ in pairwise(steps))
        if adds_up:
            assert by_hand(labels) == pytest.approx(memory.score, rel=0.01)
        assert all(label.split(" (")[0] in shown for label in labels)


def ways(*stages: Stage) -> list[list[str]]:
    return [[step.label for step in rows(memory)] for memory in ranked(*stages)]


def test_each_weight_has_its_step() -> None:
    insight, conversation, assistants = ways(FuseRerank())

    assert insight == [
        "0.500 by meaning (similarity 0.500)",
        "+ 0.267 by exact words (BM25 2.000)",
        "x 2 insight",
        "x 1.25 names the person",
        "/ 1.917 so that the best has 1",
    ]
    assert conversation[2:4] == ["x 0.5 conversation", "x 1.25 said by Ann"]
    assert conversation[4:-1] == ["x 1.77 recorded in time"]
    assert assistants[2:-1] == ["x 0.5 said by assistant"]


def test_stages_stand_in_the_order_in_which_they_worked() -> None:
    [dated] = [way for way in ways(TimeDecay(), FuseRerank()) if "said by Ann" in str(way)]
    assert dated[2:4] == ["x 0.7369 for its age", "x 0.5 conversation"]

    [dated] = [way for way in ways(FuseRerank(), TimeDecay()) if "said by Ann" in str(way)]
    assert dated[2] == "x 0.5 conversation"
    assert dated[-2:] == ["/ 1.917 so that the best has 1", "x 0.7369 for its age"]
    assert "+ 0.269 for its recency of 0.90" in {way[-1] for way in ways(HybridRank())}


def test_the_score_of_a_model_is_a_share_or_takes_the_place_of_what_was_before() -> None:
    assert ways(SemanticRank(llm=object()))[0] == [
        "0.400 by meaning (similarity 0.400)",
        "+ 0.400 by exact words (BM25 3.000)",
        "x 0.694 as the share of relevance",
        "+ 0.275 by the model (0.90)",
    ]
    assert ways(SemanticRank(llm=object(), semantic_share=1))[0] == ["0.900 by the model"]


def test_a_score_that_somebody_else_gave_is_not_passed_off_as_ours() -> None:
    [best, *_] = ranked(FuseRerank())
    tea = Candidate(content="Tea.")

    shown = str(explain([replace(best, score=7.0)]))

    assert "7.000 from a later step" in shown
    assert "x 2 insight" not in shown
    assert [row.label for row in rows(tea.scored(0.9, by="Stock"))] == ["0.900 by Stock"]
    weighed = tea.after(0.8, Step("FuseRerank", "times", 2.0, 0.8, "type_ratio", "insight"))
    assert [row.label for row in rows(weighed)] == ["0.400 as it came", "x 2 insight"]
    assert rows(tea) == []
    assert "Tea." in str(explain([tea]))


def test_what_was_left_out_is_counted() -> None:
    found = [replace(each, score=0.9 - 0.2 * n) for n, each in enumerate(candidates())]
    poor = [Candidate(content=str(n), id=f"poor{n}", score=0.01) for n in range(12)]

    memories = ranked(FuseRerank(top_n=2), found=[*found, *poor])

    counted = "Left out: 12 below fuse_score_threshold 0.1, 1 cut at top_n"
    assert counted in str(explain(memories))
    assert counted in explain(memories).to_html()


def test_what_a_function_leaves_out_is_counted_by_its_name() -> None:
    def first(memories: list[Candidate], query: Query) -> list[Candidate]:
        return memories[:1]

    assert "Left out: 2 left out by first" in str(explain(ranked(FunctionStage(function=first))))


def test_the_ids_of_what_was_left_out_are_known_with_the_reason() -> None:
    near, far = (Candidate(content=x, id=x, score=s) for x, s in (("near", 0.9), ("far", 0.01)))

    outcome = FuseRerank().apply(Recall(Query(text="tea?", reference_time=NOW), (near, far)))

    too_low = "below fuse_score_threshold 0.1"
    assert outcome.dropped == (Dropped("FuseRerank", too_low, ("far",), (0.01,)),)
