"""English dates: days of months, quarters, years and decades."""

from __future__ import annotations

from recall_stages.timeline.engine.grammar import Table
from recall_stages.timeline.engine.reading import Now, When
from recall_stages.timeline.meanings import combine, cycles, subdivide


def _part_of_decade(now: Now, edge: int, years: int) -> When | None:
    """The late nineties."""
    whole = cycles.decade(now, years)
    return whole and subdivide.third(now, edge, whole)


DATES: Table = {
    "MONTH": cycles.month,
    "MONTH .|,|/|-? the? DAY": cycles.month_day,
    "the? DAY day? of|/|-? the? MONTH": lambda now, day, month: cycles.month_day(now, month, day),
    "MONTH .? the? DAY -|to|through|thru|until|till the? DAY": cycles.days_of_month,
    "the? DAY and|or|&|, the? DAY of? MONTH": lambda now, one, other, month: cycles.two_days(
        now, month, one, other
    ),
    "MONTH the? DAY and|or|& the? DAY": cycles.two_days,
    "between the? DAY and the? DAY of? MONTH": lambda now, first, final, month: (
        cycles.days_of_month(now, month, first, final)
    ),
    "SLASHED of? MONTH": lambda now, days, month: cycles.two_days(now, month, *days),
    "MONTH SLASHED": lambda now, month, days: cycles.two_days(now, month, *days),
    "WEEKDAY ,? the? MONTHDAY": lambda now, weekday, day: cycles.day_of_month(now, day, weekday),
    "the? MONTHDAY": cycles.day_of_month,
    "SLASHED": cycles.slashed,
    "SEASON": cycles.season,
    "q NUM": cycles.quarter,
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
