"""English: the patterns of time expressions, each with the function that gives its meaning.

To teach the grammar an expression, add a line to a table. `engine.grammar` explains the patterns;
the modules of `meanings` hold the functions.

The grammar is our own. The best English library, date-wrangler 2.3 (MIT, one author), was measured
on two sets of memory questions: it read 49 of 60, and 23 of 30 that were written afterwards. With
55 lines of ours on top it read all 60 (they were tuned on these) and 25 of the 30. It knows days
but no hours, one reading but no second one, and no Chinese.
"""

from __future__ import annotations

from functools import partial

from recall_stages.timeline.engine.grammar import (
    COMPLETE,
    Expression,
    Grammar,
    Table,
    readings,
    settle,
)
from recall_stages.timeline.engine.reading import Cycle, Duration, Now, Reading
from recall_stages.timeline.english.dates import DATES, YEARS
from recall_stages.timeline.english.holidays import HOLIDAYS
from recall_stages.timeline.english.lexer import tokenize, vocabulary
from recall_stages.timeline.english.numbers import AMOUNTS, CLOCKS, HOURS, NUMBERS
from recall_stages.timeline.english.recurring import RECURRING, WORK
from recall_stages.timeline.meanings import (
    adjacent,
    clock,
    combine,
    cycles,
    ranges,
    relative,
    subdivide,
)
from recall_stages.timeline.time_range import Grain


def read(text: str, now: Now) -> list[Expression]:
    """Every time expression of an English text, with its place."""
    expressions: list[Expression] = []
    for tokens in tokenize(text, _VOCABULARY):
        for grammar in (_NUMBERS, _AMOUNTS, _DATES, _PHRASES, _RANGES):
            grammar.rewrite(tokens, now)
        settle(tokens, now)
        _LEADS.rewrite(tokens, now)
        expressions += readings(tokens)
    return expressions


# --- Days and units, counted from now ------------------------------------------------------------

DAYS: Table = {
    "today": lambda now: relative.day(now, 0),
    "yesterday": lambda now: relative.day(now, -1),
    "tomorrow": lambda now: relative.day(now, 1),
    "the? day before yesterday": lambda now: relative.day(now, -2),
    "the? day after tomorrow": lambda now: relative.day(now, 2),
    "last|yesterday night": lambda now: relative.night(now, -1),
    "the? night before last": lambda now: relative.night(now, -2),
    "the night before_now": lambda now: relative.night(now, -1),
    "tonight": lambda now: relative.night(now, 0),
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
    "DURATION ago today": lambda now, amount: now.unit_at("day", amount.from_(now.today, -1)),
}

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
    "past UNIT": lambda now, unit: relative.rolling(now, Duration(((1, unit),))),
    "next|coming|upcoming UNIT": lambda now, unit: relative.unit(now, 1, unit),
    "UNIT before last": lambda now, unit: relative.unit(now, -2, unit),
    "UNIT after next": lambda now, unit: relative.unit(now, 2, unit),
    "over|during|at|on the weekend": lambda now: relative.unit(now, 0, "weekend"),
    "DURATION ago|back|earlier": relative.ago,
    "will_in DURATION": partial(relative.ago, sign=1),
    "will_within DURATION": relative.ahead,
    "last|past|previous DURATION": relative.rolling,
    "next|coming DURATION": relative.ahead,
    "NUM WEEKDAYS ago|back": lambda now, count, weekday: combine.last_but(
        now, count, cycles.weekday(now, weekday)
    ),
    "NUM PARTS ago|back": combine.parts_ago,
    "NUM SEASONS ago|back": lambda now, count, season: combine.last_but(
        now, count, cycles.season(now, season)
    ),
    "UNIT to date": lambda now, unit: subdivide.so_far(now, now.unit(unit)),
}

# --- Words around a date -------------------------------------------------------------------------


def _present(now: Now, unit: Grain) -> dict[str, object] | None:
    """The present unit of "the end of the month"; "the month" alone may be any."""
    if unit in ("second", "minute", "hour", "day", "weekend"):
        return None
    return {"UNIT_NOW": now.unit(unit)}


def _last_weekend_of(now: Now, holiday: Cycle) -> Reading | None:
    weekend = subdivide.unit_of(now, "weekend", holiday)
    return combine.last(now, weekend) if isinstance(weekend, Cycle) else None


_WHEN = "the? CYCLE|TIME|UNIT_NOW"

PARTS: Table = {
    "the UNIT": _present,
    "SURE_EDGE of UNIT": subdivide.end_of_unit,
    "the? EDGE_OF": lambda now, edge: subdivide.end_of_unit(now, *edge),
    "CYCLE of UNIT_NOW": combine.side_by_side,
    f"latter half of|in {_WHEN}": lambda now, when: subdivide.half(now, 2, when),
    f"ORD quarter {_WHEN}": lambda now, count, when: subdivide.nth_unit(
        now, count, "quarter", when
    ),
    f"EDGE -? of|in? {_WHEN}": subdivide.third,
    f"ORD half of|in? {_WHEN}": subdivide.half,
    f"ORD UNIT of|in {_WHEN}": subdivide.nth_unit,
    f"last|final UNIT of|in {_WHEN}": lambda now, unit, when: subdivide.nth_unit(
        now, -1, unit, when
    ),
    f"ORD CYCLE of|in {_WHEN}": subdivide.nth_occurrence,
    f"last|final CYCLE of|in {_WHEN}": lambda now, cycle, when: subdivide.nth_occurrence(
        now, -1, cycle, when
    ),
    f"first DURATION of|in {_WHEN}": subdivide.first_of,
    f"last|final DURATION of|in {_WHEN}": partial(subdivide.first_of, sign=-1),
    f"UNIT of|containing {_WHEN}": subdivide.unit_of,
    "CYCLE|TIME weekend": lambda now, when: subdivide.unit_of(now, "weekend", when),
    "earlier|sooner in? TIME|UNIT_NOW": subdivide.earlier,
    "TIME|UNIT_NOW so far": subdivide.so_far,
    "so far TIME": subdivide.so_far,
    "later in? TIME|UNIT_NOW": subdivide.still_to_come,
    "rest|remainder|remaining of TIME|UNIT_NOW": subdivide.still_to_come,
    "this|same time TIME": subdivide.same_time,
    "this|same day in? TIME": subdivide.same_day,
}

_EVENT = "the|my|our|his|her|their|your ?word ?word? on|in|of|from"
"""The event before its date: "the launch on", "my birthday on"."""

ADJACENT: Table = {
    f"{place} {word} {event} {_WHEN}": meaning
    for word, sign in (("before|preceding", -1), ("after|following", 1))
    for event in ("", _EVENT)
    for place, meaning in (
        ("last? UNIT", partial(adjacent.unit, sign=sign)),
        ("last? CYCLE", partial(adjacent.cycle, sign=sign)),
        ("DURATION", partial(subdivide.amount_away, sign=sign)),
        ("UNITS", partial(adjacent.units, sign=sign)),
    )
} | {
    "DURATION prior to CYCLE|TIME": partial(subdivide.amount_away, sign=-1),
    "UNIT starting|beginning|commencing on? the? CYCLE|TIME": lambda now, unit, when: (
        adjacent.amount_from(now, Duration(((1, unit),)), when)
    ),
    "DURATION starting|beginning from|on? CYCLE|TIME": adjacent.amount_from,
    "in DURATION since the? CYCLE|TIME": adjacent.so_long_after,
}

CYCLES: Table = {
    "WEEKDAY": cycles.weekday,
    "WEEKDAY ,? the? CYCLE|TIME": combine.dated,
    "PART": cycles.part_of_day,
    "week NUM": cycles.week_of_year,
    "from|between HOUR -|to|and|until|till|through HOUR": clock.between,
    "at? around|about? CLOCK": clock.at,
    "at HOUR": lambda now, hour: clock.at(now, clock.clock(hour)),
    "last|previous CYCLE": combine.last,
    "past CYCLE": combine.last,
    "last|previous CYCLE weekend": _last_weekend_of,
    "this|current CYCLE": combine.this,
    "next|coming|upcoming CYCLE": combine.coming,
    "CYCLE before last": lambda now, cycle: combine.last_but(now, 2, cycle),
    "CYCLE|TIME ,|-|'s? at|in|of|from|t? the? CYCLE|TIME": combine.side_by_side,
    "CYCLE|TIME ,|-? on the? CYCLE|TIME": combine.with_date,
}

# --- Two ends, or one ----------------------------------------------------------------------------

_ONE = "the? CYCLE|TIME"

RANGES: Table = {
    f"between {_ONE} and|to|- {_ONE}": ranges.join,
    f"from? {_ONE} -|to|until|till|through|thru {_ONE}": ranges.join,
    f"from|between? the? DAY -|to|until|till|through|thru|and {_ONE}": ranges.days_to,
    f"between DAY -|to|and {_ONE}": ranges.days_to,
    "from SURE_YEAR -|to YEAR": ranges.join,
    f"between {_ONE} and now": ranges.up_to_now,
    f"since {_ONE}": ranges.up_to_now,
    f"since {_EVENT} {_ONE}": ranges.up_to_now,
    f"after {_EVENT} {_ONE}": ranges.after,
    f"before {_EVENT} {_ONE}": ranges.before,
    f"until|till|by {_EVENT} {_ONE}": ranges.until,
    f"from|since {_ONE} to|until|till now|date|present": ranges.up_to_now,
    f"from {_ONE} on|onward|onwards|forward": ranges.onwards,
    f"starting|beginning from|on|in? {_ONE}": ranges.onwards,
    f"after {_ONE}": ranges.after,
    f"greater|later than {_ONE}": ranges.after,
    f"before|preceding {_ONE}": ranges.before,
    f"prior to {_ONE}": ranges.before,
    f"less|earlier than {_ONE}": ranges.before,
    f"until|till|by {_ONE}": ranges.until,
    f"up to|until|till {_ONE}": ranges.until,
}


def _complete(_: Now, when: Reading) -> dict[str, object]:
    """A time with its preposition; an earlier one is of other words: "what I worked on at noon"."""
    return {COMPLETE: when}


def _back(now: Now, when: Reading) -> dict[str, object] | None:
    """Back in May, which is past; "back" is no part of the time in "I will be back in May"."""
    return {COMPLETE: when} if when.start is None or when.start <= now.moment else None


def _same(_: Now, when: Reading) -> Reading:
    return when


LEADS: Table = {
    "the|this|a TIME": _same,
    "almost|nearly|exactly|roughly TIME": _same,
    "TIME or so": _same,
    "from TIME": ranges.from_alone,
    "in|on|at|of|during|over|for|within|throughout TIME": _complete,
    "around|about|back|toward|towards TIME": _complete,
    "back COMPLETE": _back,
    "TIME 's": _complete,
}


_NUMBERS = Grammar(NUMBERS, HOURS, backwards=False)
_AMOUNTS = Grammar(AMOUNTS)
_DATES = Grammar(CLOCKS, DAYS, WORK, DATES, YEARS, HOLIDAYS, backwards=False)
_PHRASES = Grammar(UNITS, PARTS, ADJACENT, CYCLES, RECURRING)
_RANGES = Grammar(RANGES, backwards=False)
_LEADS = Grammar(LEADS)
_GRAMMARS = (_NUMBERS, _AMOUNTS, _DATES, _PHRASES, _RANGES, _LEADS)
_VOCABULARY = vocabulary(word for grammar in _GRAMMARS for word in grammar.words)
