"""A time range in words, for the user."""

from __future__ import annotations

from recall_retrievers.timeline.time_range import TimeRange


def in_words(time_range: TimeRange) -> str:
    """The words of the question, their reading, and their other readings."""
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
