"""The time next to another one: "the week before", "the night after", "two weeks from 5 May"."""

from __future__ import annotations

from datetime import datetime

from recall_retrievers.timeline.engine import calendar_math as cal
from recall_retrievers.timeline.engine.reading import (
    Cycle,
    Duration,
    Now,
    Reading,
    When,
    Whole,
    change,
)
from recall_retrievers.timeline.time_range import Grain

_FEW = 4  # "the weeks after Christmas"


def unit(now: Now, name: Grain, when: When, sign: int) -> When | None:
    """The week before (-1) or after (1) a time: the calendar week, or the next seven days."""

    def find(inner: Whole) -> Reading | None:
        edge = inner.start if sign < 0 else inner.end - cal.DAY
        if name == "weekend":
            return _weekend_beside(now, sign, inner.start, inner.end)
        reading = now.unit_at(name, cal.shift(edge, name, sign))
        if name == "day":
            return reading
        if sign < 0:
            return reading.or_else(Reading(cal.shift(inner.start, name, -1), inner.start, name))
        return reading.or_else(Reading(inner.end, cal.shift(inner.end, name, 1), name))

    return None if _comes_sooner(when, name) else change(when, find, name)


def units(_: Now, name: Grain, when: When, sign: int) -> When | None:
    """The few days before (-1) or weeks after (1) a time."""

    def find(inner: Whole) -> Reading | None:
        if sign < 0:
            return Reading(cal.shift(inner.start, name, -_FEW), inner.start, name)
        return Reading(inner.end, cal.shift(inner.end, name, _FEW), name)

    return None if _comes_sooner(when, name) else change(when, find, name)


def _comes_sooner(when: When, name: Grain) -> bool:
    """Whether the cycle recurs within the unit: "the year after Wednesday" names no year."""
    if isinstance(when, Reading):
        return False
    begins = cal.day_of(2024, 1, 1)
    return cal.shift(begins, when.unit, 1) < cal.shift(begins, name, 1)


def _weekend_beside(now: Now, sign: int, start: datetime, end: datetime) -> Reading:
    if sign > 0:
        return now.unit_at("weekend", end + cal.DAY * ((5 - end.weekday()) % 7))
    saturday = start - cal.DAY * ((start.weekday() - 5) % 7 or 7)
    if saturday + 2 * cal.DAY > start:
        saturday -= cal.WEEK
    return now.unit_at("weekend", saturday)


def cycle(now: Now, cycle: Cycle, when: When, sign: int) -> When | None:
    """The Tuesday before (-1) 14 March, the night after (1) the 5th."""

    def find(inner: Whole) -> Reading | None:
        if inner.grain == "part_of_day":
            return None
        return cycle.before(now, inner.start) if sign < 0 else cycle.after(now, inner.end)

    return change(when, find, cycle.grain)


def amount_from(_: Now, amount: Duration, when: When) -> When | None:
    """Two weeks starting 20 May."""
    return change(
        when,
        lambda inner: Reading(inner.start, amount.from_(inner.start, 1), amount.unit),
        amount.unit,
    )


def unit_up_to(_: Now, name: Grain, when: When) -> When | None:
    """The week ending 7 June: the week of days up to it, and it."""
    return change(
        when, lambda inner: Reading(cal.shift(inner.end, name, -1), inner.end, name), name
    )


def so_long_after(now: Now, amount: Duration, when: When) -> When | None:
    """In two weeks since 2011: the day two weeks after its beginning."""
    return change(when, lambda inner: now.unit_at("day", amount.from_(inner.start, 1)), "day")
