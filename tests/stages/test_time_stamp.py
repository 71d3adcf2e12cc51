"""What a stamp must keep: the ranges, how else they can be read, and what comes back."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import stamped, stamped_ranges, time_stamp
from recall_retrievers.timeline import Recurrence, TimeRange, extract_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)  # a Friday

moments = st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))


def numbers(low: int, high: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(low, high), max_size=3)


recurrences = st.none() | st.builds(
    Recurrence,
    numbers(0, 6),
    numbers(1, 12),
    numbers(1, 31),
    numbers(0, 23),
    st.sampled_from([None, UTC, timezone(timedelta(hours=-3.5)), ZoneInfo("Asia/Tokyo")]),
).filter(lambda each: any((each.weekdays, each.months, each.days, each.hours)))


@st.composite
def ranges(draw, alternatives: bool = True) -> TimeRange:
    start = draw(st.none() | moments)
    length = draw(st.none() | st.integers(1, 400))
    end = None if length is None else (start or NOW) + timedelta(days=length)
    others = draw(st.lists(ranges(alternatives=False), max_size=2)) if alternatives else []
    text = draw(st.sampled_from(["last Tuesday", "上周二", "on Mondays, or so", ""]))
    return TimeRange(
        start,
        end,
        "day",
        text=text,
        alternatives=tuple(others),
        recurrence=draw(recurrences),
        soft=draw(st.booleans()),
    )


@given(st.lists(ranges(), min_size=1, max_size=4))
def test_the_ranges_stand_on_every_candidate_until_others_do(given_ranges) -> None:
    old = extract_time("yesterday", NOW)
    found = stamped([Candidate(content="a"), Candidate(content="b")], old)

    again = stamped(found, given_ranges)

    assert stamped_ranges([Candidate(content="c"), *again]) == tuple(given_ranges)
    assert all(len(each.steps) == 1 for each in again)
    assert stamped(again, []) == (Candidate(content="a"), Candidate(content="b"))


@given(st.lists(ranges(), max_size=3))
def test_a_stamp_is_flat_text(given_ranges) -> None:
    assert all(isinstance(value, str) for value in time_stamp(given_ranges).values())


def test_a_stamp_can_be_read_by_a_person() -> None:
    [tuesday] = extract_time("last Tuesday", NOW)
    [mondays] = extract_time("on Mondays", NOW)
    [recently] = extract_time("recently", NOW)

    assert time_stamp([tuesday]) == {
        "time_range": "2024-03-05T00:00:00+00:00/2024-03-06T00:00:00+00:00",
        "time_words": "last Tuesday",
        "time_alternatives": "2024-02-27T00:00:00+00:00/2024-02-28T00:00:00+00:00",
    }
    assert time_stamp([mondays]) == {
        "time_range": "../.. every Monday",
        "time_words": "on Mondays",
    }
    assert str(time_stamp([recently])["time_range"]).startswith("~")
