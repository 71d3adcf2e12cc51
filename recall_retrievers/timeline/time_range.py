"""The range of time that a question names, as a value that can be compared and combined."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Literal

from recall_retrievers.timeline.parse_time import in_zone
from recall_retrievers.timeline.recurrence import Recurrence, weekday_name

Grain = Literal[
    "second",
    "minute",
    "hour",
    "session",
    "part_of_day",
    "day",
    "weekend",
    "week",
    "month",
    "quarter",
    "season",
    "year",
    "decade",
    "century",
]
"""How fine the words are: "March" has the grain of a month, "last time" of a session."""

FINER_THAN_DAY: frozenset[Grain] = frozenset({"second", "minute", "hour", "session", "part_of_day"})

# Stand-ins for an open end, so that open ranges compare like closed ones.
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A stretch of time: from `start` up to, not including, `end`.

    Attributes:
        start: The first moment, with a time zone; None when the range has no beginning.
        end: The first moment that no longer belongs to it; None when it goes on.
        grain: How fine the words are.
        text: The words that named the range.
        span: The place of these words in the question: `question[span[0]:span[1]]`.
        alternatives: Other readings of the same words, likelier ones first.
        recurrence: Calendar fields that must match as well, for "on Mondays".
        soft: True for vague words such as "recently": prefer this range, never exclude by it.

    Raises:
        ValueError: If a moment has no time zone, or if `start` is not before `end`.

    Examples:
        >>> from datetime import datetime
        >>> march = TimeRange(
        ...     datetime.fromisoformat("2024-03-01T00:00:00+00:00"),
        ...     datetime.fromisoformat("2024-04-01T00:00:00+00:00"),
        ...     "month",
        ... )
        >>> march.contains(datetime.fromisoformat("2024-03-31T23:59:59+00:00"))
        True
        >>> march.describe()
        '2024-03-01 to 2024-03-31'
    """

    start: datetime | None
    end: datetime | None
    grain: Grain
    text: str = ""
    span: tuple[int, int] | None = None
    alternatives: tuple[TimeRange, ...] = ()
    recurrence: Recurrence | None = None
    soft: bool = False

    def __post_init__(self) -> None:
        """Refuse naive moments and empty ranges."""
        for name, moment in (("start", self.start), ("end", self.end)):
            if moment is not None and moment.utcoffset() is None:
                msg = (
                    f"{name} must carry a time zone; got {moment.isoformat()}. "
                    "Give it one, for example with parse_time(value, 'Europe/Berlin')"
                )
                raise ValueError(msg)
        if self.start is not None and self.end is not None and not _low(self) < _high(self):
            msg = (
                f"start must be before end; got start={self.start.isoformat()} "
                f"and end={self.end.isoformat()}"
            )
            raise ValueError(msg)

    @property
    def time_zone(self) -> tzinfo | None:
        """The time zone of the range; None when both ends are open."""
        bound = self.start or self.end
        return bound.tzinfo if bound else None

    def contains(self, moment: datetime) -> bool:
        """Whether a moment lies inside the range and, for "on Mondays", on the right day.

        Args:
            moment: A moment with a time zone.
        """
        # Not by `_low` and `_high`: a question asks this of each of its candidates.
        start, end, instant = self.start, self.end, _absolute(moment)
        if start is not None and instant < _absolute(start):
            return False
        if end is not None and instant >= _absolute(end):
            return False
        if self.recurrence is None:
            return True
        zone = self.time_zone
        return self.recurrence.matches(in_zone(moment, zone) if zone else moment)

    def overlaps(self, other: TimeRange) -> bool:
        """Whether the two ranges share a moment; recurrences are not compared."""
        return _low(self) < _high(other) and _low(other) < _high(self)

    @property
    def whole_days(self) -> bool:
        """Whether it begins and ends at midnight, and is no time of the clock."""
        bounds = (self.start, self.end)
        return self.grain not in FINER_THAN_DAY and all(
            bound is None or bound.time() == time.min for bound in bounds
        )

    def on_the_wall(self) -> TimeRange:
        """The same dates and hours without their zone, as UTC: 8 June is 8 June everywhere."""
        start, end = (bound and bound.replace(tzinfo=UTC) for bound in (self.start, self.end))
        if start and end and not start < end:  # within the hour that a clock change repeats
            return self
        recurrence = self.recurrence and replace(self.recurrence, timezone=UTC)
        return TimeRange(start, end, self.grain, recurrence=recurrence, soft=self.soft)

    def describe(self) -> str:
        """The range in words for a person, in its own time zone.

        Examples:
            >>> from datetime import datetime
            >>> start = datetime.fromisoformat("2024-03-01T00:00:00+01:00")
            >>> TimeRange(start, None, "day").describe()
            'since 2024-03-01'
        """
        if self.recurrence is None:
            return self._describe_ends()
        words = self.recurrence.describe()
        return words if self.time_zone is None else f"{words}, {self._describe_ends()}"

    def _describe_ends(self) -> str:
        start, end = self.start, self.end
        if start is None:
            return "any time" if end is None else f"before {self._written(end)}"
        if end is None:
            return f"since {self._written(start)}"
        if self.grain in FINER_THAN_DAY:
            return f"{self._written(start)} to {self._written(end)}"
        # The last day that belongs to the range reads better than the first that does not.
        last = (end - timedelta(microseconds=1)).date()
        if last <= start.date():
            return f"{start:%Y-%m-%d} ({weekday_name(start)})"
        return f"{start:%Y-%m-%d} to {last.isoformat()}"

    def _written(self, moment: datetime) -> str:
        if self.grain in FINER_THAN_DAY or moment.time() != moment.time().min:
            return f"{moment:%Y-%m-%d %H:%M}"
        return f"{moment:%Y-%m-%d}"


def _absolute(moment: datetime) -> datetime:
    # Two moments of one zone compare by wall clock, which is wrong in the hour that a
    # clock change repeats; UTC has no such hour.
    if moment.tzinfo is UTC:  # as in all stored memories
        return moment
    if moment.utcoffset() is None:
        msg = f"a moment must carry a time zone to be compared; got {moment.isoformat()}"
        raise ValueError(msg)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # within a day of year 1 or year 9999
        return _EARLIEST if moment.year == 1 else _LATEST


def _low(one: TimeRange) -> datetime:
    return _EARLIEST if one.start is None else _absolute(one.start)


def _high(one: TimeRange) -> datetime:
    return _LATEST if one.end is None else _absolute(one.end)


def half_life_weight(age: timedelta, half_life: timedelta) -> float:
    """Weigh a memory by its age: 1 when new, a half after one half-life, a quarter after two.

    It is never zero, so that an old memory can still be found. A negative age counts as new.

    Examples:
        >>> half_life_weight(timedelta(days=30), timedelta(days=30))
        0.5
        >>> half_life_weight(timedelta(days=-1), timedelta(days=30))
        1.0
    """
    if half_life <= timedelta(0):
        msg = f"half_life must be longer than zero, such as timedelta(days=30); got {half_life!r}"
        raise ValueError(msg)
    if age <= timedelta(0):
        return 1.0
    return max(math.exp2(-(age / half_life)), sys.float_info.min)


# --- As text: an ISO 8601 interval for flat fields, and words for the user ------------------------


def format_interval(time_range: TimeRange) -> str:
    """Write the bounds as ``start/end``; an open bound is ``..``."""
    return "/".join(
        ".." if bound is None else bound.isoformat() for bound in (time_range.start, time_range.end)
    )


def parse_interval(text: str, zone: tzinfo | None = None) -> TimeRange:
    """The time range in a text of `format_interval`."""
    start, slash, end = text.partition("/")
    if not slash:
        raise ValueError(f"an interval is written start/end; got {text!r:.60}")
    bounds = [None if bound == ".." else _bound(bound, zone) for bound in (start, end)]
    whole_days = all(bound is None or bound.time() == time.min for bound in bounds)
    return TimeRange(bounds[0], bounds[1], "day" if whole_days else "minute")


def _bound(text: str, zone: tzinfo | None) -> datetime:
    bound = datetime.fromisoformat(text)
    return bound if bound.tzinfo or zone is None else bound.replace(tzinfo=zone)


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
