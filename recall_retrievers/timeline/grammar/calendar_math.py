"""Arithmetic on the wall calendar: units, their beginnings, and steps between them.

Everything here works on naive local datetimes, because "last Tuesday" is a matter of the calendar
on the wall: the day that a clock change shortens is still one day. The time zone is attached at
the very end, in `extract_time`.
"""

import calendar
from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from recall_retrievers.timeline.time_range import Grain

DAY = timedelta(days=1)
WEEK = timedelta(days=7)

_MONTHS_IN: dict[str, int] = {
    "month": 1,
    "quarter": 3,
    "year": 12,
    "decade": 120,
    "century": 1200,
}
_LENGTH: dict[str, timedelta] = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "weekend": WEEK,
    "week": WEEK,
}


def midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def day_of(year: int, month: int, day: int) -> datetime:
    """The beginning of the day with these numbers; ValueError when the calendar lacks it."""
    return midnight(date(year, month, day))


def start_of(unit: Grain, moment: datetime, week_start: int = 0) -> datetime:
    """The beginning of the unit that holds a moment; a weekend is that of the week from Monday."""
    if unit in ("second", "minute", "hour"):
        return moment.replace(
            second=moment.second if unit == "second" else 0,
            minute=0 if unit == "hour" else moment.minute,
            microsecond=0,
        )
    today = midnight(moment.date())
    if unit == "week":
        return today - DAY * ((today.weekday() - week_start) % 7)
    if unit == "weekend":
        return today + DAY * (5 - today.weekday())
    months = _MONTHS_IN.get(unit)
    if months is None:
        return today
    if months < 12:
        return today.replace(day=1, month=(today.month - 1) // months * months + 1)
    years = months // 12
    return today.replace(day=1, month=1, year=max(today.year // years * years, 1))


def shift(moment: datetime, unit: Grain, count: int) -> datetime:
    """Step a number of units forth or back; a day past the month's end becomes its last day."""
    if unit in _LENGTH:
        return moment + _LENGTH[unit] * count
    if unit not in _MONTHS_IN:
        msg = f"a {unit} has no fixed length, so there are no steps of it"
        raise ValueError(msg)
    index = moment.year * 12 + moment.month - 1 + count * _MONTHS_IN[unit]
    year, month = divmod(index, 12)
    if not 1 <= year <= 9999:
        msg = f"year {year} is outside the calendar"
        raise ValueError(msg)
    # Every month has 28 days; only beyond them does its length matter.
    day = moment.day if moment.day <= 28 else calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, day))


def unit_ends(unit: Grain, moment: datetime, week_start: int = 0) -> tuple[datetime, datetime]:
    """The beginning and the (excluded) end of the unit that holds a moment."""
    start = start_of(unit, moment, week_start)
    return start, start + 2 * DAY if unit == "weekend" else shift(start, unit, 1)


def nth_weekday(year: int, month: int, weekday: int, count: int) -> datetime:
    """The first, second, ... weekday of a month; a count of -1 is the last one."""
    if count < 0:
        last = day_of(year, month, calendar.monthrange(year, month)[1])
        return last - DAY * ((last.weekday() - weekday) % 7) + WEEK * (count + 1)
    first = day_of(year, month, 1)
    day = first + DAY * ((weekday - first.weekday()) % 7) + WEEK * (count - 1)
    if day.month != month:
        msg = f"{year}-{month:02} has no weekday {weekday} number {count}"
        raise ValueError(msg)
    return day


Finder = Callable[[int], datetime]
"""The day of a holiday in a year."""


def yearly(month: int, day: int) -> Finder:
    return lambda year: day_of(year, month, day)


def yearly_weekday(month: int, weekday: int, count: int, later: int = 0) -> Finder:
    """A holiday on a weekday of a month, or so many days later."""
    return lambda year: nth_weekday(year, month, weekday, count) + DAY * later


def from_easter(later: int) -> Finder:
    """A holiday so many days after Easter Sunday."""
    return lambda year: easter(year) + DAY * later


OVER_CHRISTMAS = (yearly(12, 24), 4)
"""The first day of "over Christmas", and how many days it has."""


def iso_week(year: int, week: int) -> datetime:
    """The Monday of an ISO week; ValueError when the year has no week 53."""
    return midnight(date.fromisocalendar(year, week, 1))


def easter(year: int) -> datetime:
    """Easter Sunday, by the anonymous Gregorian algorithm."""
    century, in_century = divmod(year, 100)
    golden = year % 19
    leap = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - century // 4 - leap + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (in_century // 4) - epact - in_century % 4) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return day_of(year, month, day + 1)
