"""Chinese: the patterns of time expressions, each with the function that says what it means.

To teach it an expression, add a line to a table; `grammar.py` says how a pattern is written. The
grammar is our own: no small library reads Chinese questions (jionlp brings 218 MB and compiles C,
dateparser reads one question in six), and the meanings are the ones that English uses.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from recall_stages.timeline import clock, counted, cycles, parts, ranges, together
from recall_stages.timeline.chinese_holidays import HOLIDAYS
from recall_stages.timeline.chinese_lexer import tokenize
from recall_stages.timeline.grammar import Found, Grammar, Table, readings, settle
from recall_stages.timeline.reading import Cycle, Duration, Now, Reading, When
from recall_stages.timeline.time_range import Grain


def read(text: str, now: Now) -> list[Found]:
    """Every time expression of a Chinese text, with where it stands."""
    found: list[Found] = []
    for tokens in tokenize(text, _KNOWN):
        for grammar in (_ATOMS, _PHRASES, _RANGES):
            grammar.rewrite(tokens, now)
        settle(tokens, now)
        _LEADS.rewrite(tokens, now)
        found += readings(tokens)
    return found


# --- Amounts and hours ---------------------------------------------------------------------------


def _amount(_: Now, count: int, unit: Grain) -> Duration | None:
    return Duration(((count, unit),)) if count < 1000 else None  # 2015年 is no amount


def _about(low: int, high: int, unit: Grain) -> Duration:
    return Duration(((low, unit),), (0, high - low))


def _and_a_half(_: Now, count: int, unit: Grain) -> Duration | None:
    half = counted.HALVES.get(unit)
    return half and Duration((*([(count, unit)] if count else []), (half[1], half[0])))


AMOUNTS: Table = {
    "NUM 个? UNIT": _amount,
    "NUM 个? 多 UNIT": _amount,
    "NUM 个? UNIT 多": _amount,
    "ABOUT 个? UNIT": lambda _, about, unit: _about(about[0], about[1], unit),
    "好? 几 个? UNIT": lambda _, unit: _about(2, 5, unit),
    "半 个? UNIT": lambda now, unit: _and_a_half(now, 0, unit),
    "NUM 个? UNIT 半": _and_a_half,
    "NUM 个 半 UNIT": _and_a_half,
    "DURATION 零|又? DURATION": lambda _, one, other: Duration(one.parts + other.parts),
}


def _said(_: Now, hour: int, minute: int = 0) -> dict[str, object] | None:
    found = clock.clock(hour, minute)
    return {"CLOCK": found} if found else None


CLOCKS: Table = {
    "NUM 点|时 钟|整?": _said,
    "NUM 点|时 NUM 分?": _said,
    "NUM 点 半": lambda now, hour: _said(now, hour, 30),
    "HM": lambda now, time: _said(now, *time[:2]),
    "CLOCK 到|至|- CLOCK": clock.between,
}

# --- Dates ---------------------------------------------------------------------------------------


def _full_year(now: Now, number: int) -> int | None:
    """07 is 2007 and 98 is 1998: not more than a few years ahead."""
    if not 0 <= number < 100:
        return None
    century = now.moment.year // 100 * 100
    return century + number - (100 if century + number > now.moment.year + 10 else 0)


def _short_year(now: Now, number: int, cycle: Cycle | None = None) -> Reading | None:
    full = _full_year(now, number)
    if full is None:
        return None
    return together.in_year(now, cycle, full) if cycle else cycles.year(now, full)


DATES: Table = {
    "NUM 月|月份": cycles.month,
    "NUM MONTH_THIRD": lambda now, number, which: parts.third(
        now, which, cycles.month(now, number)
    ),
    "NUM 月 NUM 日|号?": cycles.month_day,
    "NUM 月 NUM 日|号? 到|至|- NUM 日|号": cycles.days_of_month,
    "NUM 到|至|- NUM 月 份?": lambda now, *months: ranges.join(
        now, *(cycles.month(now, month) for month in months)
    ),
    "DAY 日|号": cycles.day_of_month,
    "YEAR 年": cycles.year,
    "= YEAR": cycles.year,
    "SHORT_YEAR 年": _short_year,
    "NUM 年 CYCLE": _short_year,
    "YEAR -|到|至 YEAR 年": lambda now, *years: ranges.join(
        now, *(cycles.year(now, year) for year in years)
    ),
    "上世纪? NUM|SHORT_YEAR|YEAR 年代": cycles.decade,
    "DATE": cycles.numeric_date,
    "MONTH_YEAR": together.month_of_year,
    "第? NUM 季度": cycles.quarter,
    "Q|q NUM": cycles.quarter,
    "HALF 年": cycles.half_year,
    "SEASON": lambda now, number: replace(cycles.season(now, number), alone=False),
    "PART": cycles.part_of_day,
    "YEARWORD": lambda now, offset: now.unit("year", offset),
    "DAYWORD": counted.day,
    "DAYPART": lambda now, said: together.combine(
        now, counted.day(now, said[0]), cycles.part_of_day(now, said[1])
    ),
    "NIGHT": counted.night,
}

# --- Words around a date -------------------------------------------------------------------------


def _counted(now: Now, offset: int, amount: Duration) -> Reading | None:
    """这一周 is this week, 上两周 the last two and 这三天 the past three days."""
    if amount.spread == (0, 0) and len(amount.parts) == 1 and amount.parts[0][0] == 1:
        return counted.unit(now, offset, amount.unit)
    return counted.ahead(now, amount) if offset > 0 else counted.rolling(now, amount)


def _weekday_of(now: Now, offset: int, weekday: int) -> When | None:
    """上周二: the Tuesday of the previous calendar week."""
    return together.combine(now, now.unit("week", offset), cycles.weekday(now, weekday))


def _beside(now: Now, when: When, sign: int, amount: Duration) -> When | None:
    """国庆节前两天 lies before the day; 去年的前十天 is a part of the year."""
    if when.grain == "day":
        return parts.amount_beside(now, amount, when, sign)
    return parts.first_of(now, amount, when) if sign < 0 else None


def _third_of(now: Now, when: When, which: int) -> When | None:
    return parts.third(now, which, when) if when.grain in ("month", "decade", "week") else None


def _year_third(now: Now, which: int, when: When | None = None) -> When | None:
    whole = when or now.unit("year")
    return parts.third(now, which, whole) if whole.grain == "year" else None


def _month_third(now: Now, which: int, when: When | None = None) -> When | None:
    if when is None:
        every_month = Cycle("month", "month", lambda start: now.unit_at("month", start))
        return parts.third(now, which, every_month)
    return parts.third(now, which, when) if when.grain == "month" else None


def _relative_cycle(now: Now, offset: int, cycle: Cycle) -> Reading | None:
    """上个夏天, 这个夏天, 下个国庆节."""
    if offset == 0:
        return together.this(now, cycle)
    return together.coming(now, cycle) if offset > 0 else together.last_but(now, -offset, cycle)


RELATIVE: Table = {
    "REL 个? PERIOD": counted.unit,
    "REL DURATION": _counted,
    "REL 个? WEEKDAY": _weekday_of,
    "REL 个? CYCLE": _relative_cycle,
    "周末": lambda now: counted.unit(now, 0, "weekend"),
    "WEEKDAY": cycles.weekday,
    "DURATION 前|以前|之前": counted.ago,
    "NUM 日 前|以前|之前": lambda now, count: counted.ago(now, Duration(((count, "day"),))),
    "DURATION 后|以后|之后": partial(counted.ago, sign=1),
    "前 几 UNIT": lambda now, unit: counted.ago(now, _about(2, 5, unit)),
    "未来|今后|接下来|往后 的? DURATION": counted.ahead,
    "第 NUM 个? UNIT": lambda _, count, unit: {"NTH": (count, unit)},
    "最后 NUM 个? UNIT": lambda _, count, unit: {"NTH": (-1, unit)} if count == 1 else None,
    "第 NUM 个 周末": lambda _, count: {"NTH": (count, "weekend")},
    "第 NUM 个 WEEKDAY": lambda _, *nth: {"NTH_WEEKDAY": nth},
    "最后 NUM 个 WEEKDAY": lambda _, _count, weekday: {"NTH_WEEKDAY": (-1, weekday)},
    "每 个? WEEKDAY": lambda now, weekday: together.every(now, cycles.weekday(now, weekday)),
    "每 个? 周末": lambda now: together.every(now, cycles.weekends(now)),
    "每年|每月|每到|每逢|每天|每日 的? CYCLE": together.every,
    "每 年|月|到|逢|天|日 的? CYCLE": together.every,
    "每晚": lambda now: together.every(now, cycles.part_of_day(now, (18, 24))),
    "每早": lambda now: together.every(now, cycles.part_of_day(now, (5, 12))),
}


_WHEN = "CYCLE|TIME"

PHRASES: Table = {
    "最近|近来|近日|近期|这阵子|这段时间|这些天|这些日子": counted.soft(30),
    "前阵子|前段时间|前一阵|前些日子|前些天|不久前|前不久|刚刚|刚才": counted.soft(30),
    "很久|多年|好久 以前|之前|前": counted.long_ago,
    "过去|最近|近|前|之前|刚过去 的? 这? DURATION 里|内|间|以来|来?": counted.rolling,
    "YEAR_THIRD": _year_third,
    "MONTH_THIRD": _month_third,
    "CLOCK": clock.at,
    f"{_WHEN} ,|的|-? {_WHEN}": together.combine,
    f"{_WHEN} SHORT_PART": lambda now, when, ends: together.combine(
        now, when, cycles.part_of_day(now, ends)
    ),
    f"{_WHEN} 的? THIRD": _third_of,
    f"{_WHEN} 的? YEAR_THIRD": lambda now, when, which: _year_third(now, which, when),
    f"{_WHEN} 的? MONTH_THIRD": lambda now, when, which: _month_third(now, which, when),
    f"{_WHEN} 的? NTH": lambda now, when, nth: parts.nth_unit(now, nth[0], nth[1], when),
    f"{_WHEN} 的? NTH_WEEKDAY": lambda now, when, nth: parts.nth_occurrence(
        now, nth[0], cycles.weekday(now, nth[1]), when
    ),
    f"{_WHEN} 的? 前|头 DURATION": lambda now, when, amount: _beside(now, when, -1, amount),
    f"{_WHEN} 的? 后|之后|过后 DURATION": lambda now, when, amount: _beside(now, when, 1, amount),
    f"{_WHEN} 的? 那|这|当 NUM? 周|星期|礼拜": lambda now, when, *_: parts.unit_of(
        now, "week", when
    ),
    f"{_WHEN} 的? 那|这|当 个? 周末": lambda now, when: parts.unit_of(now, "weekend", when),
    f"{_WHEN} 的? 那|这|当 天|日|年": lambda _, when: when,
    f"{_WHEN} 期间|假期|长假|的时候": lambda _, when: when,
}

# --- Two ends, or one ----------------------------------------------------------------------------

RANGES: Table = {
    f"从|自|在? {_WHEN} 到|至|- {_WHEN} 止|为止|期间?": ranges.join,
    f"在? {_WHEN} 和|与|跟|到|至 {_WHEN} 之间|间|中间|期间": ranges.join,
    f"从|自|打? {_WHEN} 以来|至今|到现在|到今天为止|开始到现在": ranges.up_to_now,
    f"从|自|打? {_WHEN} 起|开始": ranges.onwards,
    f"包括? {_WHEN} 或|及 以后|之后": ranges.onwards,
    f"包括? {_WHEN} 或|及 以前|之前": ranges.until,
    f"{_WHEN} 以后|之后|后|过后": ranges.after,
    f"{_WHEN} 以前|之前|前": ranges.before,
    f"截至|截止|直到|到 {_WHEN} 为止?": ranges.until,
}

LEADS: Table = {"在|于|从|自|到|就是|的 TIME": lambda _, when: when}

_ATOMS = Grammar(AMOUNTS, CLOCKS, DATES, HOLIDAYS, RELATIVE, backwards=False)
_PHRASES = Grammar(PHRASES, backwards=False)
_RANGES = Grammar(RANGES, backwards=False)
_LEADS = Grammar(LEADS)
_KNOWN = frozenset(
    word
    for grammar in (_ATOMS, _PHRASES, _RANGES, _LEADS)
    for word in grammar.words
    if not word.isupper()
)
