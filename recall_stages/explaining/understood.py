"""What was understood of the time that a question names, in words."""

from __future__ import annotations

from collections.abc import Sequence

from recall_stages.memory import Memory
from recall_stages.time_stamp import stamped_ranges
from recall_stages.timeline import TimeRange


def understood(memories: Sequence[Memory]) -> list[str]:
    """A line for each time that the question names; none where it names none.

    Examples:
        >>> stamp = {"time_range": "../.. BYDAY=MO", "time_words": "on Mondays"}
        >>> understood([Memory(content="Tea.", trace=stamp)])
        ['"on Mondays" is understood as every Monday']
    """
    ranges = stamped_ranges(memories)
    if ranges:
        return [_reading(each) for each in ranges]
    reasons = (str(memory.trace.get("degraded", "")) for memory in memories)
    failed = any("ExtractTime: " in reason for reason in reasons)
    return ["No time was understood, though the question has words of time."] if failed else []


def _reading(time_range: TimeRange) -> str:
    """The words, the reading taken, and those that were kept besides it."""
    words = f'"{time_range.text}"' if time_range.text else "the time asked about"
    others = dict.fromkeys(map(_meaning, time_range.alternatives))
    also = f"; also possible: {', or '.join(others)}" if others else ""
    return f"{words} is understood as {_meaning(time_range)}{also}"


def _meaning(time_range: TimeRange) -> str:
    if not time_range.soft:
        return time_range.describe()
    if time_range.start is None:
        return f"long ago: {time_range.describe()}"
    return "recently: newer memories first"
