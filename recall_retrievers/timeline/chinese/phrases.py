"""Chinese: words around a date: 去年的今天, 三月的第一周, 国庆节前两天.

`patterns` joins the tables; `engine.grammar` explains how a pattern is written.
"""

from recall_retrievers.timeline.chinese.amounts import at_hour
from recall_retrievers.timeline.chinese.dates import year_of
from recall_retrievers.timeline.chinese.relative import just_before, past
from recall_retrievers.timeline.engine.grammar import Table
from recall_retrievers.timeline.engine.reading import Duration, Now, Reading, When
from recall_retrievers.timeline.meanings import combine, cycles, subdivide


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
