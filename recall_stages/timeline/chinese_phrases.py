"""Chinese: what is counted from now, and words around a date.

See `chinese.py`; `grammar.py` says how a pattern is written.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from recall_stages.timeline import counted, cycles, parts, ranges, together
from recall_stages.timeline.chinese_dates import at_hour, few, year_of
from recall_stages.timeline.grammar import Rule, Table
from recall_stages.timeline.reading import Cycle, Duration, Now, Reading, When
from recall_stages.timeline.time_range import FINER_THAN_DAY, Grain

# --- Counted from now ----------------------------------------------------------------------------


def _past(now: Now, amount: Duration) -> Reading | None:
    """最近三天: rolling to now; or the full units before this one, or whole days before today."""
    _, high = amount.spread
    if high:  # 最近十几天 reaches as far as it may
        ((count, name),) = amount.parts
        amount = Duration(((count + high, name),))
    found = counted.rolling(now, amount)
    if found is None or amount.unit in FINER_THAN_DAY:
        return found
    return found.or_else(Reading(amount.from_(now.today, -1), now.today, amount.unit))


def _just_before(now: Now, amount: Duration) -> Reading | None:
    """前两天, 上两周: the two before this one; or rolling to now."""
    if amount.unit in FINER_THAN_DAY or len(amount.parts) > 1:
        return counted.rolling(now, amount)
    ((count, name),) = amount.parts
    if amount.spread != (0, 0):
        ago = counted.ago(now, amount)
        return ago and Reading(ago.start, now.unit(name).start, name).or_else(ago)
    if count == 1 and name == "day":
        return None  # 前一天 is the day before another
    found = Reading(now.unit(name, -count).start, now.unit(name).start, name)
    return found.or_else(counted.rolling(now, amount))


def _counted(now: Now, offset: int, amount: Duration) -> Reading | None:
    """这一周 is this week, 上两周 the two before it and 这三天 the past three days."""
    single = amount.spread == (0, 0) and len(amount.parts) == 1 and amount.parts[0][0] == 1
    if single and offset:
        return counted.unit(now, offset, amount.unit) if amount.unit != "day" else None
    if single:
        return counted.unit(now, 0, amount.unit)
    if offset and amount.unit in (*FINER_THAN_DAY, "day"):
        return None  # 上五天班, 待上两个小时
    if offset > 0:
        return counted.ahead(now, amount)
    return _just_before(now, amount) if offset else _past(now, amount)


def _before_now(now: Now, amount: Duration) -> Reading | None:
    """两天之前: that day; or, as some use it, from then to now."""
    found = counted.ago(now, amount)
    if found is None or amount.spread != (0, 0) or amount.unit in FINER_THAN_DAY:
        return found
    return found.or_else(counted.rolling(now, amount))


def _within(now: Now, amount: Duration) -> Reading | None:
    """三天内: looking back; or ahead."""
    found = _past(now, amount)
    return found and found.or_else(counted.ahead(now, amount))


def _days(rule: Rule) -> Rule:
    """三日前, where 日 counts days."""
    return lambda now, count: rule(now, Duration(((count, "day"),)))


def _before_month(now: Now, number: int) -> Reading | None:
    """三月前 is before March; or, leaving out 个, three months ago."""
    found = ranges.before(now, cycles.month(now, number))
    return found and found.or_else(counted.ago(now, Duration(((number, "month"),))))


def _weekday_of(now: Now, offset: int, weekday: int) -> When | None:
    """上周二: the Tuesday of the previous calendar week."""
    return together.combine(now, now.unit("week", offset), cycles.weekday(now, weekday))


def _the_last(now: Now, offset: int, count: int, cycle: Cycle) -> Reading | None:
    """上一个周二: the latest before today; 下一个春节 the first after it."""
    if count != 1 or not offset:
        return None
    return together.last(now, cycle) if offset == -1 else _relative_cycle(now, offset, cycle)


def _relative_cycle(now: Now, offset: int, cycle: Cycle) -> Reading | None:
    """上个夏天, 这个夏天, 下个国庆节."""
    if cycle.unit == "day":
        return None
    if offset == 0:
        return together.this(now, cycle)
    return together.coming(now, cycle) if offset > 0 else together.last_but(now, -offset, cycle)


def _just_over(now: Now, unit: Grain) -> Reading | None:
    """刚过去的周末."""
    return counted.unit(now, -1, unit)


_AGO = "前|以前|之前"

RELATIVE: Table = {
    "REL 个? PERIOD": counted.unit,
    "REL DURATION": _counted,
    "REL 个? WEEKDAY": _weekday_of,
    "REL 个? CYCLE": _relative_cycle,
    "REL NUM 个 CYCLE": _the_last,
    "REL NUM 个 周末|星期末": lambda now, offset, count: (
        counted.unit(now, offset, "weekend") if count == 1 else None
    ),
    "刚过去|刚刚过去|刚过完|过去 的 这? 个? PERIOD": _just_over,
    "周末|星期末|礼拜末": lambda now: {Reading.KIND: counted.weekend(now, 0), "WEEKEND": None},
    "每|每个 周末": lambda now: together.every(now, cycles.weekends(now)),
    "REL 个? MONTH_THIRD": lambda now, offset, which: parts.third(
        now, which, now.unit("month", offset)
    ),
    "REL 个? WEEK_THIRD": lambda now, offset, which: parts.third(
        now, which, now.unit("week", offset)
    ),
    "WEEKDAY": cycles.weekday,
    "DURATION 多? 前": counted.ago,
    "DURATION 以前|之前": _before_now,
    "前 DURATION 前": lambda *_: None,
    f"NUM 日 {_AGO}": _days(_before_now),
    f"NUM 月 {_AGO}": _before_month,
    "DURATION 后|以后|之后|过后": partial(counted.ago, sign=1),
    "NUM 日 后|之后|以后": _days(partial(counted.ago, sign=1)),
    "DURATION 内|之内|以内": _within,
    "NUM 日 内|之内|以内": _days(_within),
    "DURATION 以来": _past,
    "DURATION 来": lambda now, amount: (
        None if amount.unit in (*FINER_THAN_DAY, "day") else _past(now, amount)
    ),
    "这|近 DURATION 来": _past,
    "前|上 几|数 UNIT": lambda now, unit: _just_before(now, few(unit)),
    "未来|今后|接下来|往后|接下去 的? 这? DURATION": counted.ahead,
    "第 NUM 个? UNIT": lambda _, count, unit: {"NTH": (count, unit)},
    "最后 NUM 个? UNIT": lambda _, count, unit: {"NTH": (-1, unit)} if count == 1 else None,
    "第 NUM 个 周末": lambda _, count: {"NTH": (count, "weekend")},
    "最后 NUM 个 周末": lambda _, count: {"NTH": (-1, "weekend")} if count == 1 else None,
    "第 NUM 个 WEEKDAY": lambda _, *nth: {"NTH_WEEKDAY": nth},
    "最后 NUM 个 WEEKDAY": lambda _, _count, weekday: {"NTH_WEEKDAY": (-1, weekday)},
}

# --- Words around a date -------------------------------------------------------------------------


def _beside(now: Now, when: When, sign: int, amount: Duration) -> When | None:
    """国庆节前两天 lies before the day; 去年的前十天 is a part of the year."""
    if when.grain == "day":
        return parts.amount_beside(now, amount, when, sign)
    return parts.first_of(now, amount, when, -sign)


def _day_beside(now: Now, when: When, sign: int) -> When | None:
    if when.grain != "day":
        return None
    return parts.amount_beside(now, Duration(((1, "day"),)), when, sign)


def _third_of(now: Now, when: When, which: int) -> When | None:
    coarse = ("month", "quarter", "season", "decade", "century", "week", "year")
    return parts.third(now, which, when) if when.grain in coarse else None


def _third(grain: Grain) -> Rule:
    """年初, 月底, 周中, as what comes round; 去年 or 三月 before it says in which."""
    return _part(grain, parts.third)


def _half_of(grain: Grain) -> Rule:
    """上半月, as what comes round."""
    return _part(grain, parts.half)


def _part(grain: Grain, cut: Callable[[Now, int, When], When | None]) -> Rule:
    def rule(now: Now, which: int) -> Cycle:
        def at(start: datetime) -> Reading | None:
            found = cut(now, which, now.unit_at(grain, start))
            return found if isinstance(found, Reading) else None

        return Cycle(grain, "day", at)

    return rule


def _today_of(now: Now, when: When, _: None) -> Reading | None:
    """去年的今天, 三年前的今天."""
    return parts.same_day(now, when) if isinstance(when, Reading) else None


def _weekend_of(now: Now, when: Reading, _: None) -> When | None:
    """三周前的周末."""
    return together.combine(now, when, cycles.weekends(now)) if when.grain == "week" else None


def _around_now_of(now: Now, when: When) -> Reading | None:
    """去年这个时候."""
    return parts.same_time(now, when) if isinstance(when, Reading) else None


def _with_part(now: Now, when: When, ends: tuple[int, int]) -> When | None:
    return together.combine(now, when, cycles.part_of_day(now, ends))


def _same(_: Now, when: When) -> When:
    return when


def _whole(_: Now, when: When, amount: Duration) -> When | None:
    """去年一年, 昨天一天."""
    return when if amount.parts == ((1, when.grain),) and amount.spread == (0, 0) else None


PARTS: Table = {
    "YEAR_THIRD": _third("year"),
    "MONTH_THIRD": _third("month"),
    "WEEK_THIRD": _third("week"),
    "HALF 月|个月": _half_of("month"),
    "HALF 周|星期": _half_of("week"),
}

WHEN = "CYCLE|TIME"
_SAME_TIME = "这个时候|这时候|这时|此时|这会儿|同期|这个时间"

PHRASES: Table = {
    "过去|最近|近|刚过去|这 的? 这? DURATION 里|内|间|中|以来|之内|来?": _past,
    "前|之前|此前 的? DURATION 里|内|间|中?": _just_before,
    "CLOCK": at_hour,
    "DURATION CYCLE": year_of,
    f"{WHEN} ,|的|-? {WHEN}": together.combine,
    f"{WHEN} SHORT_PART": _with_part,
    f"{WHEN} 的? THIRD": _third_of,
    f"{WHEN} 的? NTH": lambda now, when, nth: parts.nth_unit(now, nth[0], nth[1], when),
    f"{WHEN} 的? NTH_WEEKDAY": lambda now, when, nth: parts.nth_occurrence(
        now, nth[0], cycles.weekday(now, nth[1]), when
    ),
    f"{WHEN} 的? 前|头 DURATION": lambda now, when, amount: _beside(now, when, -1, amount),
    f"{WHEN} 的? 后|之后|过后|最后 DURATION": lambda now, when, amount: _beside(
        now, when, 1, amount
    ),
    f"{WHEN} 的? BESIDE": _day_beside,
    f"{WHEN} 的? 那|这|当 NUM? 周|星期|礼拜": lambda now, when, *_: parts.unit_of(
        now, "week", when
    ),
    f"{WHEN} 的? 那|这|当 个? 周末": lambda now, when: parts.unit_of(now, "weekend", when),
    f"{WHEN} 的? 那|这|当 个? 月": lambda now, when: parts.unit_of(now, "month", when),
    f"{WHEN} 的? TODAY": _today_of,
    "TIME 的 WEEKEND": _weekend_of,
    f"{WHEN} 的? {_SAME_TIME}": _around_now_of,
    f"{WHEN} 的? 那天|这天|当天|那日|当日|那一天|这一天|那年|那一年|当年|那晚|当晚": _same,
    f"{WHEN} 的? 整天|一整天|全天|一整晚|整晚|整周|一整周|整月|一整月|整个月|一整个月": _same,
    f"{WHEN} 的? 全月|全年|整年|一整年": _same,
    f"{WHEN} DURATION": _whole,
    f"{WHEN} 期间|假期|长假|的时候|时候|那会儿|那阵子|那段时间|这段时间|里|之中": _same,
    f"{WHEN} 前后|左右|上下|附近": _same,
}
