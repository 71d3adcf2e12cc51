"""Retrieve: which searches it asks for, and what it makes of the answers."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from recall_stages.memory import Memory, Query, Scope
from recall_stages.retrieve import Retrieve
from recall_stages.stage import Recall, Search, run
from recall_stages.timeline import TimeRange

NOW = datetime(2024, 3, 8, tzinfo=UTC)
TUESDAY = TimeRange(datetime(2024, 3, 5, tzinfo=UTC), datetime(2024, 3, 6, tzinfo=UTC), "day")
RECENTLY = TimeRange(datetime(2024, 2, 8, tzinfo=UTC), NOW, "day", soft=True)


def ask(stage: Retrieve, query: Query, *answers: list[Memory]) -> tuple[Recall, list[Search]]:
    asked: list[Search] = []

    def find(searches):
        asked.extend(searches)
        return answers[: len(searches)]

    return run(stage.apply(Recall(query)), ask=list, find=find), asked


def test_the_whole_and_the_time_named_are_searched_at_once() -> None:
    query = Query(
        text="the dentist on Tuesday",
        search_text="the dentist",
        reference_time=NOW,
        time_ranges=(TUESDAY,),
        scope=Scope(user_id="ann"),
        filter={"topic": "health"},
        k=5,
    )

    whole = Search(
        "the dentist", 50, Scope(user_id="ann"), {"topic": "health"}, timezone=NOW.tzinfo
    )
    arms = [whole, replace(whole, within=(TUESDAY,))]
    by_words = [replace(arm, method="keyword") for arm in arms]

    assert ask(Retrieve(), query, [], [], [], [])[1] == arms + by_words
    assert ask(Retrieve(method="semantic"), query, [], [])[1] == arms
    assert ask(Retrieve(method="keyword"), query, [], [])[1] == by_words


def test_a_vague_time_is_not_searched() -> None:
    query = Query(text="x", reference_time=NOW, time_ranges=(RECENTLY,))

    assert [search.within for search in ask(Retrieve(), query, [], [])[1]] == [(), ()]


def test_a_required_time_is_all_that_is_searched() -> None:
    query = Query(text="x", reference_time=NOW, time_ranges=(TUESDAY,))

    _, asked = ask(Retrieve(require_time=True), query, [], [])

    assert [search.within for search in asked] == [(TUESDAY,), (TUESDAY,)]


def test_the_pool_is_four_times_k_at_least() -> None:
    _, asked = ask(Retrieve(fetch_k=10), Query(text="x", reference_time=NOW, k=20), [], [])

    assert asked[0].limit == 80


def test_arms_are_fused_without_counting_twice() -> None:
    a = Memory(content="a", id="a", score=0.9)
    b = Memory(content="b", id="b", score=0.4, created_at=TUESDAY.start)
    query = Query(text="x", reference_time=NOW, time_ranges=(TUESDAY,))

    recall, _ = ask(Retrieve(method="semantic"), query, [a], [b, a])

    assert [(memory.id, memory.score) for memory in recall.memories] == [("a", 0.9), ("b", 0.4)]


def test_the_threshold_is_on_similarity() -> None:
    similar = [_similar("a", 0.3), _similar("b", 0.29)]
    worded = [Memory(content="c", id="c").scored(9.0, keyword=9.0)]
    query = Query(text="x", reference_time=NOW)

    for method, answers in (("hybrid", (similar, worded)), ("semantic", (similar,))):
        recall, _ = ask(Retrieve(method=method, threshold_score=0.3), query, *answers)
        assert [memory.id for memory in recall.memories] == ["a"]


def test_a_threshold_needs_a_method_that_knows_similarities() -> None:
    with pytest.raises(ValueError, match="threshold_score compares similarities"):
        Retrieve(method="keyword", threshold_score=0.3)


def test_meaning_and_words_count_half_each_in_a_hybrid_search() -> None:
    both = _similar("both", 0.6), Memory(content="both", id="both").scored(2.0, keyword=2.0)
    worded = Memory(content="worded", id="worded").scored(4.0, keyword=4.0)

    recall, _ = ask(
        Retrieve(),
        Query(text="x", reference_time=NOW),
        [_similar("similar", 0.8), both[0]],
        [worded, both[1]],
    )

    # Both arms came back short of their limit, so nothing lies below what they found.
    scores = {memory.id: memory.score for memory in recall.memories}
    assert scores == pytest.approx({"both": 0.5 * 0.75 + 0.5 * 0.5, "similar": 0.5, "worded": 0.5})
    assert recall.memories[0].trace == {"similarity": 0.6, "keyword": 2.0}


def test_the_last_of_a_full_arm_is_the_floor_of_the_scale() -> None:
    found = [_similar("a", 0.9), _similar("b", 0.7), _similar("c", 0.5), _similar("d", 0.5)]

    recall, _ = ask(Retrieve(fetch_k=4), Query(text="x", reference_time=NOW, k=1), found, [])

    assert [memory.score for memory in recall.memories] == pytest.approx([1.0, 0.5, 0.0, 0.0])


def _similar(name: str, similarity: float) -> Memory:
    return Memory(content=name, id=name).scored(similarity, similarity=similarity)
