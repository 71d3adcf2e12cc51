"""The times that a memory's text names, read once, when the memory is stored.

"We met Anna two weeks ago", recorded on 20 March, tells of early March; read against the day it was
recorded, it is found by "in early March" for ever after.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from recall_stages.timeline import TimeRange, extract_time
from recall_stages.timeline.engine.calendar_math import shift
from recall_stages.timeline.time_range import Grain

_MOST = 16  # a pasted calendar names hundreds of days, and is about none of them
_DAY = timedelta(days=1)
_ROUNDS: tuple[Grain, ...] = ("week", "month", "year")


def event_times(text: str, recorded_at: datetime) -> tuple[TimeRange, ...]:
    """Read the times that a memory tells of, those to come as well as those past.

    Words without two ends ("until Friday", "recently", "on Mondays") are no event, and "today" is
    none either: the recorded time says it already. A question looks back, but a memory may well
    look ahead: where "on 12 May" or "Friday" was nearer to come than past, it counts for both.

    Args:
        text: What was said or written.
        recorded_at: When; its time zone is the writer's, in which "yesterday" is a day.

    Returns:
        The ranges in the order of the text, each once, sixteen at most.

    Examples:
        >>> recorded_at = datetime.fromisoformat("2024-03-20T18:30:00+01:00")
        >>> [each.describe() for each in event_times("We met Anna two weeks ago.", recorded_at)]
        ['2024-03-04 to 2024-03-10']
        >>> [each.describe() for each in event_times("The deadline is 12 May.", recorded_at)]
        ['2023-05-12 (Friday)', '2024-05-12 (Sunday)']
        >>> event_times("I am tired today.", recorded_at)
        ()
    """
    ranges: dict[tuple[datetime, datetime], TimeRange] = {}
    for named in extract_time(text, recorded_at):
        for start, end, grain in _events(named, recorded_at):
            ranges.setdefault((start, end), TimeRange(start, end, grain, named.text))
            if len(ranges) == _MOST:
                return tuple(ranges.values())
    return tuple(ranges.values())


def _events(named: TimeRange, recorded_at: datetime) -> Iterator[tuple[datetime, datetime, Grain]]:
    for each in (named, _to_come(named, recorded_at)):
        if (
            each is not None
            and each.start is not None
            and each.end is not None
            and not each.soft
            and each.recurrence is None
            and not (each.contains(recorded_at) and each.end - each.start <= _DAY)
        ):
            yield each.start, each.end, each.grain


def _to_come(named: TimeRange, recorded_at: datetime) -> TimeRange | None:
    """The next time that the words come true, where that is nearer than the last.

    Words that merely name a place in the calendar name it again when it has come round: "Friday"
    said on the next Friday is that day. "Last Friday" is not, nor is "12 May 2023".
    """
    start = named.start
    if start is None or named.end is None or named.end > recorded_at:
        return None
    for unit in _ROUNDS:
        try:
            coming = shift(start, unit, 1)
            nearer = timedelta(0) < coming - recorded_at < recorded_at - start
        except (ValueError, OverflowError):  # at the very edge of the calendar
            return None
        if nearer:
            again = extract_time(named.text, coming)
            if again and again[0].start == coming:
                return again[0]
    return None
