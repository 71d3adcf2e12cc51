"""The times that a memory's text names, read once, when the memory is stored.

"We met Anna two weeks ago", recorded on 20 March, is about early March. It is read against the day
of recording, so that a question about early March matches it at any later time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from recall_retrievers.timeline import TimeRange, extract_time
from recall_retrievers.timeline.engine.calendar_math import shift
from recall_retrievers.timeline.time_range import Grain

_MOST = 16  # a pasted calendar names hundreds of days, and is about no one of them
_DAY = timedelta(days=1)
_ROUNDS: tuple[Grain, ...] = ("week", "month", "year")


def event_times(text: str, recorded_at: datetime) -> tuple[TimeRange, ...]:
    """Read the times of the events in a memory, past and to come.

    Words without two ends ("until Friday", "recently", "on Mondays") name no event. "Today" is left
    out too: the recorded time says it already. A question looks back, but a memory may look ahead:
    "on 12 May" or "Friday" counts for the coming day too, where that is nearer than the past one.
    There are sixteen ranges at most, and none of them twice.
    """
    ranges: dict[tuple[datetime, datetime], TimeRange] = {}
    for named in extract_time(text, recorded_at):
        for start, end, grain in _events(named, recorded_at):
            ranges.setdefault((start, end), TimeRange(start, end, grain, named.text))
            if len(ranges) == _MOST:
                return tuple(ranges.values())
    return tuple(ranges.values())


def _events(named: TimeRange, recorded_at: datetime) -> Iterator[tuple[datetime, datetime, Grain]]:
    for time in (named, _to_come(named, recorded_at)):
        if (
            time is not None
            and time.start is not None
            and time.end is not None
            and not time.soft
            and time.recurrence is None
            and not (time.contains(recorded_at) and time.end - time.start <= _DAY)
        ):
            yield time.start, time.end, time.grain


def _to_come(named: TimeRange, recorded_at: datetime) -> TimeRange | None:
    """The next occurrence of the words, where it is nearer than the last one.

    "Friday" names a place in the calendar: read on the next Friday, it is that day. "Last Friday"
    and "12 May 2023" have no next occurrence.
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
