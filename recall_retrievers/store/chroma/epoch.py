"""Times and ids as rows hold them: whole milliseconds, and the days and months they fall in."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from recall_retrievers.timeline import TimeRange

EARLIEST, LATEST = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999 in epoch milliseconds, the range of a datetime."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = 86_400_000  # in milliseconds


def to_milliseconds(moment: datetime) -> int:
    """Whole epoch milliseconds, rounded down; never outside the years 1 to 9999."""
    return _in_calendar((moment - _EPOCH) // _MILLISECOND)


def up_to_milliseconds(moment: datetime) -> int:
    """Whole epoch milliseconds, rounded up: for the end of a half-open range."""
    return _in_calendar(-((_EPOCH - moment) // _MILLISECOND))


def bounds_of(time_range: TimeRange) -> tuple[int, int]:
    """The first and the last millisecond of a range; an open end is `EARLIEST` or `LATEST`."""
    first = EARLIEST if time_range.start is None else to_milliseconds(time_range.start)
    last = LATEST if time_range.end is None else up_to_milliseconds(time_range.end) - 1
    return first, last


def from_milliseconds(milliseconds: int) -> datetime:
    """The moment, in UTC.

    Examples:
        >>> from_milliseconds(-1).isoformat()
        '1969-12-31T23:59:59.999000+00:00'
    """
    return _EPOCH + milliseconds * _MILLISECOND


def day_of(milliseconds: int) -> int:
    """The number of days since 1970-01-01, in UTC."""
    return milliseconds // _DAY


def month_of(milliseconds: int) -> int:
    """The month as year x 12 + month - 1, in UTC, so that months count on without gaps."""
    moment = from_milliseconds(milliseconds)
    return moment.year * 12 + moment.month - 1


def event_hull(events: Sequence[TimeRange]) -> dict[str, int]:
    """From the first to the last moment of all events, in milliseconds; empty without events."""
    if not events:
        return {}
    starts = [EARLIEST if each.start is None else to_milliseconds(each.start) for each in events]
    ends = [LATEST if each.end is None else up_to_milliseconds(each.end) for each in events]
    return {"event_start": min(starts), "event_end": max(ends)}


def new_id(created_at: datetime) -> str:
    """A new, unique id that sorts by recorded time.

    Examples:
        >>> new_id(from_milliseconds(0)) < new_id(from_milliseconds(1))
        True
    """
    # Counted from the year 1, so that 13 hexadecimal digits sort by time, before 1970 as after.
    return f"{to_milliseconds(created_at) - EARLIEST:013x}-{uuid.uuid4().hex[:12]}"


def _in_calendar(milliseconds: int) -> int:
    return min(max(milliseconds, EARLIEST), LATEST)
