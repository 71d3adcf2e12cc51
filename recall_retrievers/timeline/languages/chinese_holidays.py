"""The holidays of Chinese speakers, and the days off and school holidays around them."""

from datetime import datetime

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.lunar import lunar_day, lunar_month, solar_term
from recall_retrievers.timeline.grammar.reading import Cycle, Reading
from recall_retrievers.timeline.recurrence import Recurrence

_FIXED: dict[str, tuple[int, int]] = {
    "元旦 元旦节 新年 阳历年": (1, 1),
    "情人节": (2, 14),
    "妇女节 三八节 女神节": (3, 8),
    "白色情人节": (3, 14),
    "植树节": (3, 12),
    "愚人节": (4, 1),
    "劳动节 五一 五一节 五一劳动节": (5, 1),
    "青年节 五四青年节": (5, 4),
    "儿童节 六一 六一节 六一儿童节": (6, 1),
    "建党节": (7, 1),
    "建军节": (8, 1),
    "教师节": (9, 10),
    "国庆节 国庆 十一国庆": (10, 1),
    "万圣节 万圣节前夜": (10, 31),
    "双十一 双11 光棍节": (11, 11),
    "双十二 双12": (12, 12),
    "平安夜 圣诞前夜 圣诞夜 圣诞前夕": (12, 24),
    "圣诞节 圣诞": (12, 25),
    "跨年 跨年夜": (12, 31),
}
_LUNAR: dict[str, tuple[int, int]] = {
    "春节 大年初一 过年 农历新年 中国新年 农历年": (1, 1),
    "元宵节 元宵": (1, 15),
    "龙抬头": (2, 2),
    "端午节 端午 端阳节": (5, 5),
    "七夕 七夕节": (7, 7),
    "中元节": (7, 15),
    "中秋节 中秋": (8, 15),
    "重阳节 重阳": (9, 9),
    "腊八节 腊八": (12, 8),
}
_TERMS: dict[str, int] = {  # degrees of the sun
    "立春": 315, "春分": 0, "清明节 清明": 15, "立夏": 45, "夏至": 90, "立秋": 135, "秋分": 180,
    "立冬": 225, "冬至": 270,
}  # fmt: skip


def _lunar(month: int, day: int) -> cal.Finder:
    return lambda year: lunar_day(year, month, day)


def _term(longitude: int) -> cal.Finder:
    return lambda year: solar_term(year, longitude)


def _new_years_eve(year: int) -> datetime:
    return lunar_day(year, 1, 1) - cal.DAY


def _little_new_year(year: int) -> datetime:
    # A week before Spring Festival; in the South a day later.
    return lunar_day(year - 1, 12, 23)


_MOVABLE: dict[str, cal.Finder] = {
    "母亲节": cal.yearly_weekday(5, 6, 2),
    "父亲节": cal.yearly_weekday(6, 6, 3),
    "感恩节": cal.yearly_weekday(11, 3, 4),
    "黑色星期五 黑五": cal.yearly_weekday(11, 3, 4, later=1),
    "复活节": cal.easter,
    "除夕 除夕夜 年三十 大年三十 大年夜": _new_years_eve,
    "小年": _little_new_year,
    **{names: _lunar(*date) for names, date in _LUNAR.items()},
    **{names: _term(longitude) for names, longitude in _TERMS.items()},
}

# Days off: how many, and how long before the holiday they begin.
_DAYS_OFF = {"国庆": (7, 0), "五一": (5, 0), "春节": (8, 1), "元旦": (3, 0), "清明": (3, 1),
             "端午": (3, 0), "中秋": (3, 0), "过年": (8, 1)}  # fmt: skip


def _holiday(
    find: cal.Finder, off: tuple[int, int] | None = None, fields: Recurrence | None = None
) -> Cycle:
    """A holiday's day; or the days off around it, where there are any."""

    def at(start: datetime) -> Reading:
        day = _day(find(start.year))
        return day.or_else(_days_off(find, off, start)) if off else day

    return Cycle("year", "day", at, fields=fields)


def _period(find: cal.Finder, off: tuple[int, int]) -> Cycle:
    """The days off: 国庆假期; or the day of the holiday."""

    def at(start: datetime) -> Reading:
        return _days_off(find, off, start).or_else(_day(find(start.year)))

    return Cycle("year", "day", at)


def _days_off(find: cal.Finder, off: tuple[int, int], start: datetime) -> Reading:
    days, before = off
    first = find(start.year) - cal.DAY * before
    return Reading(first, first + cal.DAY * days, "day")


def _day(start: datetime) -> Reading:
    return Reading(start, start + cal.DAY, "day")


def lunar_date(month: int, day: int, *, leap: bool = False) -> Cycle:
    """A day of the Chinese calendar: 正月初三."""
    return Cycle("year", "day", lambda start: _day(lunar_day(start.year, month, day, leap=leap)))


def lunar_months(month: int, *, leap: bool = False) -> Cycle:
    """A month of the Chinese calendar: 腊月."""
    return Cycle(
        "year",
        "month",
        lambda start: Reading(*lunar_month(start.year, month, leap=leap), "month"),
    )


def _winter_holidays(year: datetime) -> Reading:
    """Three weeks before Spring Festival to the Lantern Festival, roughly what schools do."""
    spring = lunar_day(year.year, 1, 1)
    return Reading(spring - cal.DAY * 21, spring + cal.DAY * 15, "season")


def _summer_holidays(year: datetime) -> Reading:
    """School is out in July and August."""
    return Reading(cal.day_of(year.year, 7, 1), cal.day_of(year.year, 9, 1), "season")


def _cycles() -> dict[object, str]:
    """Every holiday, and the days off around it, with their names."""
    found: dict[object, str] = {
        Cycle("year", "season", _summer_holidays): "暑假",
        Cycle("year", "season", _winter_holidays): "寒假",
    }
    for names, date in _FIXED.items():
        month, day = date
        fields = Recurrence(months=frozenset({month}), days=frozenset({day}))
        found |= _with_days_off(names, cal.yearly(month, day), fields)
    for names, find in _MOVABLE.items():
        found |= _with_days_off(names, find)
    return found


def _with_days_off(
    names: str, find: cal.Finder, fields: Recurrence | None = None
) -> dict[object, str]:
    off = next((off for name, off in _DAYS_OFF.items() if name in names.split()), None)
    found: dict[object, str] = {_holiday(find, off, fields): names}
    if off:
        around = [name + ending for name in names.split() for ending in _ENDINGS]
        if "国庆" in names:  # 十一 alone is eleven
            around += [f"十一{ending}" for ending in _ENDINGS]
        found[_period(find, off)] = " ".join(around)
    return found


_ENDINGS = ("假期", "长假", "小长假", "黄金周", "放假")

HOLIDAYS = _cycles()
