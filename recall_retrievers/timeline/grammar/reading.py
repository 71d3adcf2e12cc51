"""The meanings of words, still without a time zone: readings, cycles and durations.

A `Reading` is a stretch of the wall calendar ("5 May 2023"). A `Cycle` recurs and needs its unit: a
year for "5 May", a week for "Tuesday", a day for "the morning". This one idea reads "Tuesday of
last week", "March 2021", "the morning of 5 May" and "early summer last year" without a rule for
each. A `Duration` is an amount ("three weeks").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import ClassVar, NamedTuple

from recall_retrievers.timeline.grammar.calendar_math import midnight, shift, start_of, unit_ends
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.recurrence import Recurrence
from recall_retrievers.timeline.time_range import Grain

_MOST_OTHERS = 5  # readings after the first; every level of a nested phrase could double them
_MOST_NESTED = 4  # "the end of the beginning of ...": deeper than any speaker goes
_SAMPLE = midnight(date(2024, 1, 1))  # the first day of a week, a month and a leap year
_FAR_ENOUGH = 60  # units to search: a Friday the 13th and a 29 February both come sooner


@dataclass(frozen=True, slots=True)
class Now:
    """The moment of the question, and how the asker counts."""

    moment: datetime  # on the asker's wall clock
    week_start: int = 0  # 0 is Monday, 6 is Sunday
    day_first: bool | None = None  # whether 5/7 is in July; None takes the habit of the language
    southern: bool = False  # summer is in January
    text: str = ""  # its tense decides where a date can be past or still to come
    cues: Cues | None = None  # of the language of the text
    asks: bool = False  # whether these words ask about what is to come
    ahead: bool | None = None  # "Friday" is the coming one; None: the words decide
    elapsed: Callable[[timedelta], datetime] | None = None  # it knows about clock changes
    today: datetime = field(init=False)

    def __post_init__(self) -> None:
        """Work out the day once; every rule needs it."""
        object.__setattr__(self, "today", midnight(self.moment.date()))

    def is_over(self, reading: Reading) -> bool:
        """Whether a reading can be meant: it has begun, or the words look ahead."""
        has_begun = reading.start is None or reading.start <= self.moment
        return has_begun or bool(self.ahead)

    def looks_back(self) -> bool:
        """Whether the words are about the past, and about nothing still to come."""
        return not self.asks and self.cues is not None and self.cues.tells_past(self.text)

    def unit(self, unit: Grain, count: int = 0) -> Reading:
        """The calendar unit that holds now, or the one so many units away."""
        start = start_of(unit, self.moment, self.week_start)
        return self.unit_at(unit, shift(start, unit, count))

    def unit_at(self, unit: Grain, moment: datetime) -> Reading:
        return Reading(*unit_ends(unit, moment, self.week_start), unit)


@dataclass(frozen=True, slots=True)
class Reading:
    """A stretch of the wall calendar, half-open; None is an open end."""

    start: datetime | None
    end: datetime | None
    grain: Grain
    others: tuple[Reading, ...] = ()
    recurrence: Recurrence | None = None
    soft: bool = False

    KIND: ClassVar[str] = "TIME"

    def or_else(self, *others: Reading | None) -> Reading:
        """Add other readings of the same words: likelier ones first, and no reading twice."""
        by_bounds = {self.bounds: self, **{one.bounds: one for one in self.others}}
        for other in others:
            if other is not None and len(by_bounds) <= _MOST_OTHERS:
                by_bounds.setdefault(other.bounds, other.with_others())
                for one in other.others:
                    by_bounds.setdefault(one.bounds, one)
        return self.with_others(*tuple(by_bounds.values())[1 : _MOST_OTHERS + 1])

    @property
    def bounds(self) -> tuple[datetime | None, datetime | None]:
        return self.start, self.end

    def map(self, change: Callable[[Reading], Reading | None]) -> Reading | None:
        """The same change to this reading and to its other readings."""
        first = change(self.with_others())
        return first and first.or_else(*map(change, self.others))

    def with_others(self, *others: Reading) -> Reading:
        """A copy with these other readings; `replace` takes longer than the rest of a rule."""
        if others == self.others:
            return self
        return Reading(self.start, self.end, self.grain, others, self.recurrence, self.soft)


@dataclass(frozen=True, slots=True)
class Cycle:
    """A time that recurs once in a unit: 5 May in a year, Tuesday in a week."""

    unit: Grain
    grain: Grain
    at: Callable[[datetime], Reading | None]  # from the beginning of a unit; None: it has none
    alone: bool = True  # "Tuesday" may stand for its latest occurrence, "morning" may not
    fields: Recurrence | None = None  # for "every Tuesday"; None = these cannot express it
    nested: int = 0  # the number of changes so far

    KIND: ClassVar[str] = "CYCLE"

    def then(self, change: Callable[[Reading], Reading | None], grain: Grain) -> Cycle | None:
        """Change every occurrence: from "March" to "early March"."""
        if self.nested >= _MOST_NESTED:
            return None

        def changed(unit_start: datetime) -> Reading | None:
            one = self.at(unit_start)
            return one and one.map(change)

        # A sample shows a change that makes no sense, such as "the week of July".
        if self.at(_SAMPLE) is not None and changed(_SAMPLE) is None:
            return None
        return Cycle(self.unit, grain, changed, self.alone, nested=self.nested + 1)

    def current(self, now: Now) -> Reading | None:
        """The occurrence in the unit that holds now: "this Friday"."""
        return self.in_unit_of(now, now.moment)

    def in_unit_of(self, now: Now, moment: datetime) -> Reading | None:
        return self.at(start_of(self.unit, moment, now.week_start))

    def latest(self, now: Now) -> Reading | None:
        """The latest occurrence that has begun; while it goes on, the one before it as well.

        Where the text looks ahead, it is the first one that is not over.
        """
        if now.ahead:
            occurrences = self._search(now, now.moment, range(-1, _FAR_ENOUGH))
            return next((one for one in occurrences if _end(one) > now.moment), None)
        for one in self._backwards(now, now.moment):
            if _start(one) <= now.moment:
                if one.end is not None and one.end > now.moment and one.grain != "day":
                    return one.or_else(self.before(now, _start(one)))
                return one
        return None

    def before(self, now: Now, moment: datetime) -> Reading | None:
        """The latest occurrence that has ended by a moment."""
        return next((r for r in self._backwards(now, moment) if _end(r) <= moment), None)

    def starting_before(self, now: Now, moment: datetime) -> Reading | None:
        """The latest occurrence that begins before a moment."""
        return next((r for r in self._backwards(now, moment) if _start(r) < moment), None)

    def after(self, now: Now, moment: datetime) -> Reading | None:
        """The first occurrence that begins at or after a moment."""
        occurrences = self._search(now, moment, range(-1, _FAR_ENOUGH))
        return next((r for r in occurrences if _start(r) >= moment), None)

    def _backwards(self, now: Now, moment: datetime) -> Iterator[Reading]:
        return self._search(now, moment, range(1, -_FAR_ENOUGH, -1))

    def _search(self, now: Now, around: datetime, counts: Iterable[int]) -> Iterator[Reading]:
        """Occurrences in the units counted from the one that holds a moment."""
        unit_start = start_of(self.unit, around, now.week_start)
        for count in counts:
            try:
                one = self.at(shift(unit_start, self.unit, count))
            except (ValueError, OverflowError):  # no 29 February, or off the calendar
                continue
            if one is not None and one.start is not None and one.end is not None:
                yield one


When = Reading | Cycle


class Whole(NamedTuple):
    start: datetime
    end: datetime
    grain: Grain


def change(when: When, how: Callable[[Whole], Reading | None], grain: Grain) -> When | None:
    """Change a reading, or every occurrence of a cycle; one with an open end has no change."""

    def closed(one: Reading) -> Reading | None:
        return how(Whole(one.start, one.end, one.grain)) if one.start and one.end else None

    return when.then(closed, grain) if isinstance(when, Cycle) else when.map(closed)


@dataclass(frozen=True, slots=True)
class Duration:
    """An amount of time, such as "three weeks" or "a year and a half"."""

    parts: tuple[tuple[int, Grain], ...]  # the largest first
    spread: tuple[int, int] = (0, 0)  # "a few days" is 3, less 1, plus 2

    KIND: ClassVar[str] = "DURATION"

    @classmethod
    def of(cls, count: int, unit: Grain) -> Duration:
        return cls(((count, unit),))

    @property
    def unit(self) -> Grain:
        """The finest unit."""
        return self.parts[-1][1]

    def from_(self, moment: datetime, sign: int) -> datetime:
        """The moment this long after (sign 1) or before (sign -1) another."""
        for count, unit in self.parts:
            moment = shift(moment, unit, sign * count)
        return moment


def _start(reading: Reading) -> datetime:
    return reading.start or datetime.min  # noqa: DTZ901  naive on purpose, see calendar_math


def _end(reading: Reading) -> datetime:
    return reading.end or datetime.max  # noqa: DTZ901
