from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.timeline import Recurrence, TimeRange, half_life_weight

ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai"]).map(ZoneInfo)
BERLIN = ZoneInfo("Europe/Berlin")
ANY_MOMENT = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=ZONES)
# Hours that a clock change skips or repeats, leap days, the ends of years and of the calendar.
ODD_MOMENTS = st.builds(
    lambda day, minutes, fold: (day + timedelta(minutes=minutes)).replace(tzinfo=BERLIN, fold=fold),
    st.sampled_from(
        [
            datetime(2024, 3, 31), datetime(2024, 10, 27), datetime(2024, 2, 29),
            datetime(2020, 12, 31), datetime(2021, 1, 3), datetime(2024, 4, 30),
        ]
    ),
    st.integers(0, 24 * 60 - 1),
    st.integers(0, 1),
)  # fmt: skip
MOMENTS = st.one_of(ANY_MOMENT, ODD_MOMENTS)
GRAINS = st.sampled_from(["hour", "part_of_day", "day", "week", "month", "year"])


@st.composite
def ranges(draw: st.DrawFn) -> TimeRange:
    first, second = sorted((draw(MOMENTS), draw(MOMENTS)), key=lambda m: m.astimezone(UTC))
    if first.astimezone(UTC) == second.astimezone(UTC):
        second = (first.astimezone(UTC) + timedelta(days=1)).astimezone(first.tzinfo)
    opened = draw(st.sampled_from(["neither", "neither", "start", "end"]))
    return TimeRange(
        None if opened == "start" else first,
        None if opened == "end" else second,
        draw(GRAINS),
    )


@given(ranges(), ranges(), MOMENTS)
def test_ranges_that_share_a_moment_overlap(
    one: TimeRange, other: TimeRange, moment: datetime
) -> None:
    assert one.overlaps(other) == other.overlaps(one)
    assert one.overlaps(one)
    if one.contains(moment) and other.contains(moment):
        assert one.overlaps(other)


@given(ranges())
def test_describe_says_something(one: TimeRange) -> None:
    assert one.describe()
    assert one.time_zone is not None


@given(ranges())
def test_the_start_belongs_to_a_range_and_the_end_does_not(one: TimeRange) -> None:
    assert one.start is None or one.contains(one.start)
    assert one.end is None or not one.contains(one.end)


@table(
    ("start", "end", "grain", "words"),
    [
        ("2024-03-05", "2024-03-06", "day", "2024-03-05 (Tuesday)"),
        ("2024-03-01", "2024-04-01", "month", "2024-03-01 to 2024-03-31"),
        ("2024-03-01", None, "day", "since 2024-03-01"),
        (None, "2024-03-01", "day", "before 2024-03-01"),
        (None, None, "day", "any time"),
        (
            "2024-03-05T05:00",
            "2024-03-05T12:00",
            "part_of_day",
            "2024-03-05 05:00 to 2024-03-05 12:00",
        ),
    ],
)
def test_describe(start: str | None, end: str | None, grain: str, words: str) -> None:
    first, last = (m and datetime.fromisoformat(m).replace(tzinfo=UTC) for m in (start, end))
    assert TimeRange(first, last, grain).describe() == words  # type: ignore[arg-type]


def test_what_is_no_range_is_refused() -> None:
    moment = datetime(2024, 3, 5, tzinfo=UTC)
    with pytest.raises(ValueError, match="time zone"):
        TimeRange(datetime(2024, 3, 5), None, "day")
    with pytest.raises(ValueError, match="before end"):
        TimeRange(moment, moment, "day")


def test_recurrence_is_read_in_the_zone_of_the_range() -> None:
    shanghai = ZoneInfo("Asia/Shanghai")
    mondays = TimeRange(
        datetime(2024, 6, 1, tzinfo=shanghai), None, "day", recurrence=Recurrence(frozenset({0}))
    )
    assert mondays.contains(datetime(2024, 6, 9, 17, tzinfo=UTC))  # Monday 01:00 in Shanghai
    assert not mondays.contains(datetime(2024, 6, 10, 17, tzinfo=UTC))
    with pytest.raises(ValueError, match="months"):
        Recurrence(months=frozenset({13}))


@given(st.timedeltas(), st.timedeltas(min_value=timedelta(microseconds=1)))
def test_half_life_weight_lies_between_zero_and_one(age: timedelta, half_life: timedelta) -> None:
    assert 0 < half_life_weight(age, half_life) <= 1


def test_half_life_must_be_positive() -> None:
    with pytest.raises(ValueError, match="half_life"):
        half_life_weight(timedelta(1), timedelta(0))
