"""Hours of the day: "at 3 pm", "from 10:30 to 3", "before 5 pm"."""

from dataclasses import dataclass, replace

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.reading import Cycle, Now, Reading
from recall_retrievers.timeline.recurrence import Recurrence
from recall_retrievers.timeline.time_range import Grain

_HALF_DAY = 12 * 60
_FIRST_MORNING_HOUR = 7  # "at 4" means the afternoon, "at 8" the morning


@dataclass(frozen=True, slots=True)
class Clock:
    minutes: int  # since midnight
    sure: bool  # the half of the day is known
    exact: bool  # it has minutes, and not only an hour
    named: bool = False  # am or pm is written behind it


def clock(hour: int, minute: int = 0, noon: int | None = None) -> Clock | None:
    """A time of day from its numbers; ``noon`` is 0 for am and 12 for pm."""
    if not 0 <= minute < 60 or not 0 <= hour <= 24:
        return None
    exact = minute > 0
    if noon is not None:
        late = hour > 12  # "15 pm"
        minutes = (hour if late else hour % 12 + noon) * 60 + minute
        return Clock(minutes, sure=True, exact=exact, named=True)
    return Clock(hour * 60 + minute, sure=hour == 0 or hour > 12, exact=exact)


def in_figures(
    hour: int, minute: int, second: int | None = None, *, noon: int | None = None
) -> Clock | None:
    """A time of day in figures: 6:00 may be in the evening, 06:00 and 6:00:00 are as they stand."""
    time = clock(hour, minute, noon)
    return replace(time, sure=time.sure or second is not None) if time else None


def named(hour: int, minute: int = 0, noon: int | None = None) -> dict[str, object] | None:
    """A time of day for further patterns."""
    time = clock(hour, minute, noon)
    return {"CLOCK": time} if time else None


def hour(_: Now, number: int, noon: int | None = None) -> dict[str, object] | None:
    """15 Uhr, à 15 heures, 午後3時."""
    return named(number, 0, noon)


def past(_: Now, minute: int, hour: int, noon: int | None = None) -> dict[str, object] | None:
    return named(hour, minute, noon)


def to(_: Now, minute: int, hour: int, noon: int | None = None) -> dict[str, object] | None:
    return named((hour - 1) % 24, 60 - minute, noon) if 0 < minute < 60 and hour <= 24 else None


def figures(_: Now, time: tuple[int, ...], noon: int | None = None) -> dict[str, object] | None:
    found = in_figures(*time, noon=noon)
    return {"CLOCK": found} if found else None


def at(_: Now, time: Clock | None, *, about: bool = False) -> Cycle | None:
    """At three: that hour; at half past three: ten minutes around it; about three: half an hour.

    People do not look at the clock when they tell of a time.
    """
    if time is None:
        return None
    minutes = time.minutes
    if not time.sure and minutes < _FIRST_MORNING_HOUR * 60:
        minutes += _HALF_DAY
    around = 30 if about else 10
    if time.exact or about:
        return _stretch(max(0, minutes - around), minutes + around, "minute")
    return _stretch(minutes, minutes + 60, "hour")


def between(_: Now, first: Clock | int | tuple[int, ...], last: Clock | int) -> Cycle | None:
    """From 3 to 8 pm: the half of the day of the second hour holds for both where it can."""
    begin, close = _clock_of(first), _clock_of(last)
    if begin is None or close is None:
        return None
    start, end = begin.minutes, close.minutes
    if not close.sure:
        if not begin.sure and start < _FIRST_MORNING_HOUR * 60:
            start += _HALF_DAY
        while end <= start:
            end += _HALF_DAY
    elif start >= 60 and start + _HALF_DAY < end:
        # "From 03:00 to 05:00 pm" is in the afternoon, in spite of the zero.
        start += _HALF_DAY if not begin.sure or (close.named and not begin.named) else 0
    if end <= start:
        end += 2 * _HALF_DAY  # past midnight
    return _stretch(start, end, "hour")


def outside(_: Now, time: Clock | int, side: int) -> Cycle | None:
    """Before (-1) or after (1) three o'clock, as a part of its day."""
    clock_time = _clock_of(time)
    whole = at(_, clock_time)
    if clock_time is None or whole is None:
        return None

    def cut(day: Reading) -> Reading | None:
        if day.start is None:
            return None
        midnight = cal.start_of("day", day.start)
        ends = (midnight, day.start) if side < 0 else (day.start, midnight + cal.DAY)
        if not ends[0] < ends[1]:
            return None
        on_any_day = (
            Reading(None, day.start, "hour") if side < 0 else Reading(day.start, None, "hour")
        )
        return Reading(*ends, "hour").or_else(on_any_day)

    outside_it = whole.then(cut, "hour")
    return outside_it and replace(outside_it, alone=clock_time.sure)


def _clock_of(time: Clock | int | tuple[int, ...]) -> Clock | None:
    if isinstance(time, Clock):
        return time
    return clock(time) if isinstance(time, int) else in_figures(*time)


def _stretch(start: int, end: int, grain: Grain) -> Cycle:
    whole_hours = not (start % 60 or end % 60) and end - start < 2 * _HALF_DAY
    return Cycle(
        "day",
        grain,
        lambda day: Reading(cal.shift(day, "minute", start), cal.shift(day, "minute", end), grain),
        alone=False,
        fields=Recurrence(hours=frozenset(h % 24 for h in range(start // 60, end // 60)))
        if whole_hours
        else None,
    )
