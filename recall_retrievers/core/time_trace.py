"""The time that a question names, as a step on its candidates.

In a framework's own list of compressors or postprocessors, a stage gets only documents and the
text of the question. So `ExtractTime` writes the time on the candidates, and `FuseRerank` reads it
there. The time is extracted once for each question. The result shows it too, as flat text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.interval import format_interval

_STAGE = "ExtractTime"
_BETWEEN = " | "
_OR = ", "
_SOFT = "~"


def time_stamp(ranges: Sequence[TimeRange]) -> dict[str, float | str]:
    """The ranges, their time expressions, and the alternative readings, as flat text.

    " | " separates several ranges, and a comma the alternatives of one range. A range is written as
    ``start/end``. A "~" before it marks vague words. A recurrence follows in words.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_retrievers.timeline import Recurrence
        >>> first, last = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC)
        >>> march = TimeRange(first, last, "month", text="in March")
        >>> time_stamp([march])["time_words"]
        'in March'
        >>> time_stamp([TimeRange(None, None, "day", recurrence=Recurrence(frozenset({0})))])
        {'time_range': '../.. every Monday', 'time_words': ''}
    """
    if not ranges:
        return {}
    stamp: dict[str, float | str] = {
        "time_range": _BETWEEN.join(map(_written, ranges)),
        "time_words": _BETWEEN.join(each.text.replace(_BETWEEN, " ") for each in ranges),
    }
    if any(each.alternatives for each in ranges):
        stamp["time_alternatives"] = _BETWEEN.join(
            _OR.join(map(_written, each.alternatives)) for each in ranges
        )
    return stamp


def stamped(memories: Sequence[Candidate], ranges: Sequence[TimeRange]) -> tuple[Candidate, ...]:
    """The candidates with the stamp of these ranges, and without that of an earlier question.

    Examples:
        >>> from recall_retrievers.timeline import Recurrence
        >>> mondays = TimeRange(None, None, "day", recurrence=Recurrence(frozenset({0})))
        >>> [tea] = stamped([Candidate(content="Tea.")], [mondays])
        >>> tea.trace["time_range"], stamped([tea], [])[0].trace
        ('../.. every Monday', {})
    """
    stamp = [Step(_STAGE, notes=time_stamp(ranges), ranges=tuple(ranges))] if ranges else []
    fresh = []
    for memory in memories:
        steps = [step for step in memory.steps if not step.ranges]
        bare = memory if len(steps) == len(memory.steps) else replace(memory, steps=tuple(steps))
        fresh.append(bare.after(bare.score, *stamp) if stamp else bare)
    return tuple(fresh)


def stamped_ranges(memories: Iterable[Candidate]) -> tuple[TimeRange, ...]:
    """The ranges that an earlier stage left on the first candidate that has any."""
    for memory in memories:
        for step in memory.steps:
            if step.ranges:
                return step.ranges
    return ()


def _written(time_range: TimeRange) -> str:
    recurrence = time_range.recurrence
    recurring = "" if recurrence is None else f" {recurrence.describe()}"
    return _SOFT * time_range.soft + format_interval(time_range) + recurring
