"""English for recurring times, and for workdays: "on Mondays", "every weekday morning"."""

from __future__ import annotations

from recall_retrievers.timeline.engine.grammar import Table
from recall_retrievers.timeline.engine.reading import Cycle, Now, Reading
from recall_retrievers.timeline.meanings import combine, cycles


def _every_weekday(now: Now, *weekdays: int) -> Reading | None:
    return combine.every(now, *(cycles.weekday(now, one) for one in weekdays))


def _every_part(now: Now, weekday: int, ends: tuple[int, int]) -> Reading | None:
    """On Monday mornings."""
    reading = combine.side_by_side(now, cycles.weekday(now, weekday), cycles.part_of_day(now, ends))
    return combine.every(now, reading) if isinstance(reading, Cycle) else None


def _every_workday(now: Now, _: str, ends: tuple[int, int] | None = None) -> Reading | None:
    every_day = combine.every(now, cycles.workdays(now))
    if every_day is None or ends is None:
        return every_day
    reading = combine.side_by_side(now, every_day, cycles.part_of_day(now, ends))
    return reading if isinstance(reading, Reading) else None


RECURRING: Table = {
    "every|each CYCLE": combine.every,
    "every|each CYCLE and CYCLE": combine.every,
    "every other CYCLE": combine.every,
    "every|each UNIT on|in|at? the? CYCLE": lambda now, _unit, cycle: combine.every(now, cycle),
    "in the PARTS": lambda now, ends: combine.every(now, cycles.part_of_day(now, ends)),
    "CYCLE every|each UNIT": lambda now, cycle, _unit: combine.every(now, cycle),
    "on|every WEEKDAYS": _every_weekday,
    "on WEEKDAYS and WEEKDAYS": _every_weekday,
    "WEEKDAY PARTS": _every_part,
    "on|every weekends|weekend": lambda now: combine.every(now, cycles.weekends(now)),
    "on|every|each WORKDAYS PART|PARTS": _every_workday,
    "on|every|each WORKDAYS": _every_workday,
}

_DAY = "business|working|work day|days"
_WEEK = "business|working|work week|wk"

WORK: Table = {
    f"my|our|this|current {_WEEK}": lambda now: cycles.work_week(now, 0),
    f"last|previous|past {_WEEK}": lambda now: cycles.work_week(now, -1),
    f"next|coming {_WEEK}": lambda now: cycles.work_week(now, 1),
    f"last|past|previous NUM {_DAY}": cycles.past_workdays,
    f"NUM last|past|previous {_DAY}": cycles.past_workdays,
    f"NUM {_DAY} ago": cycles.workdays_ago,
    "last|past|previous NUM WORKDAYS": lambda now, count, _: cycles.past_workdays(now, count),
    "NUM WORKDAYS ago": lambda now, count, _: cycles.workdays_ago(now, count),
}
