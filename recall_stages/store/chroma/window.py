"""A time range as a where clause: coarse and fast; the exact bounds are compared afterwards."""

from __future__ import annotations

from collections.abc import Sequence

from recall_stages.store.chroma.epoch import day_of, month_of, to_milliseconds, up_to_milliseconds
from recall_stages.store.chroma.row_fields import Fields, TimeUnit
from recall_stages.store.chroma.where import Where, all_of, any_of
from recall_stages.timeline import TimeRange

# Up to here a list of buckets is faster than a range: Chroma materialises each side of a range.
_MOST_DAYS = 62
_MOST_MONTHS = 120


def window_where(ranges: Sequence[TimeRange]) -> Where | None:
    """Rows whose recorded time or event time may be in one of the ranges.

    Examples:
        >>> from datetime import UTC, datetime
        >>> start, end = (datetime(1970, 1, day, tzinfo=UTC) for day in (2, 3))
        >>> window_where([TimeRange(start, end, "day")])["$or"][0]
        {'created_day': {'$in': [1]}}
    """
    return any_of(window_arms(ranges))


def window_arms(ranges: Sequence[TimeRange]) -> list[Where | None]:
    """The same as a list of conditions, one of which a row must fulfil; None = every row does."""
    return [arm for each in ranges for arm in (recorded_where(each), _happened(each))]


def foreign_window_where(
    ranges: Sequence[TimeRange], fields: Fields, unit: TimeUnit
) -> Where | None:
    """The same for a collection that somebody else made; None unless its times are numbers."""
    per_unit = {"milliseconds": 1, "seconds": 1000}.get(unit)
    if per_unit is None:
        return None  # Chroma cannot compare text: the candidates are compared here
    key, arms = fields.created_at, []
    for each in ranges:
        bounds: list[Where] = []
        if each.start is not None:
            bounds.append({key: {"$gte": to_milliseconds(each.start) // per_unit}})
        if each.end is not None:
            bounds.append({key: {"$lte": -(-up_to_milliseconds(each.end) // per_unit)}})
        arms.append(all_of(bounds))
    return any_of(arms)


def recorded_where(time_range: TimeRange) -> Where | None:
    """Rows whose recorded time may be in a range; for a collection of ours."""
    first = None if time_range.start is None else to_milliseconds(time_range.start)
    last = None if time_range.end is None else up_to_milliseconds(time_range.end) - 1
    if first is None or last is None:
        return all_of([*_bound("$gte", first), *_bound("$lte", last)])
    days = range(day_of(first), day_of(last) + 1)
    if len(days) <= _MOST_DAYS:
        return {"created_day": {"$in": list(days)}}
    months = range(month_of(first), month_of(last) + 1)
    if len(months) <= _MOST_MONTHS:
        return {"created_month": {"$in": list(months)}}
    return all_of([*_bound("$gte", first), *_bound("$lte", last)])


def _bound(operator: str, milliseconds: int | None) -> list[Where]:
    return [] if milliseconds is None else [{"created_month": {operator: month_of(milliseconds)}}]


def _happened(time_range: TimeRange) -> Where | None:
    bounds: list[Where] = []
    if time_range.end is not None:
        bounds.append({"event_start": {"$lt": up_to_milliseconds(time_range.end)}})
    if time_range.start is not None:
        bounds.append({"event_end": {"$gt": to_milliseconds(time_range.start)}})
    return all_of(bounds)
