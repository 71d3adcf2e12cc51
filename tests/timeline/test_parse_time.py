from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.timeline.parse_time import parse_time, resolve_timezone


@table(
    ("value", "zone", "expected"),
    [
        (0, "UTC", "1970-01-01T00:00:00+00:00"),
        (1709640000.0, "Europe/Berlin", "2024-03-05T13:00:00+01:00"),
        (1709640000000, "UTC", "2024-03-05T12:00:00+00:00"),
        (-86400, "UTC", "1969-12-31T00:00:00+00:00"),
        ("2024-03-05", "Asia/Shanghai", "2024-03-05T00:00:00+08:00"),
        ("2024-03-05T12:00", "UTC", "2024-03-05T12:00:00+00:00"),
        ("2024-03-05T12:00:00Z", "Asia/Shanghai", "2024-03-05T12:00:00+00:00"),
        ("2024-03-05T12:00:00-05:00", None, "2024-03-05T12:00:00-05:00"),
        (datetime(2024, 3, 5), "UTC", "2024-03-05T00:00:00+00:00"),
    ],
)
def test_the_usual_forms(value: float | str | datetime, zone: str | None, expected: str) -> None:
    assert parse_time(value, zone).isoformat() == expected


def test_naive_values_are_read_in_the_zone_of_the_machine() -> None:
    assert parse_time("2024-03-05").tzinfo == resolve_timezone(None)


@table("value", [True, None, [], b"2024", object()])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="timestamp must be an int, float, ISO 8601 string or"):
        parse_time(value)  # type: ignore[arg-type]


@table("value", ["", "soon", "20240305", "1709640000", "2024-13-01", float("nan")])
def test_nonsense_is_refused(value: str | float) -> None:
    with pytest.raises(ValueError, match="timestamp must be an int, float, ISO 8601 string or"):
        parse_time(value, "UTC")


@table("value", [1e300, -1e18, 10**400])
def test_moments_off_the_calendar_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="years 1 and 9999"):
        parse_time(value, "UTC")


def test_the_name_in_the_error_is_the_callers() -> None:
    with pytest.raises(TypeError, match=r"created_at must be .*; got True"):
        parse_time(True, name="created_at")


@table("zone", ["Mars/Base", "", "../etc/passwd", 5])
def test_unknown_zones_are_refused_with_an_example(zone: object) -> None:
    with pytest.raises((ValueError, TypeError), match="Europe/Berlin"):
        resolve_timezone(zone)  # type: ignore[arg-type]


@given(st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_epoch_and_iso_name_the_same_moment(moment: datetime) -> None:
    assert parse_time(moment.isoformat()) == moment
    assert abs(parse_time(moment.timestamp(), "UTC") - moment) < timedelta(milliseconds=1)
