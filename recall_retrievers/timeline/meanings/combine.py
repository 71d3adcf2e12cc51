"""Expressions side by side: "last March", "Monday morning", "March 2021", "every Tuesday"."""

from dataclasses import replace
from datetime import datetime

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.reading import Cycle, Now, Reading, When
from recall_retrievers.timeline.meanings import cycles
from recall_retrievers.timeline.time_range import FINER_THAN_DAY


def last(now: Now, cycle: Cycle) -> Reading | None:
    """Last March, last Tuesday: the latest that is over."""
    reading = cycle.before(now, now.today if cycle.unit == "week" else now.moment)
    if reading is None or cycle.unit not in ("week", "year"):
        return reading
    here = cal.start_of(cycle.unit, now.moment, now.week_start)
    of_last_unit = cycle.at(cal.shift(here, cycle.unit, -1))
    return reading if of_last_unit == reading else reading.or_else(of_last_unit)


def last_but(now: Now, count: int, cycle: Cycle) -> Reading | None:
    """Two Fridays ago; the March before last."""
    reading: Reading | None = None
    moment = now.today
    for _ in range(min(count, 1000)):
        reading = cycle.before(now, moment)
        if reading is None or reading.start is None:
            return None
        moment = reading.start
    return reading


def from_now(now: Now, offset: int, cycle: Cycle) -> Reading | None:
    """Last Tuesday (-1), this Friday (0), next March (1), the summer before last (-2)."""
    if cycle.unit == "day" and cycle.grain != "part_of_day":
        return None
    if offset == 0:
        return this(now, cycle)
    if offset > 0:
        return coming(now, cycle)
    return last(now, cycle) if offset == -1 else last_but(now, -offset, cycle)


def stretch(first: Cycle, final: Cycle) -> Cycle | None:
    """Monday to Wednesday as one time that recurs; from Friday to Tuesday, over the weekend."""
    if first.unit != final.unit or first.grain != final.grain:
        return None

    def at(start: datetime) -> Reading | None:
        begin, close = first.at(start), final.at(start)
        if begin and close and begin.start and close.start and close.start <= begin.start:
            close = final.at(cal.shift(start, first.unit, 1))
        return begin and close and Reading(begin.start, close.end, first.grain)

    return Cycle(first.unit, first.grain, at)


def last_few(now: Now, count: int, cycle: Cycle) -> Reading | None:
    first, final = last_but(now, count, cycle), last_but(now, 1, cycle)
    if first is None or final is None or cycle.fields is None:
        return None
    return Reading(first.start, final.end, cycle.grain, recurrence=cycle.fields)


def part_of_day(now: Now, offset: int, ends: tuple[int, int]) -> Reading | None:
    """Tomorrow morning, two nights ago."""
    reading = side_by_side(now, now.unit("day", offset), cycles.part_of_day(now, ends))
    return reading if isinstance(reading, Reading) else None


def this(now: Now, cycle: Cycle) -> Reading | None:
    """This March, this Friday, this morning: the one in the present unit, or the past one.

    "What did we do this Friday?" looks back, even on a Wednesday.
    """
    reading = cycle.current(now)
    if reading and reading.start and reading.start > now.moment and now.looks_back():
        latest = cycle.latest(now)
        return latest and latest.or_else(reading)
    if cycle.grain == "season":  # in February, "this winter" began last year
        latest = cycle.latest(now)
        if latest and latest.end and latest.end > now.moment:
            return latest
    return reading


def coming(now: Now, cycle: Cycle) -> Reading | None:
    """Next March, next Friday."""
    reading = cycle.after(now, now.today + cal.DAY)
    if reading is None or cycle.unit != "week":
        return reading
    calendar_week = cycle.at(cal.shift(now.unit("week").start or now.today, "week", 1))
    return reading if calendar_week == reading else reading.or_else(calendar_week)


def in_year(_: Now, cycle: Cycle, number: int) -> Reading | None:
    return cycle.at(cal.day_of(number, 1, 1)) if cycle.unit == "year" else None


def month_of_year(now: Now, numbers: tuple[int, int]) -> Reading | None:
    """2/2013, 2013-02."""
    number, in_that_year = sorted(numbers)
    return in_year(now, cycles.month(now, number), in_that_year)


def dated(_now: Now, _weekday: int, when: When) -> When | None:
    """Friday 5 May: the date counts, and the weekday only repeats it."""
    if isinstance(when, Cycle):
        repeats = when.grain == "day" and when.unit != "week"
    else:
        repeats = when.grain == "day" or when.grain in FINER_THAN_DAY
    return when if repeats else None


def every(_: Now, cycle: Cycle, more: Cycle | None = None) -> Reading | None:
    """Every March, on Mondays: a recurrence over all time."""
    if cycle.fields is None or (more is not None and more.fields is None):
        return None
    fields = cycle.fields.join(more.fields) if more and more.fields else cycle.fields
    return Reading(None, None, cycle.grain, recurrence=fields)


def side_by_side(now: Now, one: When, other: When) -> When | None:
    """Two expressions side by side: "Monday morning", "March last year", "5 May at 3 pm"."""
    return (
        _same_day(now, one, other)
        or _every_in(one, other)
        or _every_in(other, one)
        or _inside(now, one, other)
        or _inside(now, other, one)
        or _narrower(one, other)
    )


def _same_day(now: Now, one: When, other: When) -> Reading | None:
    """Today, the 9th of August; yesterday, Monday: one day in two ways."""
    if isinstance(one, Cycle):
        one, other = other, one
    if not (isinstance(one, Reading) and isinstance(other, Cycle)) or one.start is None:
        return None
    if not one.grain == other.grain == "day":
        return None
    occurrence = other.at(cal.start_of(other.unit, one.start, now.week_start))
    return one if occurrence and occurrence.start == one.start else None


def _every_in(recurring: When, cycle: When) -> Reading | None:
    """Every Monday and Wednesday in March."""
    if isinstance(recurring, Cycle) or isinstance(cycle, Reading):
        return None
    if recurring.recurrence is None or cycle.fields is None:
        return None
    return replace(recurring, recurrence=recurring.recurrence.narrow(cycle.fields))


def with_date(now: Now, one: When, other: When) -> When | None:
    """Last Monday on 6 August: of two days for one event, the date counts."""
    both_days = isinstance(one, Reading) and isinstance(other, Reading) and one.grain == "day"
    return side_by_side(now, one, other) or (other if both_days and other.grain == "day" else None)


def _inside(now: Now, fine: When, coarse: When) -> When | None:
    if not isinstance(fine, Cycle):
        return None
    if fine.unit == "day":
        if coarse.grain == "part_of_day":
            return _hour_inside_part(fine, coarse)
        fits = coarse.grain == "day"
    else:
        fits = fine.unit == coarse.grain
    if not fits or coarse is fine:
        return None
    if isinstance(coarse, Reading):
        if coarse.start is None or coarse.end is None:
            return None
        return _or_whole_day(fine.at(cal.start_of(fine.unit, coarse.start, now.week_start)), coarse)
    inner = coarse.then(
        lambda whole: _or_whole_day(fine.at(whole.start), whole) if whole.start else None,
        fine.grain,
    )
    if inner is None:
        return None
    both = fine.fields and coarse.fields and coarse.fields.narrow(fine.fields)
    return replace(inner, fields=both)


def _or_whole_day(reading: Reading | None, day: Reading) -> Reading | None:
    """A memory of Monday morning may only name Monday."""
    if reading is None or reading.grain != "part_of_day" or day.grain != "day":
        return reading
    return reading.or_else(replace(day, others=()))


def _hour_inside_part(fine: Cycle, part: When) -> When | None:
    if fine is part or (isinstance(part, Cycle) and part.nested > 1):  # "noon noon noon ..."
        return None

    def at(reading: Reading) -> Reading | None:
        if reading.start is None:
            return None
        hour = fine.at(cal.start_of("day", reading.start))
        return hour and _matching_half(hour, reading)

    if isinstance(part, Reading):
        return at(part)
    return part.then(at, fine.grain)


def _matching_half(hour: Reading, part: Reading) -> Reading | None:
    # "between 7 and 9 last night" means nine at night: of the two halves of the day, take the
    # one that lies in the named part of the day.
    if not (hour.start and hour.end and part.start and part.end):
        return None
    for offset in (0, 12, 24):
        start = cal.shift(hour.start, "hour", offset)
        if part.start <= start < part.end:
            return Reading(start, cal.shift(hour.end, "hour", offset), hour.grain)
    return hour


def _narrower(one: When, other: When) -> Reading | None:
    if not (isinstance(one, Reading) and isinstance(other, Reading)):
        return None
    if (one.start, one.end) == (other.start, other.end) and not one.recurrence:
        return one
    if one.recurrence and other.recurrence is None:
        one, other = other, one
    if other.recurrence and one.recurrence is None:
        return replace(one, recurrence=other.recurrence, others=())
    if None in (one.start, one.end, other.start, other.end) or one.grain == other.grain:
        return None
    for fine, coarse in ((one, other), (other, one)):
        if coarse.start <= fine.start and fine.end <= coarse.end:  # type: ignore[operator]
            return fine
    return None
