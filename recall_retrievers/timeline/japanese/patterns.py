"""Japanese: the patterns of time expressions, and from a text to its readings.

`engine.grammar` explains how a pattern is written. The meanings are shared with English.
"""

from dataclasses import replace
from functools import partial

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.engine import Expression, Grammar, Table, read_all
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.japanese.lexer import WORDS, Tokenizer, is_name
from recall_retrievers.timeline.meanings import (
    clock,
    combine,
    cycles,
    ranges,
    relative,
    subdivide,
)


def read(text: str, now: Now) -> list[Expression]:
    """Every time expression of a Japanese text, with its place."""
    expressions = read_all(_TOKENIZER.tokenize(text), now, _GRAMMARS, Grammar())
    return [one for one in expressions if not is_name(text, one[2])]


def _holiday(now: Now, dates: tuple[int, int, int]) -> Cycle:
    month, day, days = dates
    return cycles.holiday(cal.yearly(month, day), days)(now)


def _year(now: Now, number: int) -> Reading | None:
    """2019年; 19年 may be an amount."""
    return cycles.year(now, number) if 1900 <= number < 2200 else None


def _in_year(now: Now, number: int, cycle: Cycle) -> Reading | None:
    return combine.in_year(now, cycle, number) if 1900 <= number < 2200 else None


def _rolling(now: Now, amount: Duration) -> Reading | None:
    """この三日間, 過去2週間."""
    low, high = amount.spread
    if low or high:
        return relative.in_recent(now, amount.unit)
    return relative.rolling(now, amount)


def _latest(now: Now, cycle: Cycle) -> Reading | None:
    """この前の木曜日: the latest before today."""
    return combine.last(now, cycle) if cycle.unit != "day" else None


def _third(now: Now, when: When, which: int) -> When | None:
    coarse = ("month", "year", "week", "quarter", "season")
    return subdivide.third(now, which, when) if when.grain in coarse else None


def _third_of_year(now: Now, number: int, which: int) -> When | None:
    year = _year(now, number)
    return subdivide.third(now, which, year) if year else None


_DATES: Table = {
    "DAYWORD": relative.day,
    "NIGHT": relative.night,
    "DAYPART": lambda now, day_part: combine.part_of_day(now, *day_part),
    "RELATIVE": lambda now, offset_unit: relative.unit(now, *offset_unit),
    "HOLIDAY": _holiday,
    "QUARTER": cycles.quarter,
    "第? NUM 四半期": cycles.quarter,
    "WEEKDAY": cycles.weekday,
    "SEASON": lambda now, number: replace(cycles.season(now, number), alone=False),
    "PART": cycles.part_of_day,
    "月末": lambda now: subdivide.every_part(now, 2, "month"),
    "月初": lambda now: subdivide.every_part(now, 0, "month"),
    "YEAR|NUM 年末": lambda now, number: _third_of_year(now, number, 2),
    "YEAR|NUM 年初|年始": lambda now, number: _third_of_year(now, number, 0),
    "NUM 月末": lambda now, number: subdivide.third(now, 2, cycles.month(now, number)),
    "NUM 月初": lambda now, number: subdivide.third(now, 0, cycles.month(now, number)),
    "年末": lambda now: subdivide.every_part(now, 2, "year"),
    "年始|年初": lambda now: subdivide.every_part(now, 0, "year"),
    "YEAR|NUM 年": _year,
    "ERA NUM 年": lambda now, base, number: cycles.year(now, base + number),
    "ERA 元 年": lambda now, base: cycles.year(now, base + 1),
    "NUM 月": cycles.month,
    "NUM 月 NUM 日": cycles.month_day,
    "NUM 月 NUM 日 から|- NUM 日 まで?": cycles.days_of_month,
    "NUM 日 に|は|の": cycles.day_of_month,
    "NUM 年代": cycles.decade,
    "YEAR 年代": cycles.decade,
    "DATE": cycles.numeric_date,
    "MONTH_YEAR": combine.month_of_year,
    "NUM UNIT": relative.amount,
    "数|何 UNIT か?": relative.few,
    "半年": lambda _: Duration.of(6, "month"),
    "NUM UNIT 半": relative.and_a_half,
    "NUM 時": clock.hour,
    "午前 NUM 時": lambda now, hour: clock.hour(now, hour, 0),
    "午後 NUM 時": lambda now, hour: clock.hour(now, hour, 12),
    "夜|晩|夕方 の? NUM 時": lambda now, hour: clock.hour(now, hour, 12),
    "HM": clock.figures,
}

_WHEN = "CYCLE|TIME"

_PHRASES: Table = {
    "DURATION 前 に?": relative.ago,
    "DURATION まえ に?": relative.ago,
    "DURATION 後|ご に?": partial(relative.ago, sign=1),
    "TIME の? 今頃|今ごろ|いまごろ|この時期": subdivide.same_time,
    "この|過去|最近|直近|ここ|これまで の? DURATION": _rolling,
    "SOFT": lambda now, days: relative.soft(days)(now),
    "SOFT の? DURATION": lambda now, _, amount: _rolling(now, amount),
    "この前|前回|前|先 の? CYCLE": _latest,
    "今度|次 の CYCLE": combine.coming,
    "毎週 の? CYCLE": combine.every,
    "毎年 の? CYCLE": combine.every,
    "CLOCK": clock.at,
    f"{_WHEN} の|、? {_WHEN}": combine.side_by_side,
    f"{_WHEN} の? THIRD": _third,
}

_RANGES: Table = {
    f"{_WHEN} から|-|〜 {_WHEN} まで|の?": ranges.join,
    f"{_WHEN} から {_WHEN} まで? の? 間|あいだ": ranges.join,
    f"{_WHEN} と {_WHEN} の 間|あいだ": ranges.join,
    f"{_WHEN} から": ranges.up_to_now,
    f"{_WHEN} 以来": ranges.up_to_now,
    f"{_WHEN} から 今|現在 まで": ranges.up_to_now,
    f"{_WHEN} 以降": ranges.onwards,
    f"{_WHEN} まで に?": ranges.until,
    f"{_WHEN} の? 時点|現在 で?": ranges.as_of,
    f"{_WHEN} より? 前|まえ|以前": ranges.before,
    f"{_WHEN} の 前": ranges.before,
    f"{_WHEN} より|の 後|あと": ranges.after,
}

_GRAMMARS = (
    Grammar(_DATES, backwards=False),
    Grammar(_PHRASES, backwards=False),
    Grammar(_RANGES, backwards=False),
)
_TOKENIZER = Tokenizer(WORDS, {word for grammar in _GRAMMARS for word in grammar.words})
