"""The understood time of a question, in words."""

from __future__ import annotations

from collections.abc import Sequence

from recall_stages.core.candidate import Candidate
from recall_stages.core.time_trace import stamped_ranges
from recall_stages.timeline.wording import in_words


def understood(memories: Sequence[Candidate]) -> list[str]:
    """A line for each time that the question names; none if it names no time.

    Examples:
        >>> from recall_stages.core.time_trace import stamped
        >>> from recall_stages.timeline import Recurrence, TimeRange
        >>> every_monday = Recurrence(frozenset({0}))
        >>> mondays = TimeRange(None, None, "day", text="on Mondays", recurrence=every_monday)
        >>> understood(stamped([Candidate(content="Tea.")], [mondays]))
        ['"on Mondays" is understood as every Monday']
    """
    ranges = stamped_ranges(memories)
    if ranges:
        return [in_words(each) for each in ranges]
    reasons = (str(memory.noted("degraded")) for memory in memories)
    failed = any("ExtractTime: " in reason for reason in reasons)
    return ["No time was understood, though the question has words of time."] if failed else []
