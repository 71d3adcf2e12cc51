"""Workdays, Monday to Friday: "last work week", "the past four business days", "weekdays"."""

from __future__ import annotations

from datetime import datetime

from recall_retrievers.timeline.engine import calendar_math as cal
from recall_retrievers.timeline.engine.reading import Cycle, Now, Reading
from recall_retrievers.timeline.recurrence import Recurrence

_MONDAY_TO_FRIDAY = frozenset(range(5))
_MOST = 1000  # workdays in a count: some four years


def week(now: Now, offset: int) -> Reading:
    """The Monday to Friday of this week (0), the last (-1) or the next (1)."""
    monday = cal.start_of("week", now.moment) + cal.WEEK * offset
    return Reading(monday, monday + cal.DAY * 5, "day")


def rolling(now: Now, count: int) -> Reading | None:
    """The past four business days: up to the end of the latest before today, or up to now."""
    if not 0 < count <= _MOST:
        return None
    start, end = _back(now.today, count), _back(now.today, 1) + cal.DAY
    return Reading(start, end, "day").or_else(Reading(start, now.moment, "day"))


def ago(now: Now, count: int) -> Reading | None:
    """Four business days ago."""
    return now.unit_at("day", _back(now.today, count)) if 0 < count <= _MOST else None


def recurring(_: Now) -> Cycle:
    """The weekdays of every week."""

    def at(start: datetime) -> Reading:
        monday = cal.start_of("week", start)
        return Reading(monday, monday + cal.DAY * 5, "day")

    return Cycle("week", "day", at, fields=Recurrence(weekdays=_MONDAY_TO_FRIDAY))


def _back(day: datetime, count: int) -> datetime:
    while count:
        day -= cal.DAY
        count -= day.weekday() in _MONDAY_TO_FRIDAY
    return day
