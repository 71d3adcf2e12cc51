"""A search within ranges of time: every memory that lies in one, and no other."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from store.kit import ids

from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.where import window_where
from recall_retrievers.timeline import TimeRange


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


@pytest.mark.parametrize("days", [1, 62, 63, 365, 3650, 36_500])
def test_a_where_clause_stays_small(days: int) -> None:
    """Long lists and many conditions are slow."""
    start = datetime(2000, 1, 1, tzinfo=UTC)
    clause = window_where([TimeRange(start, start + timedelta(days=days), "day")])
    assert len(str(clause)) < 1200
    assert str(clause).count("{'created") + str(clause).count("{'event") <= 8
