"""Chinese dates, of the civil and of the lunar calendar.

`patterns` joins the tables; `engine.grammar` explains how a pattern is written.
"""

from dataclasses import replace
from datetime import datetime

from recall_retrievers.timeline.chinese.holidays import lunar_date, lunar_months
from recall_retrievers.timeline.grammar.engine import Table
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading
from recall_retrievers.timeline.meanings import combine, cycles, ranges, relative, subdivide

# --- Years ---------------------------------------------------------------------------------------


def _short_year(now: Now, number: int, cycle: Cycle | None = None) -> Reading | None:
    if not 0 <= number < 100:
        return None
    full = cycles.full_year(now, number)
    return combine.in_year(now, cycle, full) if cycle else cycles.year(now, full)


def _years(now: Now, first: int, last: int) -> Reading | None:
    return ranges.join(now, cycles.year(now, first), cycles.year(now, last))


def _short_years(now: Now, first: int, last: int) -> Reading | None:
    """从18年到20年."""
    if not 10 <= first < 100 or not 10 <= last < 100:
        return None
    return _years(now, cycles.full_year(now, first), cycles.full_year(now, last))


def _decade_of(now: Now, century: int, number: int) -> Reading | None:
    return cycles.decade(now, century * 100 - 100 + number) if 0 <= number < 100 else None


def _decades(now: Now, numbers: tuple[int, int]) -> Reading | None:
    """八九十年代: the eighties and the nineties."""
    first, last = (cycles.decade(now, number) for number in numbers)
    return ranges.join(now, first, last) if first and last else None


def _present_century(now: Now, offset: int) -> int:
    return now.moment.year // 100 + 1 + offset


def year_of(now: Now, amount: Duration, cycle: Cycle) -> Reading | None:
    """22年春节, where 22年 was read as an amount."""
    ((number, unit), *more) = amount.parts
    if more or unit != "year" or number < 10:
        return None
    return _short_year(now, number, cycle)


# --- Months and days -----------------------------------------------------------------------------


def _months(now: Now, first: int, last: int) -> Reading | None:
    return ranges.join(now, cycles.month(now, first), cycles.month(now, last))


def _days(now: Now, first: int, last: int) -> Reading | None:
    return ranges.join(now, cycles.day_of_month(now, first), cycles.day_of_month(now, last))


def _days_over_months(now: Now, *numbers: int) -> Reading | None:
    """6月28日到7月2日, of one year where it can be."""
    first, last = (cycles.month_day(now, *numbers[n : n + 2]) for n in (0, 2))
    return ranges.join(now, first, last) if first and last else None


def _lunar_or_civil(now: Now, month: int, day: int) -> Cycle | None:
    """八月十五 is 15 August; or Mid-Autumn, of the Chinese calendar."""
    return _either(cycles.month_day(now, month, day), lunar_date(month, day))


def _either(first: Cycle | None, second: Cycle) -> Cycle | None:
    """One date, or the other of the same year where there is one."""
    if first is None:
        return None
    one = first

    def at(year: datetime) -> Reading | None:
        try:
            other = second.at(year)
        except ValueError:
            return one.at(year)
        try:
            reading = one.at(year)
        except ValueError:
            return other
        return reading and reading.or_else(other)

    return replace(one, at=at)


def _first_month(now: Now, day: int | None = None) -> Cycle | None:
    """正月: the first month of the Chinese calendar; or January."""
    if day is None:
        return _either(lunar_months(1), cycles.month(now, 1))
    civil = cycles.month_day(now, 1, day)
    return civil and _either(lunar_date(1, day), civil)


def _of_lunar_month(now: Now, month: int, day: int | None = None) -> Cycle | None:
    if month == 1:
        return _first_month(now, day)
    return lunar_months(month) if day is None else lunar_date(month, day)


def _day(now: Now, offset: int) -> Reading | dict[str, object]:
    """昨天; today can be said of another year: 去年今天."""
    reading = relative.day(now, offset)
    return reading if offset else {Reading.KIND: reading, "TODAY": None}


DATES: Table = {
    "NUM 月|月份": cycles.month,
    "ABOUT 月|月份": lambda now, about: _months(now, *about),
    "NUM MONTH_THIRD": lambda now, number, which: subdivide.third(
        now, which, cycles.month(now, number)
    ),
    "NUM 月 NUM 日|号?": cycles.month_day,
    "HAN 月 HAN": _lunar_or_civil,
    "NUM 月 NUM 日|号? 到|至|- NUM 日|号": cycles.days_of_month,
    "NUM 到|至|- NUM 月 份?": _months,
    "DAY 日|号": cycles.day_of_month,
    "ABOUT 日|号": lambda now, about: _days(now, *about),
    "DAY 日|号 到|至|- DAY 日|号": _days,
    "DAY 到|至|- DAY 日|号": _days,
    "YEAR 年|年度": cycles.year,
    "= YEAR": cycles.year,
    "YEAR CYCLE": lambda now, number, cycle: combine.in_year(now, cycle, number),
    "SHORT_YEAR 年": _short_year,
    "NUM 年 CYCLE": _short_year,
    "NUM YEAR_THIRD": lambda now, number, which: (
        (whole := _short_year(now, number)) and subdivide.third(now, which, whole)
    ),
    "YEAR YEAR_THIRD": lambda now, number, which: subdivide.third(
        now, which, cycles.year(now, number)
    ),
    "在|于 LATE_YEAR 年": _short_year,
    "LATE_YEAR 年 NUM 月": lambda now, number, month: _short_year(
        now, number, cycles.month(now, month)
    ),
    "LATE_YEAR 年 NUM 月 NUM 日|号?": lambda now, number, *month_day: _short_year(
        now, number, cycles.month_day(now, *month_day)
    ),
    "LATE_YEAR 年 到|至|- LATE_YEAR 年": _short_years,
    "YEAR 年? -|到|至 YEAR 年": _years,
    "民国 NUM 年": lambda now, number: cycles.year(now, 1911 + number) if number < 200 else None,
    "NUM 世纪": cycles.century,
    "上 个? 世纪": lambda now: cycles.century(now, _present_century(now, -1)),
    "本|这 个? 世纪": lambda now: cycles.century(now, _present_century(now, 0)),
    "NUM|SHORT_YEAR|YEAR 年代": cycles.decade,
    "ABOUT 年代": _decades,
    "NUM 世纪 NUM 年代": _decade_of,
    "上 个? 世纪 NUM 年代": lambda now, number: _decade_of(now, _present_century(now, -1), number),
    "本 世纪 NUM 年代": lambda now, number: _decade_of(now, _present_century(now, 0), number),
    "DATE": cycles.numeric_date,
    "MONTH_YEAR": combine.month_of_year,
    "在|从|到|于|自 SLASHED": cycles.slashed,
    "SLASHED 那天|这天|当天|日|号": cycles.slashed,
    "第? NUM 个? 季度": cycles.quarter,
    "首 季度": lambda now: cycles.quarter(now, 1),
    "q NUM": cycles.quarter,
    "HALF 年": cycles.half_year,
    "SEASON": lambda now, number: replace(cycles.season(now, number), alone=False),
    "在 SEASON": cycles.season,
    "SEASON 的时候|期间|里": cycles.season,
    "THIS_SEASON": lambda now, number: combine.this(now, cycles.season(now, number)),
    "PART": cycles.part_of_day,
    "YEARWORD": lambda now, offset: relative.unit(now, offset, "year"),
    "DAYWORD": _day,
    "DAYPART": lambda now, day_part: combine.part_of_day(now, *day_part),
    "NIGHT": relative.night,
}

LUNAR: Table = {
    "农历|阴历|旧历? LUNAR_MONTH": _of_lunar_month,
    "农历|阴历|旧历? LUNAR_MONTH NUM|LUNAR_DAY": _of_lunar_month,
    "大年 LUNAR_DAY": lambda _, day: lunar_date(1, day),
    "农历|阴历|旧历? NUM 月 LUNAR_DAY": lambda _, month, day: lunar_date(month, day),
    "农历|阴历|旧历 NUM 月 NUM 日|号?": lambda _, month, day: lunar_date(month, day),
    "农历|阴历|旧历 NUM 月": lambda _, month: lunar_months(month),
    "农历|阴历|旧历? 闰 NUM 月": lambda _, month: lunar_months(month, leap=True),
    "农历|阴历|旧历? 闰 NUM 月 NUM|LUNAR_DAY": lambda _, month, day: lunar_date(
        month, day, leap=True
    ),
    "农历|阴历|旧历 TIME 年? CYCLE": combine.side_by_side,
}
