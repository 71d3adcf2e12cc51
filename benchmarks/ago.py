"""What "two weeks ago" may mean: the day itself, or the calendar unit that holds it."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta

_NUMBERS = {
    **dict.fromkeys(("a", "an", "one", "一"), 1),
    **dict.fromkeys(("two", "a couple of", "二", "两", "兩"), 2),
    **dict(
        zip(
            ("three", "four", "five", "six", "seven", "eight", "nine", "ten"),
            range(3, 11),
            strict=True,
        )
    ),
    **dict(zip("三四五六七八九十", range(3, 11), strict=True)),
}
_UNITS = {"周": "week", "週": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_ENGLISH = re.compile(
    rf"\b(\d{{1,2}}|{'|'.join(word for word in _NUMBERS if word.isascii())})"
    r"\s+(week|month|year)s?\s+ago\b",
    re.IGNORECASE,
)
# Not "2015年前" (before 2015), and not "5年前半" (the first half).
_CHINESE = re.compile(
    r"(?<!\d)([1-9]\d?|[一二两兩三四五六七八九十])\s*[个個]?\s*(周|週|星期|礼拜|月|年)[之以]?前(?!半|\d)"
)


def ago_days(text: str, today: date) -> Iterator[tuple[date, date]]:
    """First and last day of each reading, for every "N weeks/months/years ago" in a text.

    Examples:
        >>> [[str(day) for day in days] for days in ago_days("a week ago", date(2024, 3, 15))]
        [['2024-03-08', '2024-03-08'], ['2024-03-04', '2024-03-10']]
    """
    for number, unit in [*_ENGLISH.findall(text), *_CHINESE.findall(text)]:
        count = int(number) if number.isdigit() else _NUMBERS[number.lower()]
        unit_name = _UNITS.get(unit, unit.lower())
        day = _back(today, count, unit_name)
        yield day, day
        yield _unit_of(day, unit_name)


def _back(today: date, count: int, unit: str) -> date:
    if unit == "week":
        return today - timedelta(weeks=count)
    months = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
    year, month = months // 12, months % 12 + 1
    return date(year, month, min(today.day, monthrange(year, month)[1]))


def _unit_of(day: date, unit: str) -> tuple[date, date]:
    if unit == "week":
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=6)
    if unit == "month":
        return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])
    return date(day.year, 1, 1), date(day.year, 12, 31)
