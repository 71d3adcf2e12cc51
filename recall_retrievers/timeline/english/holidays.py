"""The holidays of English speakers, each with the function that gives its day in a year."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from recall_retrievers.timeline.engine import calendar_math as cal
from recall_retrievers.timeline.engine.grammar import Rule, Table
from recall_retrievers.timeline.engine.lunar import lunar_day
from recall_retrievers.timeline.meanings.cycles import holiday

Finder = Callable[[int], datetime]


def _fixed(month: int, day: int) -> Finder:
    return lambda year: cal.day_of(year, month, day)


def _nth(month: int, weekday: int, count: int, later: int = 0) -> Finder:
    return lambda year: cal.nth_weekday(year, month, weekday, count) + cal.DAY * later


def _easter(later: int) -> Finder:
    return lambda year: cal.easter(year) + cal.DAY * later


def _named(finder: Finder, days: int = 1) -> Rule:
    rule = holiday(finder, days)
    return lambda now, *_words: rule(now)


_MON, _THU, _SUN = 0, 3, 6

_FINDERS: dict[str, Finder] = {
    "the? christmas|xmas day?": _fixed(12, 25),
    "the? christmas|xmas eve": _fixed(12, 24),
    "boxing day": _fixed(12, 26),
    "new year 's day?": _fixed(1, 1),
    "new year day": _fixed(1, 1),
    "NEW year": _fixed(1, 1),
    "the? chinese|lunar new year 's? day?": lambda year: lunar_day(year, 1, 1),
    "new years day?": _fixed(1, 1),
    "new year 's? eve": _fixed(12, 31),
    "new years eve": _fixed(12, 31),
    "valentine 's? day?": _fixed(2, 14),
    "valentines day?": _fixed(2, 14),
    "halloween": _fixed(10, 31),
    "juneteenth": _fixed(6, 19),
    "independence day": _fixed(7, 4),
    "veterans '? day": _fixed(11, 11),
    "april fools '? day?": _fixed(4, 1),
    "april fool 's day": _fixed(4, 1),
    "earth day": _fixed(4, 22),
    "st|saint .? patrick 's day": _fixed(3, 17),
    "st|saint .? patricks day": _fixed(3, 17),
    "cinco de mayo": _fixed(5, 5),
    "thanksgiving day?": _nth(11, _THU, 4),
    "black friday": _nth(11, _THU, 4, later=1),
    "cyber monday": _nth(11, _THU, 4, later=4),
    "labor|labour day": _nth(9, _MON, 1),
    "memorial day": _nth(5, _MON, -1),
    "mlk day": _nth(1, _MON, 3),
    "martin luther king day": _nth(1, _MON, 3),
    "presidents '? day": _nth(2, _MON, 3),
    "columbus day": _nth(10, _MON, 2),
    "indigenous peoples '? day": _nth(10, _MON, 2),
    "remembrance day": _fixed(11, 11),
    "women 's day": _fixed(3, 8),
    "anzac day": _fixed(4, 25),
    "canada day": _fixed(7, 1),
    "mother 's day": _nth(5, _SUN, 2),
    "mothers '? day": _nth(5, _SUN, 2),
    "father 's day": _nth(6, _SUN, 3),
    "fathers '? day": _nth(6, _SUN, 3),
    "easter sunday?": _easter(0),
    "easter monday": _easter(1),
    "palm sunday": _easter(-7),
    "ash wednesday": _easter(-46),
    "pentecost sunday": _easter(49),
    "good friday": _easter(-2),
}

FEASTS: Table = {
    several: lambda now, named=named: {"FEASTS": named(now)}
    for several, named in (
        ("christmases", holiday(_fixed(12, 25))),
        ("halloweens", holiday(_fixed(10, 31))),
        ("thanksgivings", holiday(_nth(11, _THU, 4))),
        ("easters", holiday(_easter(0))),
    )
}
"""Holidays that are counted: "two Christmases ago"."""

HOLIDAYS: Table = {
    **{pattern: _named(finder) for pattern, finder in _FINDERS.items()},
    "the? christmas|xmas holidays|holiday|break|vacation|period": _named(_fixed(12, 24), days=9),
}
