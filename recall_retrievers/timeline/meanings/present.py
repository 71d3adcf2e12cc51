"""Times seen from now: the part of a week that has passed, this day of another year."""

from __future__ import annotations

from datetime import datetime

from recall_retrievers.timeline.engine import calendar_math as cal
from recall_retrievers.timeline.engine.reading import Cycle, Now, Reading
from recall_retrievers.timeline.meanings.subdivide import first_third


def earlier(now: Now, when: Reading) -> Reading | None:
    """Earlier this week: the part that has passed; of a week that is over, its first third.

    "Earlier this morning" is said in the evening too, of the whole morning.
    """
    over = when.end is not None and when.end <= now.moment
    if over and when.grain == "part_of_day":
        return when
    return first_third(when) if over else so_far(now, when)


def earlier_today(now: Now, part: Cycle) -> Reading | None:
    """Earlier in the morning."""
    reading = part.current(now) if part.grain == "part_of_day" else None
    return reading and earlier(now, reading)


def so_far(now: Now, when: Reading) -> Reading | None:
    """Earlier this week, this year so far: the part up to now, or up to today."""
    reading = _cut(when, when.start, now.moment)
    return reading and reading.or_else(_cut(when, when.start, now.today))


def still_to_come(now: Now, when: Reading) -> Reading | None:
    """Later this week, the rest of the month."""
    return _cut(when, now.moment, when.end)


def _cut(when: Reading, start: datetime | None, end: datetime | None) -> Reading | None:
    if when.start is None or when.end is None or start is None or end is None:
        return None
    if not when.start <= start < end <= when.end:
        return when if start == end else None
    return Reading(start, end, "hour" if when.grain == "day" else when.grain)


def same_time(now: Now, when: Reading) -> Reading | None:
    """This time last year: about this day of it, or the day itself."""
    if when.start is None:
        return None
    that_day = same_day(now, when)
    if that_day is None or that_day.start is None or that_day.end is None:
        return None
    grace = {"year": 15, "month": 3, "week": 1}.get(when.grain)
    if grace is None:
        return None
    start, end = that_day.start - cal.DAY * grace, that_day.end + cal.DAY * grace
    return Reading(start, end, "day").or_else(that_day)


def same_day(now: Now, when: Reading) -> Reading | None:
    """This day last year."""
    if when.start is None or when.grain not in ("year", "month", "week"):
        return None
    here = cal.start_of(when.grain, now.moment, now.week_start)
    units = {"year": 12, "month": 1}.get(when.grain)
    if units is None:
        return now.unit_at("day", when.start + (now.today - here))
    months = (when.start.year - here.year) * 12 + when.start.month - here.month
    return now.unit_at("day", cal.shift(now.today, "month", months))
