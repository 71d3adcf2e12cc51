"""Times in a store: memories that expire, what lies in a range, the events that texts tell of."""

from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, Literal
from zoneinfo import ZoneInfo

import chromadb
import pytest
from store.kit import NOON, SmallEmbedding, best, ids

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange, extract_time

HOUR = timedelta(hours=1)
ANN = {"user_id": "ann"}
METHODS: tuple[Literal["semantic", "keyword"], ...] = ("semantic", "keyword")


def tea(name: str, hours: float | None = None, **fields: Any) -> dict[str, Any]:
    """A memory of tea that expires so many hours after noon."""
    expires_at = None if hours is None else NOON + hours * HOUR
    return {"id": name, "content": f"tea {name}", "expires_at": expires_at, "scope": ANN, **fields}


TEAS = [tea("stays"), tea("short", 1), tea("long", 48), tea("gone", -1)]


def found(store: RecallStore, **search: Any) -> list[list[str]]:
    """What is found by each method, with a scope and without."""
    return [
        sorted(ids(best(store, "tea", 10, method=method, **search, **scope)))
        for method in METHODS
        for scope in ({}, {"scope": Memory(content="x", scope=ANN).scope})
    ]


def test_a_question_counts_from_its_own_moment(store: RecallStore) -> None:
    store.add(TEAS)  # by the clock, all but one have long expired
    assert found(store) == [["stays"]] * 4
    assert found(store, moment=NOON + HOUR) == [["long", "stays"]] * 4
    assert found(store, moment=NOON - 2 * HOUR) == [["gone", "long", "short", "stays"]] * 4


@pytest.mark.parametrize("value", ["2024-03-05T13:00:00+00:00", "March 5, 2024", 1709643600])
def test_in_a_collection_of_others_the_key_is_named(
    chroma: chromadb.ClientAPI, collection: Any, small: SmallEmbedding, value: Any
) -> None:
    collection.add(
        ids=["milk", "salt"],
        documents=["tea with milk", "tea with salt"],
        embeddings=small.embed_documents(["tea with milk", "tea with salt"]),
        metadatas=[{"best_before": value}, {"best_before": "soon"}],
    )
    fields = {"expires_at": "best_before"}
    with RecallStore(chroma, collection.name, embedding=small, fields=fields) as store:
        for moment, there in [(NOON - 48 * HOUR, ["milk", "salt"]), (NOON + 48 * HOUR, ["salt"])]:
            for method in METHODS:
                hits = store.find([Search("tea", 5, method=method, moment=moment)])[0]
                assert sorted(ids(hits)) == there
        assert ids([*store.memories()]) == ["salt"]


def test_moments_at_the_edges(in_memory: RecallStore) -> None:
    midnight = datetime(2024, 3, 5, tzinfo=UTC)
    tick = timedelta(milliseconds=1)
    in_memory.add(
        {"id": name, "content": name, "created_at": midnight + offset}
        for name, offset in [("before", -tick), ("on", 0 * tick), ("after", tick)]
    )

    def within(start: datetime, end: datetime) -> set[str]:
        search = Search("edge", limit=9, within=(TimeRange(start, end, "second"),))
        return set(ids(in_memory.find([search])[0]))

    assert within(midnight, midnight + tick) == {"on"}
    assert within(midnight - tick, midnight) == {"before"}
    assert within(midnight, midnight + timedelta(microseconds=500)) == {"on"}
    assert within(midnight + timedelta(microseconds=1), midnight + 2 * tick) == {"after"}


def test_an_event_counts_to_the_microsecond(in_memory: RecallStore) -> None:
    noon, micro = datetime(2024, 3, 5, 12, tzinfo=UTC), timedelta(microseconds=1)
    event = TimeRange(noon + 300 * micro, noon + 700 * micro, "second")
    in_memory.add([{"content": "flash", "created_at": 0, "events": [event]}])

    def seen(start: int, end: int) -> bool:
        span = TimeRange(noon + start * micro, noon + end * micro, "second")
        return bool(in_memory.find([Search("flash", limit=1, within=(span,))])[0])

    assert seen(500, 600)
    assert seen(100, 301)
    assert seen(699, 2000)
    assert not seen(0, 300)
    assert not seen(700, 2000)


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Apia"])
def test_a_range_up_to_the_end_of_the_calendar_is_fine(in_memory: RecallStore, zone: str) -> None:
    forever = TimeRange(
        datetime.min.replace(tzinfo=ZoneInfo(zone)),
        datetime.max.replace(tzinfo=ZoneInfo(zone)),
        "day",
    )
    in_memory.add([{"content": "tea", "created_at": 0}, "bread"])
    assert len(in_memory.find([Search("tea", limit=5, within=(forever,))])[0]) == 2


RECORDED = "2024-03-20T18:30:00Z"
EAST = "2024-03-20T18:30:00+14:00"  # a day there may be over before it begins elsewhere


def events(store: RecallStore, memory_id: str) -> list[str]:
    (memory,) = store.get([memory_id])
    return [each.describe() for each in memory.events]


@pytest.mark.parametrize("asker", ["Pacific/Kiritimati", "Europe/Berlin", "Etc/GMT+12"])
def test_a_told_day_is_found_from_any_zone_and_its_neighbours_are_not(
    store: RecallStore, asker: str
) -> None:
    store.add(
        {"id": f"{day}", "content": f"We meet on {day} June 2026.", "created_at": EAST}
        for day in (7, 8, 9)
    )
    asked = tuple(extract_time("8 June 2026", RECORDED, timezone=asker))
    assert ids(store.find([Search("meet", limit=9, within=asked)])[0]) == ["8"]


def test_the_clock_of_the_store_is_the_recorded_time_where_there_is_none(
    small: SmallEmbedding,
) -> None:
    late = datetime(2024, 3, 20, 23, 30, tzinfo=ZoneInfo("America/New_York"))
    with RecallStore(embedding=small, clock=lambda: late) as store:
        (memory_id,) = store.add(["We met Anna yesterday."])
        assert events(store, memory_id) == ["2024-03-19 (Tuesday)"]


def test_a_text_without_a_time_is_of_the_day_of_this_machine(
    small: SmallEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = ZoneInfo("Pacific/Kiritimati")  # where it is tomorrow for most of the world
    module = import_module("recall_retrievers.timeline.parse_time")
    monkeypatch.setattr(module, "get_localzone", lambda: zone)
    with RecallStore(embedding=small) as store:
        yesterdays = [named_on(datetime.now(zone))]
        (memory_id,) = store.add(["We met Anna yesterday."])
        yesterdays.append(named_on(datetime.now(zone)))  # midnight may have come between
        (event,) = store.get([memory_id])[0].events
    assert (event.start, event.end) in yesterdays


def named_on(moment: datetime) -> tuple[datetime | None, datetime | None]:
    (yesterday,) = extract_time("yesterday", moment)
    return yesterday.start, yesterday.end


def test_the_times_of_a_text_are_those_of_its_writers(small: SmallEmbedding) -> None:
    """Two hours after midnight in Berlin, "tomorrow at nine" is nine o'clock there."""
    note = {"id": "a", "content": "The dentist is tomorrow.", "created_at": "2024-06-09T23:00Z"}
    with RecallStore(embedding=small, timezone="Europe/Berlin") as store:
        store.add([note])
        store.update("a", text="The dentist is tomorrow at 9:00.")
        assert store.get(["a"])[0].events[0].start == datetime(2024, 6, 11, 7, tzinfo=UTC)
        assert [*store.memories(as_of="2024-06-09")] == []  # in Berlin it was the tenth
    with pytest.raises(ValueError, match="timezone must be an IANA name"):
        RecallStore(timezone="Berlin")
