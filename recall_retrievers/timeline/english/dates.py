"""English dates, years and decades; recurring times and workdays: "on Mondays"."""

from recall_retrievers.timeline.grammar.calendar_math import (
    Finder,
    from_easter,
    yearly,
    yearly_weekday,
)
from recall_retrievers.timeline.grammar.engine import Rule, Table
from recall_retrievers.timeline.grammar.lunar import lunar_day
from recall_retrievers.timeline.grammar.reading import Cycle, Now, Reading, When
from recall_retrievers.timeline.meanings import clock, combine, cycles, subdivide
from recall_retrievers.timeline.meanings.cycles import holiday


def _part_of_decade(now: Now, edge: int, years: int) -> When | None:
    """The late nineties."""
    whole = cycles.decade(now, years)
    return whole and subdivide.third(now, edge, whole)


def _several_days(now: Now, *numbers: int) -> Cycle | None:
    """The 1st, 2nd and 5th of May: the month comes last."""
    *days, month = numbers
    return cycles.several_days(now, month, *days)


def _written_by_a_machine(
    now: Now, month: int, day: int, time: clock.Clock, year: int
) -> When | None:
    """Oct 26 15:50:06 2016."""
    date = cycles.numeric_date(now, (year, month, day))
    hour = clock.at(now, time)
    return date and hour and combine.side_by_side(now, date, hour)


def _in_short_year(now: Now, cycle: Cycle | None, year: int) -> Reading | None:
    """4Q22, 1H2023, W40 2022."""
    if cycle is None or not (year > 999 or 10 <= year < 100):
        return None
    return combine.in_year(now, cycle, year if year > 999 else cycles.full_year(now, year))


DATES: Table = {
    "MONTH": cycles.month,
    "MONTH .|,|/|-? the? DAY": cycles.month_day,
    "the? DAY day? of|/|-? the? MONTH": lambda now, day, month: cycles.month_day(now, month, day),
    "MONTH .? the? DAY -|to|through|thru|until|till the? DAY": cycles.days_of_month,
    "the? DAY and|or|&|, the? DAY of? MONTH": _several_days,
    "the? DAY , the? DAY ,? and|or|& the? DAY of? MONTH": _several_days,
    "MONTH the? DAY and|or|& the? DAY": cycles.several_days,
    "MONTH the? DAY , the? DAY ,? and|or|& the? DAY": cycles.several_days,
    "MONTH DAY CLOCK YEAR": _written_by_a_machine,
    "between the? DAY and the? DAY of? MONTH": lambda now, first, final, month: (
        cycles.days_of_month(now, month, first, final)
    ),
    "SLASHED of? MONTH": lambda now, days, month: cycles.several_days(now, month, *days),
    "MONTH SLASHED": lambda now, month, days: cycles.several_days(now, month, *days),
    "WEEKDAY ,? the? MONTHDAY": lambda now, weekday, day: cycles.day_of_month(now, day, weekday),
    "the? MONTHDAY": cycles.day_of_month,
    "SLASHED": cycles.slashed,
    "SEASON": cycles.season,
    "q NUM": cycles.quarter,
    "NUM q NUM|YEAR": lambda now, number, year: _in_short_year(
        now, cycles.quarter(now, number), year
    ),
    "NUM HALF_YEAR NUM|YEAR": lambda now, number, _, year: _in_short_year(
        now, cycles.half_year(now, number), year
    ),
    "w NUM ,|of? YEAR": lambda now, number, year: _in_short_year(
        now, cycles.week_of_year(now, number), year
    ),
    "YEAR -? w NUM": lambda now, year, number: _in_short_year(
        now, cycles.week_of_year(now, number), year
    ),
    "in|during|for SAID_YEAR": lambda _, year: year,
    "HALF_YEAR NUM": lambda now, _, number: cycles.half_year(now, number),
    "the ORD quarter": cycles.quarter,
    "ORD quarter of": cycles.quarter,
    "DATE": cycles.numeric_date,
}

YEARS: Table = {
    "SURE_YEAR": cycles.year,
    "the? year SURE_YEAR": cycles.year,
    "fy|cy NUM": cycles.short_year,
    "YEAR -|/? MONTH": lambda now, year, month: combine.in_year(
        now, cycles.month(now, month), year
    ),
    "DAY -|/? MONTH -|/? YEAR": lambda now, day, month, year: cycles.numeric_date(
        now, (year, month, day)
    ),
    "YEAR -|/? MONTH -|/? DAY": lambda now, *numbers: cycles.numeric_date(now, numbers),
    "on YEAR NUM DAY": lambda now, *numbers: cycles.numeric_date(now, numbers),
    "MONTH_YEAR": combine.month_of_year,
    "YEAR -|,? CYCLE": lambda now, year, cycle: combine.in_year(now, cycle, year),
    "CYCLE -|,|/? of|in? the? year? YEAR": combine.in_year,
    "SURE_DECADE": cycles.decade,
    "the DECADE": cycles.decade,
    "the EDGE -? DECADE": _part_of_decade,
    "the? ORD -? century": cycles.century,
    "NUM -? DECADE": lambda now, century, years: cycles.decade(now, century * 100 + years),
}

# --- Recurring times, and workdays --------------------------------------------------------------


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
    "on|every WEEKDAYS": combine.every_weekday,
    "on WEEKDAYS and WEEKDAYS": combine.every_weekday,
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


# -- holidays -------------------------------------------------------------------------------------


def _named(finder: Finder, days: int = 1) -> Rule:
    rule = holiday(finder, days)
    return lambda now, *_words: rule(now)


_MON, _THU, _SUN = 0, 3, 6

_FINDERS: dict[str, Finder] = {
    "the? christmas|xmas day?": yearly(12, 25),
    "the? christmas|xmas eve": yearly(12, 24),
    "boxing day": yearly(12, 26),
    "new year 's day?": yearly(1, 1),
    "new year day": yearly(1, 1),
    "NEW year": yearly(1, 1),
    "the? chinese|lunar new year 's? day?": lambda year: lunar_day(year, 1, 1),
    "new years day?": yearly(1, 1),
    "new year 's? eve": yearly(12, 31),
    "new years eve": yearly(12, 31),
    "valentine 's? day?": yearly(2, 14),
    "valentines day?": yearly(2, 14),
    "halloween": yearly(10, 31),
    "juneteenth": yearly(6, 19),
    "independence day": yearly(7, 4),
    "veterans '? day": yearly(11, 11),
    "april fools '? day?": yearly(4, 1),
    "april fool 's day": yearly(4, 1),
    "earth day": yearly(4, 22),
    "st|saint .? patrick 's day": yearly(3, 17),
    "st|saint .? patricks day": yearly(3, 17),
    "cinco de mayo": yearly(5, 5),
    "thanksgiving day?": yearly_weekday(11, _THU, 4),
    "black friday": yearly_weekday(11, _THU, 4, later=1),
    "cyber monday": yearly_weekday(11, _THU, 4, later=4),
    "labor|labour day": yearly_weekday(9, _MON, 1),
    "memorial day": yearly_weekday(5, _MON, -1),
    "mlk day": yearly_weekday(1, _MON, 3),
    "martin luther king day": yearly_weekday(1, _MON, 3),
    "presidents '? day": yearly_weekday(2, _MON, 3),
    "columbus day": yearly_weekday(10, _MON, 2),
    "indigenous peoples '? day": yearly_weekday(10, _MON, 2),
    "remembrance day": yearly(11, 11),
    "women 's day": yearly(3, 8),
    "anzac day": yearly(4, 25),
    "canada day": yearly(7, 1),
    "mother 's day": yearly_weekday(5, _SUN, 2),
    "mothers '? day": yearly_weekday(5, _SUN, 2),
    "father 's day": yearly_weekday(6, _SUN, 3),
    "fathers '? day": yearly_weekday(6, _SUN, 3),
    "easter sunday?": from_easter(0),
    "easter monday": from_easter(1),
    "palm sunday": from_easter(-7),
    "ash wednesday": from_easter(-46),
    "pentecost sunday": from_easter(49),
    "good friday": from_easter(-2),
}

FEASTS: Table = {
    several: lambda now, named=named: {"FEASTS": named(now)}
    for several, named in (
        ("christmases", holiday(yearly(12, 25))),
        ("halloweens", holiday(yearly(10, 31))),
        ("thanksgivings", holiday(yearly_weekday(11, _THU, 4))),
        ("easters", holiday(from_easter(0))),
    )
}
"""Holidays that are counted: "two Christmases ago"."""

_OVER = "over|during|throughout"
_DAYS_OFF = "the? christmas|xmas holidays|holiday|break|vacation|period"

HOLIDAYS: Table = {
    **{pattern: _named(finder) for pattern, finder in _FINDERS.items()},
    **dict.fromkeys((_DAYS_OFF, f"{_OVER} {_DAYS_OFF}"), _named(yearly(12, 24), days=9)),
    f"{_OVER} the? christmas|xmas": _named(yearly(12, 24), days=4),
    f"{_OVER} the? christmas|xmas eve": _named(yearly(12, 24)),
}
