"""The holidays of English speakers, each with the function that gives its day in a year."""

from recall_retrievers.timeline.engine.calendar_math import (
    Finder,
    from_easter,
    yearly,
    yearly_weekday,
)
from recall_retrievers.timeline.engine.grammar import Rule, Table
from recall_retrievers.timeline.engine.lunar import lunar_day
from recall_retrievers.timeline.meanings.cycles import holiday


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
