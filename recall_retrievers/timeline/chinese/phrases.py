"""Chinese: words around a date (去年的今天, 三月的第一周), what comes back, and ranges.

`patterns` joins the tables; `engine.grammar` explains how a pattern is written.
"""

from dataclasses import replace

from recall_retrievers.timeline.chinese.amounts import at_hour
from recall_retrievers.timeline.chinese.dates import year_of
from recall_retrievers.timeline.chinese.relative import just_before, past
from recall_retrievers.timeline.grammar.engine import Table
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.meanings import combine, cycles, ranges, relative, subdivide
from recall_retrievers.timeline.recurrence import Recurrence


def _adjacent(now: Now, when: When, sign: int, amount: Duration) -> When | None:
    """国庆节前两天 lies before the day; 去年的前十天 is a part of the year."""
    if when.grain == "day":
        return subdivide.amount_away(now, amount, when, sign)
    return subdivide.first_of(now, amount, when, -sign)


def _adjacent_day(now: Now, when: When, sign: int) -> When | None:
    if when.grain != "day":
        return None
    return subdivide.amount_away(now, Duration.of(1, "day"), when, sign)


def _third_of(now: Now, when: When, which: int) -> When | None:
    coarse = ("month", "quarter", "season", "decade", "century", "week", "year")
    return subdivide.third(now, which, when) if when.grain in coarse else None


def _weekend_of(now: Now, when: Reading, _: None) -> When | None:
    """三周前的周末."""
    return combine.side_by_side(now, when, cycles.weekends(now)) if when.grain == "week" else None


def _with_part(now: Now, when: When, ends: tuple[int, int]) -> When | None:
    return combine.side_by_side(now, when, cycles.part_of_day(now, ends))


def _same(_: Now, when: When) -> When:
    return when


def _whole(_: Now, when: When, amount: Duration) -> When | None:
    """去年一年, 昨天一天."""
    return when if amount.parts == ((1, when.grain),) and amount.spread == (0, 0) else None


PARTS: Table = {
    "YEAR_THIRD": lambda now, which: subdivide.every_part(now, which, "year"),
    "MONTH_THIRD": lambda now, which: subdivide.every_part(now, which, "month"),
    "WEEK_THIRD": lambda now, which: subdivide.every_part(now, which, "week"),
    "HALF 月|个月": lambda now, which: subdivide.every_part(now, which, "month", subdivide.half),
    "HALF 周|星期": lambda now, which: subdivide.every_part(now, which, "week", subdivide.half),
}

WHEN = "CYCLE|TIME"
_SAME_TIME = "这个时候|这时候|这时|此时|这会儿|同期|这个时间"

PHRASES: Table = {
    "过去|最近|近|刚过去|这 的? 这? DURATION 里|内|间|中|以来|之内|来?": past,
    "前|之前|此前 的? DURATION 里|内|间|中?": just_before,
    "CLOCK": at_hour,
    "DURATION CYCLE": year_of,
    f"{WHEN} ,|的|-? {WHEN}": combine.side_by_side,
    f"{WHEN} SHORT_PART": _with_part,
    f"{WHEN} 的? THIRD": _third_of,
    f"{WHEN} 的? NTH": lambda now, when, nth: subdivide.nth_unit(now, nth[0], nth[1], when),
    f"{WHEN} 的? NTH_WEEKDAY": lambda now, when, nth: subdivide.nth_occurrence(
        now, nth[0], cycles.weekday(now, nth[1]), when
    ),
    f"{WHEN} 的? 前|头 DURATION": lambda now, when, amount: _adjacent(now, when, -1, amount),
    f"{WHEN} 的? 后|之后|过后|最后 DURATION": lambda now, when, amount: _adjacent(
        now, when, 1, amount
    ),
    f"{WHEN} 的? ADJACENT": _adjacent_day,
    f"{WHEN} 的? 那|这|当 NUM? 周|星期|礼拜": lambda now, when, *_: subdivide.unit_of(
        now, "week", when
    ),
    f"{WHEN} 的? 那|这|当 个? 周末": lambda now, when: subdivide.unit_of(now, "weekend", when),
    f"{WHEN} 的? 那|这|当 个? 月": lambda now, when: subdivide.unit_of(now, "month", when),
    "TIME 的? TODAY": lambda now, when, _: subdivide.same_day(now, when),
    "TIME 的 WEEKEND": _weekend_of,
    f"TIME 的? {_SAME_TIME}": subdivide.same_time,
    f"{WHEN} 的? 那天|这天|当天|那日|当日|那一天|这一天|那年|那一年|当年|那晚|当晚": _same,
    f"{WHEN} 的? 整天|一整天|全天|一整晚|整晚|整周|一整周|整月|一整月|整个月|一整个月": _same,
    f"{WHEN} 的? 全月|全年|整年|一整年": _same,
    f"{WHEN} DURATION": _whole,
    f"{WHEN} 期间|假期|长假|的时候|时候|那会儿|那阵子|那段时间|这段时间|里|之中": _same,
    f"{WHEN} 前后|左右|上下|附近": _same,
}


# --- Vague words ---------------------------------------------------------------------------------

VAGUE: Table = {
    "最近|近来|近日|近期|日前|新近": relative.soft(30),
    "刚刚|刚才|方才|刚刚才": relative.soft(1),
    "这些天": relative.soft(7),
    "前些天|前些日子|前不久|不久前|不久之前|没多久前|早些时候": relative.soft(30),
    "这阵子|这段时间|这一阵|这一阵子|这些日子": relative.soft(30),
    "前阵子|前段时间|前一阵|前一阵子|前一段时间|前段日子|前一段|上阵子": relative.soft(90),
    "近年|近年来|近些年|这些年|这些年来": relative.soft(3 * 365),
    "很久|多年|好久|好多年|很多年 以前|之前|前": relative.long_ago,
}

# --- Recurring times -----------------------------------------------------------------------------


def _every(now: Now, cycle: Cycle, more: Cycle | None = None) -> Reading | dict[str, object]:
    """每周一. Calendar fields cannot express 每年春节, so it names no time."""
    return combine.every(now, cycle, more) or {}


def _on_weekdays(_: Now, days: frozenset[int]) -> Cycle:
    monday = min(days)
    first = cycles.weekday(_, monday)
    return replace(first, fields=Recurrence(weekdays=days))


def _from_to(_: Now, first: Cycle, last: Cycle) -> Reading | dict[str, object]:
    """每周一到周五."""
    if first.fields is None or last.fields is None:
        return {}
    days = sorted(first.fields.weekdays | last.fields.weekdays)
    if len(days) != 2:
        return {}
    fields = Recurrence(weekdays=frozenset(range(days[0], days[1] + 1)))
    return Reading(None, None, "day", recurrence=fields)


def _workdays(now: Now, part: Cycle | None = None) -> Reading | dict[str, object]:
    """每个工作日."""
    workdays = _on_weekdays(now, frozenset(range(5)))
    if part is not None:
        if part.fields is None:
            return {}
        fields = Recurrence(weekdays=frozenset(range(5)), hours=part.fields.hours)
        return Reading(None, None, part.grain, recurrence=fields)
    return _every(now, workdays)


_EVERY_WORD = "每|每个|每逢|逢|每到|每年|每月|每个月|每周|每星期|每天|每日|每一天"

EVERY: Table = {
    f"{_EVERY_WORD} 的? CYCLE": _every,
    f"{_EVERY_WORD} 的? CYCLE 和|与|、|跟 CYCLE": _every,
    f"{_EVERY_WORD} 的? CYCLE 到|至|- CYCLE": _from_to,
    "每|逢? WEEKDAYS": lambda now, days: _every(now, _on_weekdays(now, days)),
    "每|每个 工作日": _workdays,
    "每|每个? 工作日 的? CYCLE": _workdays,
    "每晚": lambda now: _every(now, cycles.part_of_day(now, (18, 24))),
    "每早": lambda now: _every(now, cycles.part_of_day(now, (5, 12))),
    "每晚|每早 CYCLE": _every,
}

# --- Two ends, or one ----------------------------------------------------------------------------


def _after(now: Now, when: When) -> Reading | None:
    """三月以后: from where it ends; or from where it begins."""
    reading = ranges.after(now, when)
    return reading and reading.or_else(ranges.onwards(now, when))


_UNITS = ("day", "week", "month", "quarter", "year", "decade")


def _from(now: Now, when: When) -> Reading | None:
    """从三月 alone: that month; or from it on."""
    reading = ranges.resolved(now, when)
    if reading is None or reading.start is None or reading.grain not in _UNITS:
        return reading
    one_unit = reading.end == now.unit_at(reading.grain, reading.start).end
    return reading.or_else(ranges.onwards(now, reading)) if one_unit else reading


def _up_to(now: Now, when: When) -> Reading | None:
    """到昨天 alone: that day; or up to it."""
    reading = ranges.resolved(now, when)
    return reading and reading.or_else(ranges.until(now, when))


_IN = "在|于|早在"
_FROM = "从|自|打|自从"
_TO = "到|至|-|直到|一直到|截至|截止到"
_INCLUDED = "或|及|或者|含|及其|以及"

RANGES: Table = {
    f"{_FROM} {WHEN} {_TO} {WHEN} 止|为止|期间|之间|间|这段时间?": ranges.join,
    f"{WHEN} {_TO} {WHEN} 止|为止|期间|这段时间?": ranges.join,
    f"在|介于? {WHEN} 和|与|跟|到|至|- {WHEN} 之间|间|中间|期间": ranges.join,
    f"{_FROM}? {WHEN} 以来|至今|到现在|到今天为止|开始到现在|到目前|到目前为止|到如今": (
        ranges.up_to_now
    ),
    f"{_FROM}? {WHEN} 起|开始|往后|伊始": ranges.onwards,
    f"{_IN}|包括|自|从? {WHEN} {_INCLUDED} 以后|之后|后|其后": ranges.onwards,
    f"{_IN}|包括|截至? {WHEN} {_INCLUDED} 以前|之前|前|更早": ranges.until,
    f"在|于 包括 {WHEN} {_INCLUDED} 以后|之后|后": ranges.onwards,
    f"在|于 包括 {WHEN} {_INCLUDED} 以前|之前|前": ranges.until,
    f"{_IN}? {WHEN} 以后|之后|后|过后": _after,
    f"{_IN}? {WHEN} 以前|之前|前": ranges.before,
    f"早于 {WHEN}": ranges.before,
    f"晚于|迟于 {WHEN}": _after,
    f"不晚于|不迟于|最晚|最迟 {WHEN}": ranges.until,
    f"不早于|最早 {WHEN}": ranges.onwards,
    f"截至|截止|截止到|直到|一直到|到 {WHEN} 为止|止": ranges.until,
    f"截至|截止|截止到|直到|一直到 {WHEN}": ranges.until,
    f"自从 {WHEN}": ranges.up_to_now,
    f"从|自|打 {WHEN}": _from,
    f"到|至 {WHEN}": _up_to,
}

LEADS: Table = {"在|于|就是|大概|大约|差不多|约|整整 TIME": lambda _, when: when}
