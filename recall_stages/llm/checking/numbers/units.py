"""Units: a number with one is told in the smallest unit of its kind, half an hour in minutes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from recall_stages.timeline.chinese.numbers import NUMERALS

Found = Iterator[tuple[str, bool]]
"""Numbers as names, and whether a sentence that has the number needs a memory that has it."""

HAN = f"[{''.join(sorted(NUMERALS))}]"

_NAMES = """
    second 1 second seconds sec 秒 秒钟
    minute 1 minute minutes min mins 分钟
    minute 60 hour hours hr hrs 小时 钟头
    minute 1440 day days 天
    minute 10080 week weeks 周 星期 礼拜
    minute 20160 fortnight fortnights
    night 1 night nights 晚
    month 1 month months 月
    month 12 year years 年
    km 1 kilometer kilometers kilometre kilometres km 公里
    mile 1 mile miles 英里
    kg 1 kilogram kilograms kilo kilos kg 公斤 千克
    lb 1 pound pounds lb lbs 磅
    dollar 1 dollar dollars usd 美元
    euro 1 euro euros eur 欧元
    yuan 1 yuan rmb 元 块
    percent 1 percent %
"""
UNITS = {
    name: (base, int(factor))
    for base, factor, *names in map(str.split, _NAMES.strip().splitlines())
    for name in names
}
"""The kind of each unit, and how many of the smallest it is."""

_UNIT = (
    "(?:个)?(?P<unit>[A-Za-z]+|%|"
    + "|".join(sorted((unit for unit in UNITS if not unit.isascii()), key=len, reverse=True))
    + ")"
)
_BEHIND = (
    re.compile(rf"[\s-]{{0,2}}{_UNIT}"),
    re.compile(  # "2 to 3 days", "10-15 minutes"
        rf"\s?(?:to|or|[-–~到至或])\s?(?:\d+(?:\.\d+)?|[a-z]+|{HAN}+)[\s-]?{_UNIT}"
    ),
)


def measured(value: Fraction, behind: str, *, needed: bool) -> Found:
    """A number with the unit that stands behind it, or bare.

    Examples:
        >>> list(measured(Fraction(2), " weeks", needed=True))
        [('20160 minute', True)]
        >>> list(measured(Fraction(2), " to 3 days", needed=True))
        [('2880 minute', True)]
    """
    found = [match["unit"].lower() for each in _BEHIND if (match := each.match(behind))]
    unit = next((UNITS[name] for name in found if name in UNITS), None)
    if unit is None or (unit[0] == "month" and 1900 <= value < 2100):  # 2023年 is no length
        yield str(value), needed
    else:
        yield f"{value * unit[1]} {unit[0]}", needed
