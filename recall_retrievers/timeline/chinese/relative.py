"""Chinese: times counted from now: 上周二, 三天前, 最近两个月.

`patterns` joins the tables; `engine.grammar` explains how a pattern is written.
"""

from functools import partial

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.engine import Rule, Table
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.meanings import combine, cycles, ranges, relative, subdivide
from recall_retrievers.timeline.time_range import FINER_THAN_DAY, Grain


def past(now: Now, amount: Duration) -> Reading | None:
    """最近三天: rolling to now; or the full units before this one, or whole days before today."""
    _, high = amount.spread
    if high:  # 最近十几天 reaches as far as it may
        ((count, name),) = amount.parts
        amount = Duration.of(count + high, name)
    reading = relative.rolling(now, amount)
    if reading is None or amount.unit in FINER_THAN_DAY:
        return reading
    return reading.or_else(Reading(amount.from_(now.today, -1), now.today, amount.unit))


def just_before(now: Now, amount: Duration) -> Reading | None:
    """前两天, 上两周: the two before this one; or rolling to now."""
    if amount.unit in FINER_THAN_DAY or len(amount.parts) > 1:
        return relative.rolling(now, amount)
    ((count, name),) = amount.parts
    if amount.spread != (0, 0):
        ago = relative.ago(now, amount)
        return ago and Reading(ago.start, now.unit(name).start, name).or_else(ago)
    if count == 1 and name == "day":
        return None  # 前一天 is the day before another
    reading = Reading(now.unit(name, -count).start, now.unit(name).start, name)
    return reading.or_else(relative.rolling(now, amount))


def _counted(now: Now, offset: int, amount: Duration) -> Reading | None:
    """这一周 is this week, 上两周 the two before it and 这三天 the past three days."""
    single = amount.spread == (0, 0) and len(amount.parts) == 1 and amount.parts[0][0] == 1
    if single and offset:
        return relative.unit(now, offset, amount.unit) if amount.unit != "day" else None
    if single:
        return relative.unit(now, 0, amount.unit)
    if offset and amount.unit in (*FINER_THAN_DAY, "day"):
        return None  # 上五天班, 待上两个小时
    if offset > 0:
        return relative.ahead(now, amount)
    return just_before(now, amount) if offset else past(now, amount)


def _ago(now: Now, amount: Duration) -> Reading | None:
    """三天前; 几小时前 lies between two and five hours back."""
    low, high = amount.spread
    if not (low or high) or amount.unit not in FINER_THAN_DAY:
        return relative.ago(now, amount)
    ((count, name),) = amount.parts
    far, near = (cal.shift(now.moment, name, -n) for n in (count + high, max(1, count - low)))
    return Reading(far, near, name)


def _before_now(now: Now, amount: Duration) -> Reading | None:
    """两天之前: that day; or, as some use it, from then to now."""
    reading = _ago(now, amount)
    if reading is None or amount.spread != (0, 0) or amount.unit in FINER_THAN_DAY:
        return reading
    return reading.or_else(relative.rolling(now, amount))


def _within(now: Now, amount: Duration) -> Reading | None:
    """三天内: looking back; or ahead."""
    reading = past(now, amount)
    return reading and reading.or_else(relative.ahead(now, amount))


def _days(rule: Rule) -> Rule:
    """三日前, where 日 counts days."""
    return lambda now, count: rule(now, Duration.of(count, "day"))


def _before_month(now: Now, number: int) -> Reading | None:
    """三月前 is before March; or, leaving out 个, three months ago."""
    reading = ranges.before(now, cycles.month(now, number))
    return reading and reading.or_else(relative.ago(now, Duration.of(number, "month")))


def _weekday_of(now: Now, offset: int, weekday: int) -> When | None:
    """上周二: the Tuesday of the previous calendar week."""
    return combine.side_by_side(now, now.unit("week", offset), cycles.weekday(now, weekday))


def _the_last(now: Now, offset: int, count: int, cycle: Cycle) -> Reading | None:
    """上一个周二: the latest before today; 下一个春节 the first after it."""
    if count != 1 or not offset:
        return None
    return combine.last(now, cycle) if offset == -1 else _relative_cycle(now, offset, cycle)


def _relative_cycle(now: Now, offset: int, cycle: Cycle) -> Reading | None:
    """上个夏天, 这个夏天, 下个国庆节."""
    if cycle.unit == "day":
        return None
    if offset == 0:
        return combine.this(now, cycle)
    return combine.coming(now, cycle) if offset > 0 else combine.last_but(now, -offset, cycle)


_AGO = "前|以前|之前"


def _half_year(now: Now, offset: int) -> Reading:
    """上个半年: the half of a calendar year before the present one."""
    first = cal.day_of(now.moment.year, 1 if now.moment.month <= 6 else 7, 1)
    start = cal.shift(first, "month", 6 * offset)
    return Reading(start, cal.shift(start, "month", 6), "quarter")


def _due(unit: Grain) -> Rule:
    """月底前: up to the end of the present month."""

    def rule(now: Now, which: int) -> Reading | None:
        part = subdivide.third(now, which, now.unit(unit))
        return ranges.until(now, part) if part else None

    return rule


RELATIVE: Table = {
    "REL 个 半 年": _half_year,
    "REL 整周|整星期|一整周|一整星期": lambda now, offset: relative.unit(now, offset, "week"),
    "REL 整月|整个月|一整月|一整个月": lambda now, offset: relative.unit(now, offset, "month"),
    f"MONTH_THIRD {_AGO}": _due("month"),
    f"YEAR_THIRD {_AGO}": _due("year"),
    "REL 个? PERIOD": relative.unit,
    "REL DURATION": _counted,
    "REL 个? WEEKDAY": _weekday_of,
    "REL 个? CYCLE": _relative_cycle,
    "REL NUM 个 CYCLE": _the_last,
    "REL NUM 个 周末|星期末": lambda now, offset, count: (
        relative.unit(now, offset, "weekend") if count == 1 else None
    ),
    "刚过去|刚刚过去|刚过完|过去 的 这? 个? PERIOD": lambda now, unit: relative.unit(now, -1, unit),
    "周末|星期末|礼拜末": lambda now: {Reading.KIND: relative.weekend(now, 0), "WEEKEND": None},
    "每|每个 周末": lambda now: combine.every(now, cycles.weekends(now)),
    "REL 个? MONTH_THIRD": lambda now, offset, which: subdivide.third(
        now, which, now.unit("month", offset)
    ),
    "REL 个? WEEK_THIRD": lambda now, offset, which: subdivide.third(
        now, which, now.unit("week", offset)
    ),
    "WEEKDAY": cycles.weekday,
    "DURATION 多? 前": _ago,
    "DURATION 以前|之前": _before_now,
    "前 DURATION 前": lambda *_: None,
    f"NUM 日 {_AGO}": _days(_before_now),
    f"NUM 月 {_AGO}": _before_month,
    "DURATION 后|以后|之后|过后": partial(relative.ago, sign=1),
    "NUM 日 后|之后|以后": _days(partial(relative.ago, sign=1)),
    "DURATION 内|之内|以内": _within,
    "NUM 日 内|之内|以内": _days(_within),
    "DURATION 以来": past,
    "DURATION 来": lambda now, amount: (
        None if amount.unit in (*FINER_THAN_DAY, "day") else past(now, amount)
    ),
    "这|近 DURATION 来": past,
    "前|上 几|数 UNIT": lambda now, unit: just_before(now, relative.few(now, unit)),
    "未来|今后|接下来|往后|接下去 的? 这? DURATION": relative.ahead,
    "第 NUM 个? UNIT": lambda _, count, unit: {"NTH": (count, unit)},
    "最后 NUM 个? UNIT": lambda _, count, unit: {"NTH": (-1, unit)} if count == 1 else None,
    "第 NUM 个 周末": lambda _, count: {"NTH": (count, "weekend")},
    "最后 NUM 个 周末": lambda _, count: {"NTH": (-1, "weekend")} if count == 1 else None,
    "第 NUM 个 WEEKDAY": lambda _, *nth: {"NTH_WEEKDAY": nth},
    "最后 NUM 个 WEEKDAY": lambda _, _count, weekday: {"NTH_WEEKDAY": (-1, weekday)},
}
