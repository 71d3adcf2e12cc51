"""Parts of a time, and days counted from it: "late May", "the first week of May", "so far"."""

from collections.abc import Callable
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
from recall_retrievers.timeline.meanings.relative import at_distance
from recall_retrievers.timeline.time_range import Grain

_SHIFTED: tuple[Grain, ...] = ("month", "quarter", "year")
_LATE = 22  # o'clock
_MOST = 366  # the highest number in a count within a stretch
_THIRDS_IN: dict[Grain, tuple[Grain, int]] = {
    "century": ("year", 100),
    "decade": ("year", 10),
    "year": ("month", 12),
    "season": ("month", 3),
    "quarter": ("month", 3),
    "week": ("day", 7),
    "weekend": ("day", 2),
}


def third(_: Now, which: int, when: When) -> When | None:
    """Early (0), mid (1) or late (2): a third of a month, a year, a part of the day.

    To some people "late May" begins in the middle of it, a year begins with a quarter, and the
    middle of a month lies around the fifteenth.
    """
    grain: Grain = "part_of_day" if when.grain == "part_of_day" else "day"

    def find(whole: Whole) -> Reading | None:
        part = _third(whole, which)
        if which == 1:
            return part and part.or_else(_around_middle(whole))
        return part and part.or_else(_half(whole, 1 + which // 2), _outer_quarter(whole, which))

    return change(when, find, grain)


def _third(whole: Whole, which: int) -> Reading | None:
    start, end = whole.start, whole.end
    if whole.grain == "month":
        cuts = [start, start + cal.DAY * 10, start + cal.DAY * 20, end]
        return Reading(cuts[which], cuts[which + 1], "day")
    if whole.grain in _THIRDS_IN:
        name, count = _THIRDS_IN[whole.grain]
        # Where a unit has no even thirds they overlap: early and mid week share a Wednesday.
        low = (0, count // 3, count * 2 // 3)[which]
        high = (-(-count // 3), count - count // 3, count)[which]
        return Reading(cal.shift(start, name, low), cal.shift(start, name, high), name)
    if whole.grain == "part_of_day":
        if which == 2 and start.date() < end.date():  # "late last night" is not only towards dawn
            return Reading(start.replace(hour=_LATE), end, "part_of_day")
        length = (end - start) / 3
        return Reading(start + length * which, start + length * (which + 1), "part_of_day")
    return None


def _around_middle(whole: Whole) -> Reading | None:
    """Mid-November: ten days around the fifteenth."""
    if whole.grain != "month":
        return None
    return Reading(whole.start + cal.DAY * 9, whole.start + cal.DAY * 20, "day")


def _outer_quarter(whole: Whole, which: int) -> Reading | None:
    if whole.grain != "year":
        return None
    if which == 0:
        return Reading(whole.start, cal.shift(whole.start, "month", 3), "quarter")
    return Reading(cal.shift(whole.end, "month", -3), whole.end, "quarter")


def every_part(
    now: Now, which: int, grain: Grain, cut: Callable[[Now, int, When], When | None] = third
) -> Cycle:
    """年初, 月底, 上半月 as a cycle; a year or a month before it says in which unit."""

    def at(start: datetime) -> Reading | None:
        reading = cut(now, which, now.unit_at(grain, start))
        return reading if isinstance(reading, Reading) else None

    return Cycle(grain, "day", at)


def end_of_unit(now: Now, which: int, name: Grain) -> When | None:
    """EOM: the end of this month."""
    whole = now.unit(name)
    return whole if name == "day" else end_of(now, which, whole)


def end_of(now: Now, which: int, when: When) -> When | None:
    """The beginning (0) or the end (2) of a time; the end of a year is first of all its last weeks.

    "What did we do at the end of the year?" looks back in June: to the end of the last one.
    """
    part = third(now, which, when)
    if isinstance(part, Reading) and isinstance(when, Reading) and part.start is not None:
        present = when.start is not None and when.start <= now.moment
        if present and part.start > now.moment and now.looks_back() and when.grain in _SHIFTED:
            earlier = end_of(now, which, now.unit(when.grain, -1))
            return earlier.or_else(part) if isinstance(earlier, Reading) else None
    if part is None:
        return None

    def find(whole: Whole) -> Reading | None:
        december = Reading(cal.shift(whole.end, "month", -1), whole.end, "month")
        return december.or_else(_third(whole, which), _outer_quarter(whole, which), _half(whole, 2))

    return change(when, find, "day") if when.grain == "year" and which == 2 else part


def half(_: Now, which: int, when: When) -> When | None:
    """The first (1) or second (2) half."""
    if which not in (1, 2):
        return None
    return change(when, lambda whole: _half(whole, which), "day")


def _half(whole: Whole, which: int) -> Reading | None:
    start, end = whole.start, whole.end
    if whole.grain in ("day", "hour"):
        return None
    middle = start + (end - start) / 2
    if whole.grain in ("year", "decade", "century"):
        months = {"year": 6, "decade": 60, "century": 600}[whole.grain]
        middle = cal.shift(start, "month", months)
    if whole.grain != "part_of_day":
        middle = cal.start_of("day", middle)
    ends = (start, middle) if which == 1 else (middle, end)
    return Reading(*ends, "part_of_day" if whole.grain == "part_of_day" else "day")


def nth_unit(now: Now, count: int, name: Grain, when: When) -> When | None:
    """The second week of February, the last day of the year; -1 counts from the end."""

    def find(whole: Whole) -> Reading | None:
        if whole.grain == name:
            return None
        if name == "weekend":
            return _nth_weekend(now, count, whole.start, whole.end)
        if count > 0:
            start = cal.shift(whole.start, name, count - 1)
            reading = Reading(start, cal.shift(start, name, 1), name)
        else:
            reading = Reading(cal.shift(whole.end, name, -1), whole.end, name)
        if reading.end is None or reading.end > whole.end:
            return None
        return reading.or_else(_calendar_week(now, count, whole)) if name == "week" else reading

    return change(when, find, name)


def _calendar_week(now: Now, count: int, whole: Whole) -> Reading:
    # The ISO rule: a week belongs to the month or year that holds most of its days.
    middle = cal.DAY * 3
    first = cal.start_of("week", whole.start, now.week_start)
    if first + middle < whole.start:
        first += cal.WEEK
    final = cal.start_of("week", whole.end - cal.DAY, now.week_start)
    if final + middle >= whole.end:
        final -= cal.WEEK
    start = first + cal.WEEK * (count - 1) if count > 0 else final
    return Reading(start, start + cal.WEEK, "week")


def _nth_weekend(now: Now, count: int, start: datetime, end: datetime) -> Reading | None:
    day = start if count > 0 else end - cal.DAY
    saturday = day + cal.DAY * ((5 - day.weekday()) % 7)
    saturday = saturday + cal.WEEK * (count - 1) if count > 0 else saturday
    while count < 0 and saturday + cal.DAY >= end:
        saturday -= cal.WEEK
    return now.unit_at("weekend", saturday)


def nth_occurrence(now: Now, count: int, cycle: Cycle, when: When) -> When | None:
    """The first Monday of March, the last Friday of last month; -1 counts from the end."""

    def find(whole: Whole) -> Reading | None:
        if whole.grain == cycle.unit or count > _MOST:
            return None
        if count < 0:
            reading = cycle.before(now, whole.end)
            return reading if reading and reading.start and reading.start >= whole.start else None
        reading = cycle.after(now, whole.start)
        for _ in range(count - 1):
            reading = cycle.after(now, reading.end) if reading and reading.end else None
        return reading if reading and reading.end and reading.end <= whole.end else None

    return change(when, find, cycle.grain)


def first_of(_: Now, amount: Duration, when: When, sign: int = 1) -> When | None:
    """The first (1) or last (-1) ten days of a stretch."""

    def find(whole: Whole) -> Reading | None:
        start, end = whole.start, whole.end
        if sign > 0:
            end = amount.from_(start, 1)
        else:
            start = amount.from_(end, -1)
        fits = start >= whole.start and end <= whole.end
        return Reading(start, end, amount.unit) if fits else None

    return change(when, find, amount.unit)


def unit_of(now: Now, name: Grain, when: When) -> When | None:
    """The week of 5 February, the weekend of Halloween, the month of May."""

    def find(inner: Whole) -> Reading | None:
        if name == "weekend":
            return _weekend_at(inner.start) if inner.end - inner.start <= cal.WEEK else None
        reading = now.unit_at(name, inner.start)
        if reading.end is None or reading.end < inner.end:
            return None
        if name != "week" or inner.grain != "day":
            return reading
        return reading.or_else(Reading(inner.start, inner.start + cal.WEEK, "week"))

    return change(when, find, name)


def _weekend_at(day: datetime) -> Reading:
    # The nearest weekend, with the holiday itself when it makes the weekend longer.
    saturday = day + cal.DAY * ((5 - day.weekday() + 3) % 7 - 3)
    end = max(saturday + cal.DAY * 2, day + cal.DAY if day.weekday() == 0 else saturday)
    return Reading(min(saturday, day) if day.weekday() == 4 else saturday, end, "weekend")


def amount_away(now: Now, amount: Duration, when: When, sign: int) -> When | None:
    """Two days before Christmas, three weeks after 5 May."""

    def find(inner: Whole) -> Reading | None:
        if amount.unit in ("hour", "minute", "second"):
            anchor = inner.start if sign < 0 else inner.end
            there = amount.from_(anchor, sign)
            return Reading(min(anchor, there), max(anchor, there), "hour")
        last_day = max(inner.start, inner.end - cal.DAY)
        anchor = inner.start if sign < 0 else last_day
        return at_distance(now, cal.start_of("day", anchor), amount, sign)

    return change(when, find, amount.unit)


# --- Seen from now ------------------------------------------------------------------------------


def earlier(now: Now, when: Reading) -> Reading | None:
    """Earlier this week: the part that has passed; of a week that is over, its first third.

    "Earlier this morning" is said in the evening too, of the whole morning.
    """
    over = when.end is not None and when.end <= now.moment
    if over and when.grain == "part_of_day":
        return when
    if over and when.start and when.end:
        return _third(Whole(when.start, when.end, when.grain), 0)
    return so_far(now, when)


def earlier_today(now: Now, part: Cycle) -> Reading | None:
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
    that_day = same_day(now, when)
    if that_day is None or that_day.start is None or that_day.end is None:
        return None
    grace = cal.DAY * {"year": 15, "month": 3, "week": 1}[when.grain]
    return Reading(that_day.start - grace, that_day.end + grace, "day").or_else(that_day)


def same_day(now: Now, when: Reading) -> Reading | None:
    if when.start is None or when.grain not in ("year", "month", "week"):
        return None
    here = cal.start_of(when.grain, now.moment, now.week_start)
    units = {"year": 12, "month": 1}.get(when.grain)
    if units is None:
        return now.unit_at("day", when.start + (now.today - here))
    months = (when.start.year - here.year) * 12 + when.start.month - here.month
    return now.unit_at("day", cal.shift(now.today, "month", months))
