"""SemanticRank, RerankMemory's filter and ranking, MergeMemory's text and budget, TokenBudget."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import exp
from typing import Any

import pytest
from stages.scripted import answered
from stages.worlds import Scripted
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import World, arun, run
from recall_retrievers.stages.filters import TokenBudget
from recall_retrievers.stages.model_rankers import RerankMemory, SemanticRank
from recall_retrievers.stages.plain_texts import MergeMemory
from recall_retrievers.timeline import parse_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
GOOD = Candidate(content="Retry with a delay.", when_to_use="On timeouts", id="good", quality=0.9)
POOR = Candidate(content="Give up.", id="poor", quality=0.2, score=0.99)
UNKNOWN = Candidate(content="Ask\nsomebody.", id="unknown", score=0.0)
ALL = (POOR, GOOD, UNKNOWN)


def asked(k: int | None = None) -> Recall:
    return Recall(Query(text="It times out", reference_time=NOW, k=k), ALL)


def kept(recall: Recall) -> list[str]:
    return [memory.id for memory in recall.memories]


def test_the_filter_is_on_stored_quality_and_what_has_none_stays() -> None:
    assert kept(run(RerankMemory().apply(asked()))) == ["poor", "good", "unknown"]
    strict = RerankMemory(enable_score_filter=True)
    assert kept(run(strict.apply(asked()))) == ["good", "unknown"]
    stricter = RerankMemory(enable_score_filter=True, min_score_threshold=0.95)
    assert kept(run(stricter.apply(asked()))) == ["unknown"]


def test_the_model_is_not_shown_what_is_filtered_out() -> None:
    [prompt] = next(RerankMemory(llm=object(), enable_score_filter=True).apply(asked()))

    assert "Give up." not in prompt.user


def test_switched_off_no_model_is_asked() -> None:
    stage = RerankMemory(llm=object(), enable_llm_rerank=False)
    assert kept(run(stage.apply(asked()))) == ["poor", "good", "unknown"]


def test_a_ranking_gives_scores_and_is_cut_to_top_n() -> None:
    stage = RerankMemory(llm=object(), top_n=2, semantic_share=1)

    ranked = run(stage.apply(asked()), Scripted(lambda prompts: ['{"ranking": [3, 2, 1]}']))

    assert [(each.id, each.score) for each in ranked.memories] == [
        ("unknown", 1.0),
        ("good", 1 - 1 / 3),
    ]


def test_merging_tells_each_text_once_and_asks_to_use_what_helps() -> None:
    copy = replace(GOOD, id="copy")

    merged = MergeMemory().apply(Recall(asked().query, (*ALL, copy)))

    assert merged.text == (
        "Previous memories:\n"
        "- Give up.\n"
        "- On timeouts: Retry with a delay.\n"
        "- Ask\n  somebody.\n\n"
        "Consider the helpful parts of these memories when you answer the question."
    )
    assert kept(merged) == ["poor", "good", "unknown"]


def test_merging_keeps_to_a_budget_and_names_the_rest() -> None:
    merged = MergeMemory(token_budget=22, token_counter=len).apply(asked())

    assert "Give up." in merged.text
    assert "somebody" in merged.text
    assert "Retry" not in merged.text
    assert merged.memories[0].trace["left_out"] == "good"


def test_what_was_cut_for_the_text_stays_whole_beside_it() -> None:
    merged = MergeMemory(token_budget=7, token_counter=len).apply(asked())

    assert "Giv […]" in merged.text
    assert merged.memories[0].content == "Give up."


def test_merging_nothing_and_more_than_asked_for() -> None:
    assert MergeMemory().apply(Recall(asked().query)).text == ""
    assert kept(MergeMemory().apply(asked(k=1))) == ["poor"]


def test_a_budget_keeps_the_best_that_fit() -> None:
    stage = TokenBudget(token_budget=22, token_counter=len)

    recall = stage.apply(asked())

    assert kept(recall) == ["poor", "unknown"]
    assert recall.memories[0].trace["left_out"] == "good"
    assert kept(TokenBudget().apply(asked())) == ["poor", "good", "unknown"]


ASKED = Recall(
    Query(text="Who filled my tooth?", reference_time=datetime(2024, 3, 8, 12, tzinfo=UTC)),
    (
        Candidate(
            content="The dentist did.", author="Ann", created_at=parse_time("2024-03-05T10:00:00Z")
        ),
        Candidate(content="Ask <b>first</b>.", when_to_use="At the dentist's", memory_type="task"),
    ),
)


def test_switched_off_it_only_sorts() -> None:
    stage = SemanticRank(llm=object(), enable_ranker=False)
    candidates = tuple(Candidate(content=str(s), score=s) for s in (0.2, 0.7, 0.5))

    recall = run(stage.apply(Recall(ASKED.query, candidates)))

    assert [memory.score for memory in recall.memories] == [0.7, 0.5, 0.2]


def test_copies_of_a_text_are_judged_once() -> None:
    copies = tuple(Candidate(content="The same.", id=str(n), score=0.5) for n in range(3))
    other = Candidate(content="Another.", id="x", score=0.4)

    [prompt] = next(SemanticRank(llm=object()).apply(Recall(ASKED.query, (*copies, other))))

    assert prompt.user.count("The same.") == 1


SIX_IDS = list("abcdef")
SIX = tuple(Candidate(content=name, id=name, score=0.9 - n / 10) for n, name in enumerate(SIX_IDS))


def ranked(said: object, **settings: Any) -> tuple[Recall, list[str]]:
    return answered([SemanticRank(llm=object(), **settings)], Recall(ASKED.query, SIX), said)


def test_the_model_has_a_share_of_the_score() -> None:
    said = '{"scores": [[1, 0], [2, 1], [3, 0], [4, 0], [5, 0], [6, 0.5]]}'

    recall, _ = ranked(said, semantic_share=0.2)

    assert [round(each.score or 0, 3) for each in recall.memories] == [
        0.834,
        0.746,
        0.58,
        0.497,
        0.417,
        0.414,
    ]
    assert "".join(each.id for each in recall.memories) == "bacdfe"
    assert ranked(said, semantic_share=0)[0].memories[0].id == "a"
    assert ranked(said, semantic_share=1)[0].memories[0].score == 1.0
    assert recall.fallbacks == ()


def test_the_more_memories_a_model_finds_good_the_less_it_counts() -> None:
    many = tuple(Candidate(content=f"{n}", id=f"{n}", score=0.9 - n / 40) for n in range(20))

    def share(said: list[list[float]], **settings: Any) -> float:
        stage = SemanticRank(llm=object(), semantic_share=0.4, **settings)
        reply = json.dumps({"scores": said})
        recall, _ = answered([stage], Recall(ASKED.query, many), reply)
        [last] = [each for each in recall.memories if each.id == "19"]
        return 1 - next(step.value for step in last.steps if step.change == "times")

    assert share([[2, 1.0]]) == pytest.approx(0.4 * 0.95**2)
    assert share([[n, 0.5] for n in range(1, 21)]) == pytest.approx(0.4 * 0.5**2)
    assert share([[n, 1.0] for n in range(1, 21)]) == pytest.approx(0)
    # The same numbers are other memories in another order: it contradicts itself.
    assert share([[n, n / 20] for n in range(1, 21)], orders=2) < 0.4 * 0.475**2 / 2


def test_what_a_whole_reply_leaves_out_counts_as_0_and_of_a_broken_one_like_the_others() -> None:
    whole, _ = ranked('{"scores": [[6, 1.0]]}')
    nothing, _ = ranked('{"scores": []}')
    poor, _ = ranked('{"scores": [[2, 0.05], [3')
    rich, _ = ranked('{"scores": [[6, 1.0], [3')

    assert {each.id: each.noted("semantic") for each in whole.memories}["a"] == 0
    assert [each.id for each in nothing.memories] == SIX_IDS
    assert whole.fallbacks == nothing.fallbacks == ()
    assert "".join(each.id for each in poor.memories) == "abcdef"
    assert {each.id: each.noted("semantic") for each in rich.memories}["a"] == "not judged"
    for broken in (poor, rich):
        assert broken.fallbacks[1:] == ("SemanticRank: 5 of 6 not judged",)


def length(question: str, texts: Sequence[str]) -> list[float]:
    assert question == "The dentist?"
    return [len(text) / 10 for text in texts]


async def waiting(question: str, texts: Sequence[str]) -> list[float]:
    await asyncio.sleep(0)
    return length(question, texts)


class Encoder:
    """As a cross-encoder of LangChain: it takes pairs, and gives log-odds."""

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        return [len(text) - 6.0 for _, text in text_pairs]


class Module(Encoder):
    """As one of sentence-transformers, which can be called, but not with texts."""

    predict = Encoder.score

    def __call__(self, *_: object) -> list[float]:
        raise AssertionError


def by_scorer(scorer: object, **settings: Any) -> Recall:
    texts = ["a", "bbbbbb", "ccc"]
    memories = tuple(Candidate(content=x, id=x[0], score=0.9 - n / 10) for n, x in enumerate(texts))
    query = ASKED.query.model_copy(update={"text": "The dentist?"})
    stage = SemanticRank(scorer=scorer, llm=object(), orders=3, window=1, **settings)
    outcome = run(stage.flow(Recall(query, memories)))
    world = World(asynchronous=True)
    assert asyncio.run(arun(stage.flow(Recall(query, memories)), world)) == outcome
    return outcome


@pytest.mark.parametrize("scorer", [length, waiting, Encoder(), Module()])
def test_a_scorer_judges_in_place_of_a_model(scorer: object) -> None:
    ranked = by_scorer(scorer, semantic_share=0.8)

    judged = {each.id: each.noted("semantic") for each in ranked.memories}
    odds = [1 / (1 + exp(5)), 0.5, 1 / (1 + exp(3))]
    by_length = scorer in (length, waiting)
    assert judged == pytest.approx(
        dict(zip("abc", [0.1, 0.6, 0.3] if by_length else odds, strict=True))
    )
    assert ranked.memories[0].id == "b"
    share = 0.8 * (1 - sum(judged.values()) / 20) ** 2
    scores = {each.id: each.score for each in ranked.memories}
    assert scores["b"] == pytest.approx((1 - share) * 0.8 + share * judged["b"])
    assert ranked.fallbacks == ()


def fails(_: str, texts: Sequence[str]) -> list[float]:
    raise ConnectionError("down")


def sleeps(_: str, texts: Sequence[str]) -> list[float]:
    time.sleep(0.2)
    return [0.0 for _ in texts]


@table(
    ("scorer", "why"),
    [
        (fails, "ConnectionError: down"),
        (lambda *_: [1.0], "ReplyError: expected 3 numbers, one for each text; got 1"),
        (
            lambda *_: [1.0, float("nan"), 0.0],
            "ReplyError: expected 3 numbers, one for each text; got 2",
        ),
        (lambda *_: ["good"] * 3, "ReplyError: expected 3 numbers"),
        (lambda *_: 7, "ReplyError: expected 3 numbers"),
        (sleeps, "TimeoutError: no answer within 0.05 s"),
    ],
)
def test_where_a_scorer_fails_the_order_and_the_scores_stand(scorer: object, why: str) -> None:
    ranked = by_scorer(scorer, timeout_s=0.05)

    assert [(each.id, each.score) for each in ranked.memories] == [
        ("a", 0.9),
        ("b", 0.8),
        ("c", 0.7),
    ]
    [note] = ranked.fallbacks
    assert note.startswith(f"SemanticRank: {why}")


def test_a_scorer_that_cannot_score_is_told_when_the_stage_is_made() -> None:
    with pytest.raises(SettingsError, match=r"scorer must be a function \(question, texts\)"):
        SemanticRank(scorer="bge-reranker")


def test_the_best_are_shown_and_the_others_count_like_the_average_of_those() -> None:
    prompts: list[str] = []

    def last_is_best(prompt: str) -> str:
        prompts.append(prompt)
        return '{"scores": [[3, 0.9]]}'

    recall, _ = ranked(last_is_best, window=3)

    [prompt] = prompts
    assert [line for line in prompt.splitlines() if line in SIX_IDS] == ["a", "b", "c"]
    judged = {each.id: each.noted("semantic") for each in recall.memories}
    assert judged == {"a": 0.0, "b": 0.0, "c": 0.9} | dict.fromkeys("def", "not judged")
    assert [each.id for each in ranked(last_is_best, window=3, semantic_share=1)[0].memories] == [
        *"cdefab"
    ]
    assert recall.fallbacks == ()


def test_two_orders_are_asked_and_averaged() -> None:
    """A model that likes what stands first likes another memory each time."""
    prompts: list[str] = []

    def first_is_best(prompt: str) -> str:
        prompts.append(prompt)
        return '{"scores": [[1, 1.0], [2, 0.5], [3, 0], [4, 0], [5, 0], [6, 0]]}'

    recall, _ = ranked(first_is_best, orders=3)

    places = [[line for line in each.splitlines() if line in SIX_IDS] for each in prompts]
    assert len({"".join(each) for each in places}) == 3
    assert all(sorted(each) == list("abcdef") for each in places)
    semantic = {each.id: each.noted("semantic") for each in recall.memories}
    scores = [1.0, 0.5, 0, 0, 0, 0]
    assert semantic == {
        name: pytest.approx(sum(scores[each.index(name)] for each in places) / 3)
        for name in "abcdef"
    }
    assert ranked(first_is_best, orders=3)[0].memories == recall.memories
