"""What a store does with the times that texts tell of."""

from datetime import UTC, datetime
from importlib import import_module
from zoneinfo import ZoneInfo

import pytest
from store.kit import SmallEmbedding, ids

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange, extract_time

RECORDED = "2024-03-20T18:30:00Z"
EAST = "2024-03-20T18:30:00+14:00"  # a day there may be over before it begins elsewhere
TEXT = "We met Anna two weeks ago."
OWN = TimeRange(datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC), "day")


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


@pytest.mark.parametrize("as_memory", [False, True])
@pytest.mark.parametrize(("own", "kept"), [([OWN], ["2020-01-01 (Wednesday)"]), ([], [])])
def test_a_memory_that_says_what_its_events_are_keeps_them(
    in_memory: RecallStore, own: list[TimeRange], kept: list[str], as_memory: bool
) -> None:
    fields = {"id": "a", "content": TEXT, "created_at": RECORDED, "events": own}
    in_memory.add([Memory.model_validate(fields) if as_memory else fields])
    assert events(in_memory, "a") == kept


def test_a_memory_that_does_not_say_has_them_read(in_memory: RecallStore) -> None:
    memory = Memory(id="a", content=TEXT, created_at=RECORDED)
    in_memory.add([memory])
    assert events(in_memory, "a") == ["2024-03-04 to 2024-03-10"]
    assert memory.events == ()


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
