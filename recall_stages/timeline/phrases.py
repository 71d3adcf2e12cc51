"""What phrases mean in any language; the languages' tables point their patterns here.

Every function takes `now` and then the values that its pattern hands over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from recall_stages.timeline import calendar_math as cal
from recall_stages.timeline.reading import Cycle, Duration, Now, Reading
from recall_stages.timeline.recurrence import Recurrence
from recall_stages.timeline.time_range import Grain

When = Reading | Cycle
HALVES: dict[Grain, tuple[Grain, int]] = {
    "year": ("month", 6),
    "month": ("day", 15),
    "day": ("hour", 12),
    "hour": ("minute", 30),
    "decade": ("year", 5),
    "century": ("year", 50),
}


def change(when: When, how: Callable[[Reading], Reading | None], grain: Grain) -> When | None:
    """Change a reading, or every occurrence of a cycle."""
    return when.then(how, grain) if isinstance(when, Cycle) else when.each(how)


# --- Days and units around now -------------------------------------------------------------------


def day(now: Now, offset: int) -> Reading:
    """A day counted from today: -1 is yesterday."""
    return now.unit("day", offset)


def unit(now: Now, offset: int, name: Grain) -> Reading | None:
    """A calendar unit counted from the present one: "last month" is -1."""
    if name in ("hour", "minute", "second"):
        return hours(now, Duration(((-offset, name),))) if offset < 0 else None
    if name == "weekend":
        return weekend(now, offset)
    found = now.unit(name, offset)
    return found if offset or name == "day" else found.or_else(_up_to(found, now.moment))


def weekend(now: Now, offset: int) -> Reading:
    """This weekend is the one just past, unless it is weekend; last weekend is over."""
    coming = now.unit("weekend")
    if offset > 0:
        return now.unit("weekend", offset if now.today.weekday() < 5 else offset)
    inside = now.today.weekday() >= 5
    found = now.unit("weekend", offset if inside or offset else -1)
    return found if inside or offset else found.or_else(coming)


def night(now: Now, offset: int) -> Reading:
    """Last night is -1 and tonight 0: from 18:00 to 05:00, or the calendar day."""
    whole = day(now, offset)
    evening, dawn = (cal.shift(now.today, "hour", 24 * offset + hour) for hour in (18, 29))
    return Reading(evening, dawn, "part_of_day").or_else(whole)


def rolling(now: Now, amount: Duration) -> Reading | None:
    """The past three weeks: back from now; else the three full calendar weeks before this one."""
    whole = Reading(amount.from_(now.moment, -1), now.moment, amount.unit)
    if len(amount.parts) > 1 or amount.unit in ("hour", "minute", "second"):
        return whole
    count, name = amount.parts[0]
    if name == "weekend":
        return Reading(now.unit(name, -count).start, now.unit(name, -1).end, name)
    full = Reading(now.unit(name, -count).start, now.unit(name).start, name)
    if name == "day":
        # Days are counted whole: at noon, "the past three days" are not cut at a noon.
        whole = replace(whole, start=full.start)
    return whole.or_else(full)


def ahead(now: Now, amount: Duration) -> Reading:
    """The next three weeks."""
    return Reading(now.moment, amount.from_(now.moment, 1), amount.unit)


def ago(now: Now, amount: Duration, sign: int = -1) -> Reading | None:
    """Two weeks ago: the calendar unit that holds that day, or the day itself."""
    if amount.unit in ("hour", "minute", "second"):
        return hours(now, amount, sign)
    return at_distance(now, now.today, amount, sign)


def hours(now: Now, amount: Duration, sign: int = -1) -> Reading | None:
    """Two hours ago: that hour of the clock."""
    moment = amount.from_(now.moment, sign)
    if now.elapsed is not None:
        moment = now.elapsed(moment - now.moment)
    return now.unit_at(amount.unit, moment)


def at_distance(now: Now, anchor: datetime, amount: Duration, sign: int) -> Reading | None:
    """So long before or after a day, in the calendar unit that was counted in."""
    low, high = amount.spread
    if low or high:
        ((count, name),) = amount.parts
        counts = [sign * max(1, count - low), sign * (count + high)]
        near, far = (now.unit_at(name, cal.shift(anchor, name, n)) for n in counts)
        first, last = (far, near) if sign < 0 else (near, far)
        return Reading(first.start, last.end, name)
    there = amount.from_(anchor, sign)
    that_day = now.unit_at("day", there)
    if len(amount.parts) > 1 or amount.unit == "day":
        return that_day
    return now.unit_at(amount.unit, there).or_else(that_day)


def soft(days: int) -> Callable[[Now], Reading]:
    """A vague word such as "recently": roughly the last days, as a preference."""
    return lambda now: Reading(cal.shift(now.moment, "day", -days), now.moment, "day", soft=True)


def vaguely_ago(now: Now, name: Grain) -> Reading:
    """Days, weeks, months or years ago, with no number: a preference for about that long ago."""
    if name in ("year", "decade", "century"):
        return long_ago(now)
    end = cal.shift(now.moment, name, -1)
    return Reading(cal.shift(end, name, -10), end, name, soft=True)


def long_ago(now: Now) -> Reading:
    """Years ago: anything but the last year, as a preference."""
    return Reading(None, cal.shift(now.moment, "year", -1), "year", soft=True)


# --- Cycles --------------------------------------------------------------------------------------


def month(_: Now, number: int) -> Cycle:
    """March."""
    return Cycle(
        "year",
        "month",
        lambda year: _month_of(year.year, number),
        fields=Recurrence(months=frozenset({number})),
    )


def month_day(_: Now, number: int, day_number: int) -> Cycle | None:
    """5 May."""
    cal.day_of(2024, number, day_number)  # a leap year: refuses only what no year has
    return Cycle(
        "year",
        "day",
        lambda year: _day(cal.day_of(year.year, number, day_number)),
        fields=Recurrence(months=frozenset({number}), days=frozenset({day_number})),
    )


def days_of_month(_: Now, number: int, first: int, last_day: int) -> Cycle | None:
    """5 to 7 May."""
    if first >= last_day:
        return None
    return Cycle(
        "year",
        "day",
        lambda year: Reading(
            cal.day_of(year.year, number, first), cal.day_of(year.year, number, last_day) + cal.DAY, "day"
        ),
    )


def dated(_: Now, weekday_number: int, when: When) -> When | None:
    """Friday 5 May: the date counts, and the weekday only repeats it."""
    repeats = when.grain == "day" and not (isinstance(when, Cycle) and when.unit == "week")
    return when if repeats else None


def day_of_month(_: Now, number: int, weekday: int | None = None) -> Cycle:
    """The 3rd; or Monday the 3rd, which not every month has."""

    def at(start: datetime) -> Reading | None:
        found = cal.day_of(start.year, start.month, number)
        return _day(found) if weekday in (None, found.weekday()) else None

    return Cycle("month", "day", at, fields=Recurrence(days=frozenset({number})))


def weekday(_: Now, number: int) -> Cycle:
    """Tuesday."""
    return Cycle(
        "week",
        "day",
        lambda start: _day(start + cal.DAY * ((number - start.weekday()) % 7)),
        fields=Recurrence(weekdays=frozenset({number})),
    )


def weekends(_: Now) -> Cycle:
    """The weekend, as what comes round every week."""

    def at(start: datetime) -> Reading:
        return Reading(*cal.unit_ends("weekend", start), "weekend")

    return Cycle("week", "weekend", at, fields=Recurrence(weekdays=frozenset({5, 6})))


def season(now: Now, number: int) -> Cycle:
    """Spring is 0 and winter 3: three whole months, or the astronomical quarter."""
    first_month = (number + (2 if now.southern else 0)) % 4 * 3 + 3

    def at(year: datetime) -> Reading:
        start = cal.day_of(year.year, first_month, 1)
        astronomical = Reading(start + cal.DAY * 20, cal.shift(start, "month", 3) + cal.DAY * 20, "season")
        return Reading(start, cal.shift(start, "month", 3), "season").or_else(astronomical)

    months = frozenset((first_month + n - 1) % 12 + 1 for n in range(3))
    return Cycle("year", "season", at, fields=Recurrence(months=months))


def quarter(_: Now, number: int) -> Cycle | None:
    """The third quarter."""
    if not 1 <= number <= 4:
        return None
    return Cycle(
        "year",
        "quarter",
        lambda year: _span(cal.day_of(year.year, number * 3 - 2, 1), "month", 3, "quarter"),
    )


def half_year(_: Now, number: int) -> Cycle | None:
    """The first or second half of a year."""
    if number not in (1, 2):
        return None
    return Cycle(
        "year",
        "quarter",
        lambda year: _span(cal.day_of(year.year, number * 6 - 5, 1), "month", 6, "quarter"),
    )


def week_of_year(_: Now, number: int) -> Cycle | None:
    """ISO week 23."""
    if not 1 <= number <= 53:
        return None
    return Cycle(
        "year", "week", lambda year: _span(cal.iso_week(year.year, number), "week", 1, "week")
    )


def holiday(found_in: Callable[[int], datetime], days: int = 1) -> Callable[[Now], Cycle]:
    """A feast, by the function that finds its day in a year."""
    return lambda _: Cycle("year", "day", lambda year: _span(found_in(year.year), "day", days, "day"))


def part_of_day(_: Now, ends: tuple[int, int]) -> Cycle:
    """The morning: from one hour to another, which may lie past midnight."""
    first, last = ends
    return Cycle(
        "day",
        "part_of_day",
        lambda start: Reading(
            cal.shift(start, "hour", first), cal.shift(start, "hour", last), "part_of_day"
        ),
        alone=False,
        fields=Recurrence(hours=frozenset(h % 24 for h in range(first, last))),
    )


# --- Years ---------------------------------------------------------------------------------------


def year(now: Now, number: int) -> Reading:
    """2023."""
    return now.unit_at("year", cal.day_of(number, 1, 1))


def short_year(now: Now, number: int) -> Reading | None:
    """FY18, CY2018: read as the calendar year."""
    return year(now, number if number >= 100 else number + now.moment.year // 100 * 100)


def decade(now: Now, first_year: int) -> Reading | None:
    """The nineties; of two digits, the latest such decade that has begun."""
    if first_year % 10 or 100 <= first_year < 1000:
        return None
    if first_year < 100:
        first_year += (now.moment.year - first_year) // 100 * 100
    return Reading(cal.day_of(first_year, 1, 1), cal.day_of(first_year + 10, 1, 1), "decade")


def numeric_date(now: Now, numbers: tuple[int, int, int]) -> Reading | None:
    """5/7/2023 in the asker's order, or in the other one where the first is no date."""
    first, second, third = numbers
    if first > 31:
        return _day(cal.day_of(first, second, third))
    if third < 100:
        third += 2000 if third <= (now.moment.year + 20) % 100 else 1900
    orders = [(first, second), (second, first)]
    found = []
    for month_number, day_number in reversed(orders) if now.day_first else orders:
        try:
            found.append(_day(cal.day_of(third, month_number, day_number)))
        except ValueError:
            continue
    return found[0].or_else(*(r for r in found[1:] if r != found[0])) if found else None


def slashed(now: Now, numbers: tuple[int, int]) -> Cycle | None:
    """5/7 without a year."""
    first, second = reversed(numbers) if now.day_first else numbers
    if first > 12:
        first, second = second, first
    return month_day(now, first, second)


# --- Cycles and readings together ----------------------------------------------------------------


def last(now: Now, cycle: Cycle) -> Reading | None:
    """Last March, last Tuesday: the latest that is over."""
    found = cycle.before(now, now.today if cycle.unit == "week" else now.moment)
    if found is None or cycle.unit != "week":
        return found
    calendar_week = cycle.at(cal.shift(now.unit("week").start or now.today, "week", -1))
    return found if calendar_week == found else found.or_else(calendar_week)


def last_but(now: Now, count: int, cycle: Cycle) -> Reading | None:
    """Two Fridays ago; the March before last."""
    found: Reading | None = None
    moment = now.today
    for _ in range(min(count, 1000)):
        found = cycle.before(now, moment)
        if found is None or found.start is None:
            return None
        moment = found.start
    return found


def this(now: Now, cycle: Cycle) -> Reading | None:
    """This March, this Friday, this morning: the one in the present unit."""
    found = cycle.current(now)
    if cycle.grain == "season":  # in February, "this winter" began last year
        latest = cycle.latest(now)
        if latest and latest.end and latest.end > now.moment:
            return replace(latest, also=(*latest.also,))
    return found


def coming(now: Now, cycle: Cycle) -> Reading | None:
    """Next March, next Friday."""
    found = cycle.after(now, now.today + cal.DAY)
    if found is None or cycle.unit != "week":
        return found
    calendar_week = cycle.at(cal.shift(now.unit("week").start or now.today, "week", 1))
    return found if calendar_week == found else found.or_else(calendar_week)


def in_year(now: Now, cycle: Cycle, number: int) -> Reading | None:
    """March 2021."""
    return cycle.at(cal.day_of(number, 1, 1)) if cycle.unit == "year" else None


def every(_: Now, cycle: Cycle, more: Cycle | None = None) -> Reading | None:
    """Every March, on Mondays: a recurrence over all time."""
    if cycle.fields is None or (more is not None and more.fields is None):
        return None
    fields = cycle.fields
    if more is not None and more.fields is not None:
        fields = Recurrence(
            fields.weekdays | more.fields.weekdays,
            fields.months | more.fields.months,
            fields.days | more.fields.days,
            fields.hours | more.fields.hours,
        )
    return Reading(None, None, cycle.grain, recurrence=fields)


def together(now: Now, one: When, other: When) -> When | None:
    """Two expressions side by side: "Monday morning", "March last year", "5 May at 3 pm"."""
    return _inside(now, one, other) or _inside(now, other, one) or _narrower(one, other)


def together_on(now: Now, one: When, other: When) -> When | None:
    """Last Friday on 23 January: when two days are told for one thing, the date counts."""
    both_days = isinstance(one, Reading) and isinstance(other, Reading) and one.grain == "day"
    return together(now, one, other) or (other if both_days and other.grain == "day" else None)


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
    grain = fine.grain
    if isinstance(coarse, Reading):
        if coarse.start is None or coarse.end is None:
            return None
        found = fine.at(cal.start_of(fine.unit, coarse.start, now.week_start))
        return found
    inner = coarse.then(lambda r: r.start and fine.at(r.start), grain)
    if inner is None:
        return None
    both = fine.fields and coarse.fields and coarse.fields.narrow(fine.fields)
    return replace(inner, fields=both)


def _hour_inside_part(fine: Cycle, part: When) -> When | None:
    if fine is part:
        return None

    def at(reading: Reading) -> Reading | None:
        if reading.start is None:
            return None
        hour = fine.at(cal.start_of("day", reading.start))
        return hour and _matching_half(hour, reading)

    if isinstance(part, Reading):
        return at(part)
    found = part.then(at, fine.grain)
    return found and replace(found, alone=False)


def _matching_half(hour: Reading, part: Reading) -> Reading | None:
    # "between 7 and 9 last night" means nine at night: of the two halves of the day, take the
    # one that lies in the part of the day that was named.
    for offset in (0, 12, 24):
        start, end = hour.start, hour.end
        if start is None or end is None or part.start is None or part.end is None:
            return None
        start = cal.shift(start, "hour", offset)
        if part.start <= start < part.end:
            return Reading(start, cal.shift(end, "hour", offset), hour.grain)
    return hour


def _narrower(one: When, other: When) -> Reading | None:
    if not (isinstance(one, Reading) and isinstance(other, Reading)):
        return None
    if (one.start, one.end) == (other.start, other.end) and not one.recurrence:
        return one
    if one.recurrence and other.recurrence is None:
        one, other = other, one
    if other.recurrence and one.recurrence is None:
        return replace(one, recurrence=other.recurrence, also=())
    if None in (one.start, one.end, other.start, other.end) or one.grain == other.grain:
        return None
    for fine, coarse in ((one, other), (other, one)):
        if coarse.start <= fine.start and fine.end <= coarse.end:  # type: ignore[operator]
            return fine
    return None


def _up_to(reading: Reading, moment: datetime) -> Reading | None:
    if reading.start is None or reading.start >= moment:
        return None
    return Reading(reading.start, moment, reading.grain)


def _day(start: datetime) -> Reading:
    return Reading(start, start + cal.DAY, "day")


def _span(start: datetime, name: Grain, count: int, grain: Grain) -> Reading:
    return Reading(start, cal.shift(start, name, count), grain)


def _month_of(year_number: int, number: int) -> Reading:
    return _span(cal.day_of(year_number, number, 1), "month", 1, "month")
