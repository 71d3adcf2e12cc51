"""A search within ranges of time: every memory that lies in one, and no other."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from store.kit import ZONES, SmallEmbedding, ids, similarities

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.where import window_where
from recall_retrievers.timeline import TimeRange

WORDS = ["tea", "dentist", "street", "garden", "train", "letter", "music", "river", "bread"]
EMBEDDING = SmallEmbedding()
QUESTION = "dentist tea garden"
FIRST, LAST = datetime(1962, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)
HOUR = TimeRange(FIRST, FIRST + timedelta(hours=1), "hour")


def _memories() -> list[Memory]:
    """Dense around the changes of the clock in 2024, thin over decades; a third tell of events."""
    dice = random.Random(7)

    def moment() -> datetime:
        if dice.random() < 0.5:
            month, day = dice.choice([(3, 31), (11, 3)])
            return datetime(2024, month, day, tzinfo=UTC) + timedelta(
                minutes=dice.randint(-3000, 3000)
            )
        return FIRST + timedelta(seconds=dice.randint(0, int((LAST - FIRST).total_seconds())))

    def event() -> TimeRange:
        start = moment()
        end = start + timedelta(minutes=dice.choice([1, 60, 1440, 525_600]))
        return TimeRange(*dice.choice([(start, end), (start, None), (None, end)]), "day")

    return [
        Memory(
            id=f"m{number}",
            content=" ".join(dice.choices(WORDS, k=4)),
            created_at=moment(),
            events=[event() for _ in range(dice.choice([0, 0, 1, 3]))],
        )
        for number in range(240)
    ]


MEMORIES = _memories()
SIMILARITY = dict(
    zip(
        ids(MEMORIES),
        similarities(QUESTION, [each.content for each in MEMORIES], EMBEDDING),
        strict=True,
    )
)


@pytest.fixture(scope="module")
def filled() -> Iterator[RecallStore]:
    with RecallStore(embedding=EMBEDDING) as store:
        store.add(MEMORIES)
        yield store


zones = st.sampled_from([ZoneInfo(name) for name in ZONES])
lengths = st.sampled_from(
    [
        timedelta(microseconds=1),
        timedelta(milliseconds=1),
        timedelta(hours=1),
        timedelta(days=1),
        timedelta(days=7),
        timedelta(days=61),
        timedelta(days=63),
        timedelta(days=365),
        timedelta(days=119 * 30),
        timedelta(days=125 * 31),
        timedelta(days=40 * 365),
    ]
)


@st.composite
def ranges(draw: st.DrawFn) -> TimeRange:
    starts = st.sampled_from([each.created_at for each in MEMORIES]) | st.datetimes(
        datetime(1962, 1, 1), datetime(2031, 1, 1), timezones=st.just(UTC)
    )
    start = draw(starts).astimezone(draw(zones))
    end = (start.astimezone(UTC) + draw(lengths)).astimezone(draw(zones))
    return TimeRange(
        *draw(st.sampled_from([(start, end), (start, end), (None, end), (start, None)])), "day"
    )


def check(
    store: RecallStore, memories: Sequence[Memory], within: tuple[TimeRange, ...], limit: int
) -> None:
    found = store.find([Search(QUESTION, limit=limit, within=within)])[0]
    expected = [each for each in memories if any(each.matches(span) for span in within)]
    assert set(ids(found)) <= set(ids(expected))
    assert len(set(ids(found))) == len(found) == min(limit, len(expected))
    best = sorted((SIMILARITY[each.id] for each in expected), reverse=True)[:limit]
    assert [each.score for each in found] == pytest.approx(best, abs=1e-5)
    assert [SIMILARITY[each.id] for each in found] == pytest.approx(best, abs=1e-5)


def test_a_search_finds_exactly_what_lies_within_best_first(filled: RecallStore) -> None:
    @given(
        within=st.lists(ranges(), min_size=1, max_size=3).map(tuple),
        limit=st.sampled_from([1, 3, 10, 50, 500]),
    )
    @example(within=(TimeRange(None, None, "day"),), limit=500)
    @example(within=(TimeRange(None, None, "day"), HOUR), limit=500)
    @settings(max_examples=60)
    def holds(within: tuple[TimeRange, ...], limit: int) -> None:
        check(filled, MEMORIES, within, limit)

    holds()


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


@pytest.mark.parametrize("months", [1, 3, 30, 119, 120, 121, 130])
def test_the_first_and_the_last_moment_of_a_long_range_belong_to_it(
    in_memory: RecallStore, months: int
) -> None:
    def month(number: int) -> datetime:
        return datetime(1965 + number // 12, number % 12 + 1, 1, tzinfo=UTC)

    tick = timedelta(milliseconds=1)
    start, end = month(5), month(5 + months)
    moments = {"before": start - tick, "first": start, "last": end - tick, "after": end}
    in_memory.add({"id": k, "content": k, "created_at": each} for k, each in moments.items())
    found = in_memory.find([Search("edge", 9, within=(TimeRange(start, end, "month"),))])[0]
    assert set(ids(found)) == {"first", "last"}


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


def test_matches_behind_many_rows_that_only_nearly_match_are_reached(
    in_memory: RecallStore,
) -> None:
    """The day is right for all, the hour for the least similar alone."""
    noon = datetime(2024, 3, 5, 12, tzinfo=UTC)
    in_memory.add({"content": f"tea word{n}", "created_at": noon} for n in range(300))
    in_memory.add([{"id": "late", "content": "music", "created_at": noon + timedelta(hours=9)}])
    evening = TimeRange(noon + timedelta(hours=8), noon + timedelta(hours=10), "hour")
    found = in_memory.find([Search("tea", limit=3, within=(evening,))])[0]
    assert ids(found) == ["late"]


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Apia"])
def test_a_range_up_to_the_end_of_the_calendar_is_fine(filled: RecallStore, zone: str) -> None:
    forever = TimeRange(
        datetime.min.replace(tzinfo=ZoneInfo(zone)),
        datetime.max.replace(tzinfo=ZoneInfo(zone)),
        "day",
    )
    found = filled.find([Search(QUESTION, limit=500, within=(forever,))])[0]
    assert len(found) == len(MEMORIES)


@pytest.mark.parametrize("days", [1, 62, 63, 365, 3650, 36_500])
def test_a_where_clause_stays_small(days: int) -> None:
    """Chroma Cloud takes 8 predicates, and long lists are slow."""
    start = datetime(2000, 1, 1, tzinfo=UTC)
    clause = window_where([TimeRange(start, start + timedelta(days=days), "day")])
    assert len(str(clause)) < 1200
    assert str(clause).count("{'created") + str(clause).count("{'event") <= 8
