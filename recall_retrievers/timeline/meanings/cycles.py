"""Dates and other recurring times: "March", "5 May", "Tuesday", "summer", "the morning"."""

from dataclasses import replace
from datetime import datetime

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.reading import Cycle, Now, Reading
from recall_retrievers.timeline.recurrence import Recurrence
from recall_retrievers.timeline.time_range import Grain


def month(_: Now, number: int) -> Cycle:
    return Cycle(
        "year",
        "month",
        lambda year: _month_of(year.year, number),
        fields=Recurrence(months=frozenset({number})),
    )


def month_day(_: Now, number: int, day_number: int) -> Cycle | None:
    cal.day_of(2024, number, day_number)  # a leap year: refuses only dates that no year has
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

    def at(year: datetime) -> Reading:
        start, final = (cal.day_of(year.year, number, n) for n in (first, last_day))
        return Reading(start, final + cal.DAY, "day").or_else(Reading(start, final, "day"))

    return Cycle("year", "day", at)


def several_days(now: Now, number: int, *days: int) -> Cycle | None:
    """22 and 23 March: from one to the other; of days that lie apart, these alone."""
    first, final = days[0], days[-1]
    whole = days_of_month(now, number, first, final) if [*days] == sorted({*days}) else None
    if whole is None:
        return None
    apart = Recurrence(days=frozenset(days)) if final - first >= len(days) else None

    def at(year: datetime) -> Reading | None:
        reading = whole.at(year)
        each = [_day(cal.day_of(year.year, number, day)) for day in days]
        return reading and replace(reading, recurrence=apart, others=()).or_else(*each)

    return Cycle("year", "day", at)


def day_of_month(_: Now, number: int, weekday: int | None = None) -> Cycle:
    """The 3rd; or Monday the 3rd, which not every month has."""

    def at(start: datetime) -> Reading | None:
        day = cal.day_of(start.year, start.month, number)
        return _day(day) if weekday in (None, day.weekday()) else None

    return Cycle("month", "day", at, fields=Recurrence(days=frozenset({number})))


def weekday(_: Now, number: int) -> Cycle:
    return Cycle(
        "week",
        "day",
        lambda start: _day(start + cal.DAY * ((number - start.weekday()) % 7)),
        fields=Recurrence(weekdays=frozenset({number})),
    )


def weekends(_: Now) -> Cycle:

    def at(start: datetime) -> Reading:
        return Reading(*cal.unit_ends("weekend", start), "weekend")

    return Cycle("week", "weekend", at, fields=Recurrence(weekdays=frozenset({5, 6})))


def workdays(_: Now) -> Cycle:
    """Monday to Friday of every week."""
    return Cycle(
        "week",
        "day",
        lambda start: _span(cal.start_of("week", start), "day", 5, "day"),
        fields=Recurrence(weekdays=frozenset(range(5))),
    )


def season(now: Now, number: int) -> Cycle:
    """Spring is 0 and winter 3: three whole months, or the astronomical quarter."""
    first_month = (number + (2 if now.southern else 0)) % 4 * 3 + 3

    def at(year: datetime) -> Reading:
        return _season_from(cal.day_of(year.year, first_month, 1))

    months = frozenset((first_month + n - 1) % 12 + 1 for n in range(3))
    return Cycle("year", "season", at, fields=Recurrence(months=months))


def season_from_now(now: Now, offset: int) -> Reading:
    """This season is 0 and last season -1, whichever it was."""
    month = cal.start_of("month", now.moment)
    return _season_from(cal.shift(month, "month", 3 * offset - month.month % 3))


def _season_from(start: datetime) -> Reading:
    end = cal.shift(start, "month", 3)
    astronomical = Reading(start + cal.DAY * 20, end + cal.DAY * 20, "season")
    return Reading(start, end, "season").or_else(astronomical)


def quarter(_: Now, number: int) -> Cycle | None:
    return _part_of_year(number, 3)


def half_year(_: Now, number: int) -> Cycle | None:
    return _part_of_year(number, 6)


def _part_of_year(number: int, months: int) -> Cycle | None:
    if not 1 <= number <= 12 // months:
        return None

    def at(year: datetime) -> Reading:
        return _span(
            cal.day_of(year.year, (number - 1) * months + 1, 1), "month", months, "quarter"
        )

    return Cycle("year", "quarter", at)


def week_of_year(_: Now, number: int) -> Cycle | None:
    """ISO week 23."""
    if not 1 <= number <= 53:
        return None
    return Cycle(
        "year", "week", lambda year: _span(cal.iso_week(year.year, number), "week", 1, "week")
    )


def holiday(_: Now, found_in: cal.Finder, days: int = 1) -> Cycle:
    """A holiday, from the function that gives its first day in a year."""
    return Cycle("year", "day", lambda year: _span(found_in(year.year), "day", days, "day"))


def holidays(now: Now, first_and_days: tuple[cal.Finder, int]) -> Cycle:
    """A holiday of several days, such as "over Christmas"."""
    return holiday(now, *first_and_days)


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
    return now.unit_at("year", cal.day_of(number, 1, 1))


def short_year(now: Now, number: int) -> Reading | None:
    """FY18, CY2018: read as the calendar year."""
    return year(now, number if number >= 100 else full_year(now, number))


def full_year(now: Now, number: int) -> int:
    """'07 is 2007 and '98 is 1998: not more than ten years ahead."""
    century = now.moment.year // 100 * 100
    return century + number - (100 if century + number > now.moment.year + 10 else 0)


def century(_: Now, number: int) -> Reading | None:
    """The 19th century, counted as people do: from 1800 on."""
    if not 1 < number <= 22:
        return None
    start = cal.day_of(number * 100 - 100, 1, 1)
    return _span(start, "year", 100, "century")


def decade(now: Now, first_year: int) -> Reading | None:
    """The nineties; of two digits, the latest such decade that has begun."""
    if first_year % 10 or 100 <= first_year < 1000:
        return None
    if first_year < 100:
        first_year += (now.moment.year - first_year) // 100 * 100
    return Reading(cal.day_of(first_year, 1, 1), cal.day_of(first_year + 10, 1, 1), "decade")


def numeric_date(now: Now, numbers: tuple[int, ...]) -> Reading | None:
    """5/7/2023 in the asker's order, or in the other one where the first is no date, or not yet.

    Dots are day first in every country that writes them: their dates have a fourth number, 1.
    """
    first, second, third, *dotted = numbers
    if first > 31:
        return _day(cal.day_of(first, second, third))
    if third < 100:
        third += 2000 if third <= (now.moment.year + 20) % 100 else 1900
    orders = [(first, second), (second, first)]
    readings = []
    for month_number, day_number in reversed(orders) if now.day_first or dotted else orders:
        try:
            readings.append(_day(cal.day_of(third, month_number, day_number)))
        except ValueError:
            continue
    readings.sort(key=now.is_over, reverse=True)
    return readings[0].or_else(*(r for r in readings[1:] if r != readings[0])) if readings else None


def slashed(now: Now, numbers: tuple[int, int]) -> Cycle | None:
    """5/7 without a year."""
    first, second = reversed(numbers) if now.day_first else numbers
    if first > 12:
        first, second = second, first
    return month_day(now, first, second)


def _day(start: datetime) -> Reading:
    return Reading(start, start + cal.DAY, "day")


def _span(start: datetime, name: Grain, count: int, grain: Grain) -> Reading:
    return Reading(start, cal.shift(start, name, count), grain)


def _month_of(year_number: int, number: int) -> Reading:
    return _span(cal.day_of(year_number, number, 1), "month", 1, "month")
