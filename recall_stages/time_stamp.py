"""The time a question names, written on its candidates.

A stock compressor or postprocessor list hands the next stage only documents and the question's
text. So what `ExtractTime` understood travels on the candidates, as flat text in their trace, and
`FuseRerank` reads it there: one extraction a question, and the reader of the result sees it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recall_stages.memory import Memory
from recall_stages.timeline import TimeRange
from recall_stages.timeline.interval import format_interval, parse_interval

_BETWEEN = " | "
_SOFT = "~"


def time_stamp(ranges: Sequence[TimeRange]) -> dict[str, float | str]:
    """The ranges and the words that named them, as flat text.

    Examples:
        >>> from datetime import UTC, datetime
        >>> first, last = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC)
        >>> march = TimeRange(first, last, "month", text="in March")
        >>> time_stamp([march])["time_words"]
        'in March'
    """
    bounded = [each for each in ranges if each.recurrence is None]
    if not bounded:
        return {}
    return {
        "time_range": _BETWEEN.join(_SOFT * each.soft + format_interval(each) for each in bounded),
        "time_words": _BETWEEN.join(each.text for each in bounded),
    }


def stamped_ranges(memories: Iterable[Memory]) -> tuple[TimeRange, ...]:
    """The ranges that an earlier stage left on the first candidate that has any."""
    for memory in memories:
        stamp, words = memory.trace.get("time_range"), memory.trace.get("time_words", "")
        if isinstance(stamp, str) and isinstance(words, str):
            parts = zip(stamp.split(_BETWEEN), words.split(_BETWEEN), strict=False)
            return tuple(_read(interval, text) for interval, text in parts)
    return ()


def _read(interval: str, text: str) -> TimeRange:
    soft = interval.startswith(_SOFT)
    return replace(parse_interval(interval.removeprefix(_SOFT)), text=text, soft=soft)
