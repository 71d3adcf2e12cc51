"""The times that a memory's text names, read once, when the memory is stored.

"We met Anna two weeks ago", recorded on 20 March, is about early March. It is read against the day
of recording, so that a question about early March matches it at any later time.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.direction import direction
from recall_retrievers.timeline.extract_time import extract_told, language_of
from recall_retrievers.timeline.grammar.calendar_math import unit_ends

_MOST = 16  # a pasted calendar names hundreds of days, and is about no one of them
_DAY, _WEEK = timedelta(days=1), timedelta(weeks=1)


def event_times(text: str, recorded_at: datetime) -> tuple[TimeRange, ...]:
    """Read the times of the events in a memory, past and to come.

    "On 12 May" has one direction, that of its clause: ahead in "The course starts on 12 May" and
    back in "It started on 12 May". Where the clause leaves it open, both are events, the nearer
    first.

    Vague and recurring words ("recently", "on Mondays") name no event. "Until Friday" names that
    Friday in a text that looks ahead, and else nothing. "Today" is left out: the recorded time says
    it already. There are sixteen ranges at most, and none of them twice.

    Examples:
        >>> from datetime import UTC
        >>> recorded_at = datetime(2026, 3, 9, tzinfo=UTC)
        >>> [each.describe() for each in event_times("We booked Rome for 5 June.", recorded_at)]
        ['2026-06-05 (Friday)']
    """
    ranges: dict[tuple[datetime, datetime], TimeRange] = {}
    for read in _directed(text, recorded_at):
        # "As of March" is that month, too.
        named = read if read.start else next((x for x in read.alternatives if x.start), read)
        start, end = named.start, named.end
        if start is None or end is None or named.soft or named.recurrence is not None:
            continue
        if not (named.contains(recorded_at) and end - start <= _DAY):
            ranges.setdefault((start, end), TimeRange(start, end, named.grain, named.text))
            if len(ranges) == _MOST:
                break
    return tuple(ranges.values())


def _directed(text: str, recorded_at: datetime) -> Iterator[TimeRange]:
    """The times of a text, each in the direction of its clause; both, where that leaves it open."""
    past = extract_told(text, recorded_at, ahead=False)
    if not past:
        return
    language = language_of(text)
    to_come = {named.span: named for named in extract_told(text, recorded_at, ahead=True)}
    for named in past:
        coming = to_come.get(named.span, named)
        dated = named.grain == "day" and _start(coming) - _start(named) > _WEEK
        where = direction(text, named.span or (0, 0), language, dated=dated)
        if where == "ahead":
            yield _closed(coming)
        elif where == "back" or coming == named:
            yield named
        else:
            # "Parents' evening: 12 November" is how a plan is noted.
            noted = text[: named.span[0] if named.span else 0].rstrip().endswith((":", "："))
            nearer = not noted and _is_nearer(named, coming, recorded_at)
            likely, other = (named, coming) if nearer else (coming, named)
            yield likely
            if dated:
                yield other


def _start(named: TimeRange) -> datetime:
    return named.start or named.end or datetime.min.replace(tzinfo=UTC)


def _is_nearer(named: TimeRange, coming: TimeRange, recorded_at: datetime) -> bool:
    """Whether the past reading is as near as the coming one; an open one stays as it is."""
    if not named.start or not named.end or not coming.start or not coming.end:
        return True
    return recorded_at - named.start <= coming.start - recorded_at


def _closed(named: TimeRange) -> TimeRange:
    """The day of "until Friday" or the month of "from June on", for a plan."""
    try:
        if named.start is None and named.end is not None:
            ends = [named.end, *(each.end for each in named.alternatives if each.end)]
            return _unit(named, min(ends))
        if named.end is None and named.start is not None:
            return _unit(named, named.start)
    except (ValueError, OverflowError):  # at the very edge of the calendar
        pass
    return named


def _unit(named: TimeRange, moment: datetime) -> TimeRange:
    start, end = unit_ends(named.grain, moment.replace(tzinfo=None))
    zone = moment.tzinfo
    return replace(named, start=start.replace(tzinfo=zone), end=end.replace(tzinfo=zone))
