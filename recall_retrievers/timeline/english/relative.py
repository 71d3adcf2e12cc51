"""English times counted from now: "yesterday", "last week", "three days ago"."""

from functools import partial

from recall_retrievers.timeline.grammar.engine import Table
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.meanings import combine, cycles, relative, subdivide
from recall_retrievers.timeline.time_range import Grain

DAYS: Table = {
    "today": lambda now: relative.day(now, 0),
    "yesterday|yday": lambda now: relative.day(now, -1),
    "tomorrow|tmrw": lambda now: relative.day(now, 1),
    "the? day before yesterday": lambda now: relative.day(now, -2),
    "the? day after tomorrow": lambda now: relative.day(now, 2),
    "last|yesterday night": lambda now: relative.night(now, -1),
    "the? night before last": lambda now: relative.night(now, -2),
    "the night before_now": lambda now: relative.night(now, -1),
    "tonight|tonite": lambda now: relative.night(now, 0),
    "recently|lately|nowadays": relative.soft(30),
    "these days": relative.soft(30),
    "a moment ago": relative.soft(1),
    "the other day|night|morning|evening": relative.soft(14),
    "the other week|weekend": relative.soft(30),
    "the other month": relative.soft(90),
    "not so|too|that|very? long ago": relative.soft(60),
    "a while ago|back": relative.soft(365),
    "some time ago|back": relative.soft(365),
    "a? long time ago": relative.long_ago,
    "a? long while ago": relative.long_ago,
    "long|ages ago": relative.long_ago,
    "UNITS ago": relative.vaguely_ago,
    "recent UNITS": relative.in_recent,
    "GLUED": lambda now, unit: relative.unit(now, *unit),
    "DURATION from now|today": partial(relative.ago, sign=1),
    "NUM d ago": lambda now, count: relative.ago(now, Duration.of(count, "day")),
    "NUM w ago": lambda now, count: relative.ago(now, Duration.of(count, "week")),
    "NUM y ago": lambda now, count: relative.ago(now, Duration.of(count, "year")),
    "DURATION ago today": lambda now, amount: now.unit_at("day", amount.from_(now.today, -1)),
}


def _ago(now: Now, amount: Duration) -> dict[str, object] | None:
    """Two weeks ago; and the day itself, for "more than two weeks ago"."""
    reading = relative.ago(now, amount)
    return None if reading is None else {"AGO": amount.from_(now.today, -1), Reading.KIND: reading}


def _before_a_day(now: Now, amount: Duration, day: Reading) -> Reading | None:
    """A week ago last Sunday, two weeks ago yesterday."""
    if day.grain != "day" or day.start is None:
        return None
    return now.unit_at("day", amount.from_(day.start, -1))


def _from_a_day(now: Now, amount: Duration, when: When) -> Reading | None:
    """A week from Monday, two weeks from tomorrow."""
    day = combine.coming(now, when) if isinstance(when, Cycle) else when
    if day is None or day.grain != "day" or day.start is None or day.start < now.today:
        return None
    return now.unit_at("day", amount.from_(day.start, 1))


def _coming(now: Now, unit: Grain) -> Reading | None:
    """The coming week is the next one; the coming weekend may end this week."""
    if unit == "weekend" and now.today.weekday() < 5:
        return now.unit(unit)
    return relative.unit(now, 1, unit)


def _all_of_the_present(now: Now, unit: Grain) -> Reading | None:
    """What have I done all week? But not "is the park open all year?"."""
    coarse = unit in ("week", "weekend", "month", "quarter", "year")
    return relative.unit(now, 0, unit) if coarse and now.looks_back() else None


UNITS: Table = {
    "this|current UNIT": lambda now, unit: relative.unit(now, 0, unit),
    "last|previous UNIT": lambda now, unit: relative.unit(now, -1, unit),
    "OVER_LAST UNIT": lambda now, _, unit: relative.last_unit(now, unit),
    "in the PRESENT": lambda now, unit: relative.unit(now, 0, unit),
    "my|our PRESENT": lambda now, unit: relative.unit(now, 0, unit),
    "the UNIT before_now": lambda now, unit: relative.unit(now, -1, unit),
    "this|current ANY_SEASON": lambda now, _: cycles.season_from_now(now, 0),
    "last|previous|past ANY_SEASON": lambda now, _: cycles.season_from_now(now, -1),
    "next|coming ANY_SEASON": lambda now, _: cycles.season_from_now(now, 1),
    "past UNIT": lambda now, unit: relative.rolling(now, Duration.of(1, unit)),
    "next UNIT": lambda now, unit: relative.unit(now, 1, unit),
    "coming|upcoming UNIT": _coming,
    "last|past|previous NUM WEEKDAYS": lambda now, count, weekday: combine.last_few(
        now, count, cycles.weekday(now, weekday)
    ),
    "UNIT before last": lambda now, unit: relative.unit(now, -2, unit),
    "UNIT after next": lambda now, unit: relative.unit(now, 2, unit),
    "over|during|at|on the weekend": lambda now: relative.unit(now, 0, "weekend"),
    "DURATION ago|back|earlier": _ago,
    "DURATION ago TIME": _before_a_day,
    "DURATION before_now": relative.ago,
    "DURATION from CYCLE|TIME": _from_a_day,
    "this|current calendar|fiscal|financial UNIT": lambda now, unit: relative.unit(now, 0, unit),
    "last|previous calendar|fiscal|financial UNIT": lambda now, unit: relative.unit(now, -1, unit),
    "all UNIT long?": _all_of_the_present,
    "the|this whole|entire|full UNIT": _all_of_the_present,
    "will_in DURATION": partial(relative.ago, sign=1),
    "will_within DURATION": relative.ahead,
    "last|past|previous DURATION": relative.rolling,
    "next|coming DURATION": relative.ahead,
    "NUM WEEKDAYS ago|back": lambda now, count, weekday: combine.last_but(
        now, count, cycles.weekday(now, weekday)
    ),
    "NUM PARTS ago|back": lambda now, count, ends: combine.part_of_day(now, -count, ends),
    "NUM FEASTS ago|back": combine.last_but,
    "NUM SEASONS ago|back": lambda now, count, season: combine.last_but(
        now, count, cycles.season(now, season)
    ),
    "UNIT to date": lambda now, unit: subdivide.so_far(now, now.unit(unit)),
}
