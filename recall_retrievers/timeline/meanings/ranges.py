"""Ranges with two ends or one, and the time beside another: "since March", "the week before"."""

from datetime import datetime

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.reading import (
    Cycle,
    Duration,
    Now,
    Reading,
    When,
    Whole,
    change,
)
from recall_retrievers.timeline.meanings import cycles
from recall_retrievers.timeline.time_range import FINER_THAN_DAY, Grain

# The coarser cycle fixes the finer one: of "the 9th to 17 April" the month comes from the second.
_COARSENESS: tuple[Grain, ...] = ("day", "week", "month", "year")


def join(now: Now, first: When, second: When) -> Reading | None:
    """From one to another, both included; or up to the beginning of the second."""
    start, end = _resolved_pair(now, first, second)
    if start is None or end is None or start.soft or end.soft:
        return None
    if start.start is None or end.end is None or end.start is None or start.end is None:
        return None
    grain = min(start.grain, end.grain, key=_fineness)
    if end.grain in FINER_THAN_DAY:  # "from 2 pm to 4 pm" ends at four, not at five
        return Reading(start.start, end.start, grain) if start.start < end.start else None
    if start.start >= end.end or start.start > end.start:
        return None
    whole = Reading(start.start, end.end, grain)
    if start.start < end.start:
        return whole.or_else(Reading(start.start, end.start, grain))
    return whole


def _resolved_pair(now: Now, first: When, second: When) -> tuple[Reading | None, Reading | None]:
    if isinstance(first, Reading):
        if isinstance(second, Reading):
            return first, second
        return first, _at_or_after(now, second, first.start)
    if isinstance(second, Reading):
        return _before_end(now, first, second), second
    # Ahead, the range counts as long as its end is to come.
    if now.ahead or _COARSENESS.index(first.unit) < _COARSENESS.index(second.unit):
        end = second.latest(now)
        return _before_end(now, first, end), end
    start = first.latest(now)
    return start, _at_or_after(now, second, start.start if start else None)


def _at_or_after(now: Now, cycle: Cycle, start: datetime | None) -> Reading | None:
    return None if start is None else cycle.after(now, start)


def _before_end(now: Now, cycle: Cycle, other: Reading | None) -> Reading | None:
    if other is None or other.end is None:
        return None
    return cycle.starting_before(now, other.end)


def days_to(now: Now, day: int, when: When) -> Reading | None:
    """The 9th to 12 June: a bare number takes its month from the date it leads to."""
    end = resolved(now, when)
    if end is None or end.grain != "day" or end.start is None or not day < end.start.day:
        return None
    return join(now, cycles.day_of_month(now, day), end)


def up_to_now(now: Now, when: When) -> Reading | None:
    """Since March: from its beginning to now; or with no end."""
    reading = resolved(now, when)

    def extend(one: Reading) -> Reading | None:
        if one.start is None or one.soft:
            return None
        open_ended = Reading(one.start, None, one.grain)
        if one.start >= now.moment:
            return open_ended
        return Reading(one.start, now.moment, one.grain).or_else(open_ended)

    return reading and reading.map(extend)


def onwards(now: Now, when: When) -> Reading | None:
    """From March on: no end."""
    reading = resolved(now, when)
    return _open(reading, reading.start if reading else None, None)


def after(now: Now, when: When) -> Reading | None:
    """After March: from where it ends."""
    reading = resolved(now, when)
    return _open(reading, reading.end if reading else None, None)


def before(now: Now, when: When) -> Reading | None:
    """Before March: up to where it begins."""
    reading = resolved(now, when)
    return _open(reading, None, reading.start if reading else None)


def beyond(now: Now, amount: Duration, *, sure: bool) -> Reading:
    """More than two weeks ago: up to that day; at least two weeks ago: the day as well."""
    day = amount.from_(now.today, -1)
    return Reading(None, day if sure else day + cal.DAY, "day")


def within(now: Now, amount: Duration) -> Reading | None:
    """Less than two weeks ago, no more than two weeks ago: from that day to now."""
    day = amount.from_(now.today, -1)
    return Reading(day, now.moment, "day") if day < now.moment else None


def until(now: Now, when: When) -> Reading | None:
    """Until March, by Friday: it is included; or it is not."""
    reading = resolved(now, when)
    if reading is None or reading.end is None or reading.soft:
        return None
    if reading.grain in FINER_THAN_DAY:
        return before(now, reading)
    return Reading(None, reading.end, reading.grain).or_else(before(now, reading))


def as_of(now: Now, when: When) -> Reading | None:
    """As of September: all that was so by its end; a memory tells of that month."""
    reading, by_then = resolved(now, when), until(now, when)
    return by_then and by_then.or_else(reading)


def resolved(now: Now, when: When) -> Reading | None:
    """A reading as it is; a cycle at its latest occurrence."""
    return when.latest(now) if isinstance(when, Cycle) else when


def _open(reading: Reading | None, start: datetime | None, end: datetime | None) -> Reading | None:
    if reading is None or reading.soft or reading.recurrence or (start is None and end is None):
        return None
    return Reading(start, end, reading.grain)


def _fineness(grain: Grain) -> int:
    order: tuple[Grain, ...] = ("second", "minute", "hour", "part_of_day", "day", "weekend", "week")
    return order.index(grain) if grain in order else len(order)


# --- The time next to another one: "the week before", "two weeks from 5 May" ---------------------


def unit_beside(now: Now, name: Grain, when: When, sign: int) -> When | None:
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


def cycle_beside(now: Now, recurring: Cycle, when: When, sign: int) -> When | None:
    """The Tuesday before (-1) 14 March, the night after (1) the 5th."""

    def find(inner: Whole) -> Reading | None:
        if inner.grain == "part_of_day":
            return None
        return recurring.before(now, inner.start) if sign < 0 else recurring.after(now, inner.end)

    return change(when, find, recurring.grain)


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
