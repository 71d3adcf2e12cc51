"""A time range as a where clause: coarse and fast; the exact bounds are compared afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from recall_retrievers.store.chroma.epoch import (
    day_of,
    month_of,
    to_milliseconds,
    up_to_milliseconds,
)
from recall_retrievers.store.chroma.row_fields import Fields, TimeUnit
from recall_retrievers.store.chroma.where import Where, all_of
from recall_retrievers.timeline import TimeRange

# Up to here a list of buckets is faster than a range: Chroma materialises each side of a range.
_MOST_DAYS = 62
_MOST_MONTHS = 120


def window_where(ranges: Sequence[TimeRange]) -> list[Where | None]:
    """Conditions, one of which a row of ours must fulfil to be of one of these times.

    Examples:
        >>> from datetime import UTC, datetime
        >>> start, end = (datetime(1970, 1, day, tzinfo=UTC) for day in (2, 3))
        >>> window_where([TimeRange(start, end, "day")])[0]
        {'created_day': {'$in': [1]}}
    """
    return [arm for each in ranges for arm in (recorded_where(each), _happened(each))]


def foreign_where(time_range: TimeRange, fields: Fields, unit: TimeUnit) -> Where | None:
    """The same for a row that somebody else wrote; None unless its time is a number."""
    per_unit = {"milliseconds": 1, "seconds": 1000}.get(unit)
    if per_unit is None:
        return None  # Chroma cannot compare text: the candidates are compared here
    start, end = time_range.start, time_range.end
    first = None if start is None else to_milliseconds(start) // per_unit
    last = None if end is None else -(-up_to_milliseconds(end) // per_unit)
    return _between(fields.created_at, first, last)


def recorded_where(time_range: TimeRange) -> Where | None:
    """Rows whose recorded time may be in a range; for a collection of ours."""
    first = None if time_range.start is None else to_milliseconds(time_range.start)
    last = None if time_range.end is None else up_to_milliseconds(time_range.end) - 1
    if first is not None and last is not None:
        days = range(day_of(first), day_of(last) + 1)
        if len(days) <= _MOST_DAYS:
            return {"created_day": {"$in": list(days)}}
        months = range(month_of(first), month_of(last) + 1)
        if len(months) <= _MOST_MONTHS:
            return {"created_month": {"$in": list(months)}}
    low, high = (None if each is None else month_of(each) for each in (first, last))
    return _between("created_month", low, high)


def _happened(time_range: TimeRange) -> Where | None:
    bounds: list[Where] = []
    if time_range.end is not None:
        bounds.append({"event_start": {"$lt": up_to_milliseconds(time_range.end)}})
    if time_range.start is not None:
        bounds.append({"event_end": {"$gt": to_milliseconds(time_range.start)}})
    return all_of(bounds)


def _between(key: str, low: int | None, high: int | None) -> Where | None:
    bounds = {"$gte": low, "$lte": high}
    return all_of([{key: {how: each}} for how, each in bounds.items() if each is not None])
