"""What was understood of the time that a question names, in words."""

from __future__ import annotations

from collections.abc import Sequence

from recall_stages.core.memory import Memory
from recall_stages.core.time_trace import stamped_ranges
from recall_stages.timeline.wording import in_words


def understood(memories: Sequence[Memory]) -> list[str]:
    """A line for each time that the question names; none where it names none.

    Examples:
        >>> stamp = {"time_range": "../.. BYDAY=MO", "time_words": "on Mondays"}
        >>> understood([Memory(content="Tea.", trace=stamp)])
        ['"on Mondays" is understood as every Monday']
    """
    ranges = stamped_ranges(memories)
    if ranges:
        return [in_words(each) for each in ranges]
    reasons = (str(memory.trace.get("degraded", "")) for memory in memories)
    failed = any("ExtractTime: " in reason for reason in reasons)
    return ["No time was understood, though the question has words of time."] if failed else []
