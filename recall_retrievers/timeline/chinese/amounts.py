"""Chinese amounts and hours: 三个半月, 十几天, 下午三点半.

`patterns` joins the tables; `engine.grammar` explains how a pattern is written.
"""

from dataclasses import replace

from recall_retrievers.timeline.grammar.engine import Table
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now
from recall_retrievers.timeline.meanings import clock, relative
from recall_retrievers.timeline.recurrence import Recurrence
from recall_retrievers.timeline.time_range import Grain

# --- Amounts -------------------------------------------------------------------------------------


def _about(low: int, high: int, unit: Grain) -> Duration:
    return Duration(((low, unit),), (0, high - low))


def _and_more(_: Now, count: int, unit: Grain) -> Duration | None:
    """十多天 is 10 to 19, 三十来天 is about 30, 一百多天 is 100 to 199."""
    step = 1
    while count and count % (step * 10) == 0:
        step *= 10
    return _about(count, count + max(step - 1, 1), unit) if count < 1000 else None


def _tens(_: Now, count: int, unit: Grain) -> Duration | None:
    """几十年 (time with its ten) is 20 to 50 years."""
    return _about(20, 50, unit) if count == 10 else None


def _one_more(_: Now, count: int, unit: Grain) -> Duration | None:
    return _about(count, count + 1, unit) if count < 100 else None


def _half_of(now: Now, number: tuple[int, int], unit: Grain) -> Duration | None:
    """1.5小时."""
    return relative.and_a_half(now, number[0], unit) if number[1] == 5 else None


AMOUNTS: Table = {
    "NUM|COUNT 个? UNIT": relative.amount,
    "COUNT 日": lambda now, count: relative.amount(now, count, "day"),
    "COUNT 月": lambda now, count: relative.amount(now, count, "month"),
    "NUM|COUNT 刻钟": lambda _, count: Duration.of(15 * count, "minute"),
    "NUM|COUNT 个? 多|余|来|几 个? UNIT": _and_more,
    "NUM|COUNT 个? 多|余|来|几 月": lambda now, count: _and_more(now, count, "month"),
    "NUM|COUNT 个? UNIT 多": _one_more,
    "ABOUT 个? UNIT": lambda _, about, unit: _about(about[0], about[1], unit),
    "NUM|COUNT 到|至|-|、 NUM|COUNT 个? UNIT": lambda _, low, high, unit: (
        _about(low, high, unit) if 0 < low < high < 100 else None
    ),
    "好? 几|数 个? UNIT": relative.few,
    "好? 几|数 月": lambda now: relative.few(now, "month"),
    "好? 几 NUM 个? UNIT": _tens,
    "半 个? UNIT": lambda now, unit: relative.and_a_half(now, 0, unit),
    "半 个? 月": lambda now: relative.and_a_half(now, 0, "month"),
    "NUM|COUNT 个? UNIT 半": relative.and_a_half,
    "NUM|COUNT 个 半 UNIT|PERIOD": relative.and_a_half,
    "DOTTED 个? UNIT": _half_of,
    "DURATION 零|又? DURATION": lambda _, one, other: Duration(one.parts + other.parts),
}

# --- Hours ---------------------------------------------------------------------------------------


def _to(_: Now, minute: int, hour: int) -> dict[str, object] | None:
    """差五分三点: five to three."""
    return clock.named(hour - 1, 60 - minute) if 0 < minute < 60 <= 60 * hour else None


def _in_part(_: Now, ends: tuple[int, int], time: clock.Clock) -> dict[str, object] | None:
    """下午三点 is 15:00, 晚上十二点 the end of the day, 深夜两点 past it."""
    first, _last = ends
    minutes = time.minutes
    if first < 11:
        minutes -= 720 if minutes >= 720 and first == 0 else 0
    elif minutes < 720:
        minutes += 1440 if first >= 18 and minutes < 300 else 720 if minutes < 660 else 0
        minutes += 720 if first >= 12 and 660 <= minutes < 720 else 0
    elif minutes < 780 and first >= 18:
        minutes += 720
    return {"CLOCK": clock.Clock(minutes, sure=True, exact=time.exact)}


CLOCKS: Table = {
    "NUM|COUNT 点|时 钟|整?": clock.hour,
    "NUM|COUNT 点 零? NUM 分?": lambda _, *time: clock.named(*time),
    "NUM|COUNT 时 NUM 分?": lambda _, *time: clock.named(*time),
    "NUM|COUNT 点 半": lambda _, hour: clock.named(hour, 30),
    "NUM|COUNT 点 NUM 刻": lambda _, hour, count: clock.named(hour, 15 * count),
    "差 NUM|COUNT 分 NUM|COUNT 点": _to,
    "HM": clock.figures,
    "PART 的? CLOCK": _in_part,
    "CLOCK 到|至|- CLOCK": clock.between,
}


def at_hour(now: Now, time: clock.Clock) -> Cycle | None:
    """三点, with its hour as a calendar field for 每天三点."""
    hour = clock.at(now, time)
    return hour and replace(hour, fields=Recurrence(hours=frozenset({time.minutes // 60 % 24})))
