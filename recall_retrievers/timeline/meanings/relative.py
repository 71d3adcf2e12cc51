"""Time counted from now: "yesterday", "last week", "the past three days", "two months ago"."""

import re
from dataclasses import replace
from datetime import datetime

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.reading import Duration, Now, Reading
from recall_retrievers.timeline.time_range import Grain

HALVES: dict[Grain, tuple[Grain, int]] = {
    "year": ("month", 6),
    "month": ("day", 15),
    "week": ("day", 3),
    "day": ("hour", 12),
    "hour": ("minute", 30),
    "decade": ("year", 5),
    "century": ("year", 50),
}

_LONG: frozenset[Grain] = frozenset({"week", "month", "quarter", "year"})
_FIRST_OF = re.compile(
    r"\b(?:first|last|latest|newest|earliest|most recent|(?:erst|letzt|neuest|frühest)e[nmrs]?|"
    r"primer[ao]?s?|[úu]ltim[ao]s?|premi(?:er|ère)s?|derni(?:er|ère)s?) "
    r".*\b(?:of the |des |del |de la |de l['’]|du )",
    re.IGNORECASE,
)


def amount(_: Now, count: int, unit: Grain) -> Duration | None:
    """Three weeks; but "2015年" is no amount."""
    return Duration.of(count, unit) if count < 1000 else None


def few(_: Now, unit: Grain) -> Duration:
    """A few weeks: about three."""
    return Duration(((3, unit),), (1, 2))


def between(_: Now, limits: tuple[int, int], unit: Grain) -> Duration | None:
    """Two or three weeks."""
    low, high = limits
    return Duration(((low, unit),), (0, high - low)) if 0 < low < high < 100 else None


def decimal(now: Now, number: tuple[int, int], unit: Grain) -> Duration | None:
    """1.5 hours; other fractions of a unit have no calendar."""
    return and_a_half(now, number[0], unit) if number[1] == 5 else None


def and_a_half(_: Now, count: int, unit: Grain) -> Duration | None:
    """A year and a half; with a count of zero, half a year."""
    half = HALVES.get(unit)
    return half and Duration((*([(count, unit)] if count else []), half[::-1]))


def day(now: Now, offset: int) -> Reading:
    """A day counted from today: -1 is yesterday."""
    return now.unit("day", offset)


def unit(now: Now, offset: int, name: Grain) -> Reading | None:
    """A calendar unit counted from the present one: "last month" is -1."""
    if name in ("hour", "minute", "second"):
        return hours(now, Duration.of(-offset, name)) if offset < 0 else None
    if name == "weekend":
        return weekend(now, offset)
    reading = now.unit(name, offset)
    return reading if offset or name == "day" else reading.or_else(_up_to(reading, now.moment))


def first_of(now: Now, name: Grain) -> Reading | None:
    """The present unit of "the first book of the year"; "the song of the year" names no time."""
    return unit(now, 0, name) if name in _LONG and _FIRST_OF.search(now.text) else None


def last_unit(now: Now, name: Grain) -> Reading | None:
    """The last month: the calendar month before this one; else, as in "the past month", rolling."""
    reading = unit(now, -1, name)
    return reading and reading.or_else(rolling(now, Duration.of(1, name)))


def weekend(now: Now, offset: int) -> Reading:
    """This weekend is the present one, or else the one just past; last weekend is over."""
    coming = now.unit("weekend")
    if offset > 0:
        return now.unit("weekend", offset)
    inside = now.today.weekday() >= 5
    reading = now.unit("weekend", offset if inside or offset else -1)
    return reading if inside or offset else reading.or_else(coming)


def night(now: Now, offset: int) -> Reading:
    """Last night is -1 and tonight 0: from 18:00 to 05:00, or the calendar day."""
    whole = day(now, offset)
    evening, dawn = (cal.shift(now.today, "hour", 24 * offset + hour) for hour in (18, 29))
    return Reading(evening, dawn, "part_of_day").or_else(whole)


def rolling(now: Now, amount: Duration) -> Reading | None:
    """The past three weeks: back from now, or from this morning; or the three calendar weeks."""
    whole = Reading(amount.from_(now.moment, -1), now.moment, amount.unit)
    if amount.unit in ("hour", "minute", "second"):
        return whole
    whole_days = Reading(amount.from_(now.today, -1), now.today, amount.unit)
    if len(amount.parts) > 1:
        return whole.or_else(whole_days)
    count, name = amount.parts[0]
    if name == "weekend":
        return Reading(now.unit(name, -count).start, now.unit(name, -1).end, name)
    full = Reading(now.unit(name, -count).start, now.unit(name).start, name)
    if name == "quarter":  # a quarter is a part of the calendar year, and never rolls
        return full.or_else(whole, whole_days)
    if name == "day":
        # Days are counted whole: at noon, "the past three days" are not cut at a noon.
        whole = replace(whole, start=full.start)
    return whole.or_else(full, whole_days)


def ahead(now: Now, amount: Duration) -> Reading:
    return Reading(now.moment, amount.from_(now.moment, 1), amount.unit)


def ago(now: Now, amount: Duration, sign: int = -1) -> Reading | None:
    """Two weeks ago: the calendar unit that holds that day, or the day itself."""
    if amount.unit in ("hour", "minute", "second"):
        return hours(now, amount, sign)
    return at_distance(now, now.today, amount, sign)


def hours(now: Now, amount: Duration, sign: int = -1) -> Reading | None:
    """Two hours ago: that hour of the clock."""
    moment = amount.from_(now.moment, sign)
    if now.elapsed is not None:
        moment = now.elapsed(moment - now.moment)
    return now.unit_at(amount.unit, moment)


def at_distance(now: Now, anchor: datetime, amount: Duration, sign: int) -> Reading | None:
    """So long before or after a day, in the calendar unit that was counted in."""
    low, high = amount.spread
    if low or high:
        ((count, name),) = amount.parts
        counts = [sign * max(1, count - low), sign * (count + high)]
        near, far = (now.unit_at(name, cal.shift(anchor, name, n)) for n in counts)
        first, last = (far, near) if sign < 0 else (near, far)
        return Reading(first.start, last.end, name)
    there = amount.from_(anchor, sign)
    that_day = now.unit_at("day", there)
    if len(amount.parts) > 1 or amount.unit == "day":
        return that_day
    return now.unit_at(amount.unit, there).or_else(that_day)


def soft(now: Now, days: int) -> Reading:
    """A vague word such as "recently": roughly the last days, as a preference."""
    return Reading(cal.shift(now.moment, "day", -days), now.moment, "day", soft=True)


def in_recent(now: Now, name: Grain) -> Reading:
    """In recent weeks: roughly the last few of them, as a preference."""
    return Reading(cal.shift(now.moment, name, -5), now.moment, name, soft=True)


def vaguely_ago(now: Now, name: Grain) -> Reading:
    """Days, weeks, months or years ago, with no number: a preference for about that long ago."""
    if name in ("year", "decade", "century"):
        return long_ago(now)
    end = cal.shift(now.moment, name, -1)
    return Reading(cal.shift(end, name, -10), end, name, soft=True)


def long_ago(now: Now) -> Reading:
    """Years ago: anything but the last year, as a preference."""
    return Reading(None, cal.shift(now.moment, "year", -1), "year", soft=True)


def _up_to(reading: Reading, moment: datetime) -> Reading | None:
    if reading.start is None or reading.start >= moment:
        return None
    return Reading(reading.start, moment, reading.grain)
