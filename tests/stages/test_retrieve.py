"""Retrieve: which searches it asks for, and what it makes of the answers."""

from dataclasses import replace
from datetime import UTC, datetime

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

    _, asked = ask(Retrieve(), query, [], [])

    whole = Search(
        "the dentist", 50, Scope(user_id="ann"), {"topic": "health"}, timezone=NOW.tzinfo
    )
    assert asked == [whole, replace(whole, within=(TUESDAY,))]


def test_a_vague_time_is_not_searched() -> None:
    _, asked = ask(Retrieve(), Query(text="x", reference_time=NOW, time_ranges=(RECENTLY,)), [])

    assert [search.within for search in asked] == [()]


def test_a_required_time_is_all_that_is_searched() -> None:
    query = Query(text="x", reference_time=NOW, time_ranges=(TUESDAY,))

    _, asked = ask(Retrieve(require_time=True), query, [])

    assert [search.within for search in asked] == [(TUESDAY,)]


def test_the_pool_is_four_times_k_at_least() -> None:
    _, asked = ask(Retrieve(fetch_k=10), Query(text="x", reference_time=NOW, k=20), [])

    assert asked[0].limit == 80


def test_arms_are_fused_without_counting_twice() -> None:
    a = Memory(content="a", id="a", score=0.9)
    b = Memory(content="b", id="b", score=0.4, created_at=TUESDAY.start)
    query = Query(text="x", reference_time=NOW, time_ranges=(TUESDAY,))

    recall, _ = ask(Retrieve(), query, [a], [b, a])

    assert [(memory.id, memory.score) for memory in recall.memories] == [("a", 0.9), ("b", 0.4)]


def test_the_threshold_is_on_similarity() -> None:
    found = [Memory(content="a", id="a", score=0.3), Memory(content="b", id="b", score=0.29)]

    recall, _ = ask(Retrieve(threshold_score=0.3), Query(text="x", reference_time=NOW), found)

    assert [memory.id for memory in recall.memories] == ["a"]
