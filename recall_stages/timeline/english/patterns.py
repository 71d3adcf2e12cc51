"""English: the patterns of time expressions, each with the function that says what it means.

To teach it an expression, add a line to a table; `grammar.py` says how a pattern is written and
`counted.py`, `cycles.py`, `together.py`, `parts.py`, `beside.py` and `ranges.py` hold the meanings.

The grammar is our own: the best kept library, date-wrangler, reads 49 of 60 memory questions
(measured on its version 2.3), knows no hours, seasons, holidays or second readings, and would need
a layer as long as these tables.
"""

from __future__ import annotations

from functools import partial

from recall_stages.timeline.engine.grammar import SAID, Found, Grammar, Table, readings, settle
from recall_stages.timeline.engine.reading import Cycle, Duration, Now, Reading
from recall_stages.timeline.english.dates import DATES, YEARS
from recall_stages.timeline.english.holidays import HOLIDAYS
from recall_stages.timeline.english.lexer import tokenize, vocabulary
from recall_stages.timeline.english.numbers import AMOUNTS, CLOCKS, HOURS, NUMBERS
from recall_stages.timeline.english.recurring import RECURRING, WORK
from recall_stages.timeline.meanings import adjacent as beside
from recall_stages.timeline.meanings import clock, cycles, ranges
from recall_stages.timeline.meanings import combine as together
from recall_stages.timeline.meanings import relative as counted
from recall_stages.timeline.meanings import subdivide as parts
from recall_stages.timeline.time_range import Grain


def read(text: str, now: Now) -> list[Found]:
    """Every time expression of an English text, with where it stands."""
    found: list[Found] = []
    for tokens in tokenize(text, _VOCABULARY):
        for grammar in (_NUMBERS, _AMOUNTS, _DATES, _PHRASES, _RANGES):
            grammar.rewrite(tokens, now)
        settle(tokens, now)
        _LEADS.rewrite(tokens, now)
        found += readings(tokens)
    return found


# --- Days and units, counted from now ------------------------------------------------------------

DAYS: Table = {
    "today": lambda now: counted.day(now, 0),
    "yesterday": lambda now: counted.day(now, -1),
    "tomorrow": lambda now: counted.day(now, 1),
    "the? day before yesterday": lambda now: counted.day(now, -2),
    "the? day after tomorrow": lambda now: counted.day(now, 2),
    "last|yesterday night": lambda now: counted.night(now, -1),
    "the? night before last": lambda now: counted.night(now, -2),
    "the night before_now": lambda now: counted.night(now, -1),
    "tonight": lambda now: counted.night(now, 0),
    "recently|lately|nowadays": counted.soft(30),
    "these days": counted.soft(30),
    "a moment ago": counted.soft(1),
    "the other day|night|morning|evening": counted.soft(14),
    "the other week|weekend": counted.soft(30),
    "the other month": counted.soft(90),
    "not so|too|that|very? long ago": counted.soft(60),
    "a while ago|back": counted.soft(365),
    "some time ago|back": counted.soft(365),
    "a? long time ago": counted.long_ago,
    "a? long while ago": counted.long_ago,
    "long|ages ago": counted.long_ago,
    "UNITS ago": counted.vaguely_ago,
    "recent UNITS": counted.in_recent,
    "GLUED": lambda now, said: counted.unit(now, *said),
    "DURATION from now|today": partial(counted.ago, sign=1),
    "DURATION ago today": lambda now, amount: now.unit_at("day", amount.from_(now.today, -1)),
}

UNITS: Table = {
    "this|current UNIT": lambda now, unit: counted.unit(now, 0, unit),
    "last|previous UNIT": lambda now, unit: counted.unit(now, -1, unit),
    "OVER_LAST UNIT": lambda now, _, unit: counted.last_unit(now, unit),
    "in the PRESENT": lambda now, unit: counted.unit(now, 0, unit),
    "my|our PRESENT": lambda now, unit: counted.unit(now, 0, unit),
    "the UNIT before_now": lambda now, unit: counted.unit(now, -1, unit),
    "this|current ANY_SEASON": lambda now, _: cycles.season_beside(now, 0),
    "last|previous|past ANY_SEASON": lambda now, _: cycles.season_beside(now, -1),
    "next|coming ANY_SEASON": lambda now, _: cycles.season_beside(now, 1),
    "past UNIT": lambda now, unit: counted.rolling(now, Duration(((1, unit),))),
    "next|coming|upcoming UNIT": lambda now, unit: counted.unit(now, 1, unit),
    "UNIT before last": lambda now, unit: counted.unit(now, -2, unit),
    "UNIT after next": lambda now, unit: counted.unit(now, 2, unit),
    "over|during|at|on the weekend": lambda now: counted.unit(now, 0, "weekend"),
    "DURATION ago|back|earlier": counted.ago,
    "will_in DURATION": partial(counted.ago, sign=1),
    "will_within DURATION": counted.ahead,
    "last|past|previous DURATION": counted.rolling,
    "next|coming DURATION": counted.ahead,
    "NUM WEEKDAYS ago|back": lambda now, count, weekday: together.last_but(
        now, count, cycles.weekday(now, weekday)
    ),
    "NUM PARTS ago|back": together.parts_ago,
    "NUM SEASONS ago|back": lambda now, count, season: together.last_but(
        now, count, cycles.season(now, season)
    ),
    "UNIT to date": lambda now, unit: parts.so_far(now, now.unit(unit)),
}

# --- Words around a date -------------------------------------------------------------------------


def _present(now: Now, unit: Grain) -> dict[str, object] | None:
    """The month: said alone it may be any; "the end of the month" is of this one."""
    if unit in ("second", "minute", "hour", "day", "weekend"):
        return None
    return {"UNIT_NOW": now.unit(unit)}


def _last_weekend_of(now: Now, feast: Cycle) -> Reading | None:
    found = parts.unit_of(now, "weekend", feast)
    return together.last(now, found) if isinstance(found, Cycle) else None


_WHEN = "the? CYCLE|TIME|UNIT_NOW"

PARTS: Table = {
    "the UNIT": _present,
    "SAID_EDGE of UNIT": parts.end_of_unit,
    "the? EDGE_OF": lambda now, said: parts.end_of_unit(now, *said),
    "CYCLE of UNIT_NOW": together.combine,
    f"latter half of|in {_WHEN}": lambda now, when: parts.half(now, 2, when),
    f"ORD quarter {_WHEN}": lambda now, count, when: parts.nth_unit(now, count, "quarter", when),
    f"EDGE -? of|in? {_WHEN}": parts.third,
    f"ORD half of|in? {_WHEN}": parts.half,
    f"ORD UNIT of|in {_WHEN}": parts.nth_unit,
    f"last|final UNIT of|in {_WHEN}": lambda now, unit, when: parts.nth_unit(now, -1, unit, when),
    f"ORD CYCLE of|in {_WHEN}": parts.nth_occurrence,
    f"last|final CYCLE of|in {_WHEN}": lambda now, cycle, when: parts.nth_occurrence(
        now, -1, cycle, when
    ),
    f"first DURATION of|in {_WHEN}": parts.first_of,
    f"last|final DURATION of|in {_WHEN}": partial(parts.first_of, sign=-1),
    f"UNIT of|containing {_WHEN}": parts.unit_of,
    "CYCLE|TIME weekend": lambda now, when: parts.unit_of(now, "weekend", when),
    "earlier|sooner in? TIME|UNIT_NOW": parts.earlier,
    "TIME|UNIT_NOW so far": parts.so_far,
    "so far TIME": parts.so_far,
    "later in? TIME|UNIT_NOW": parts.still_to_come,
    "rest|remainder|remaining of TIME|UNIT_NOW": parts.still_to_come,
    "this|same time TIME": parts.same_time,
    "this|same day in? TIME": parts.same_day,
}

_EVENT = "the|my|our|his|her|their|your ?word ?word? on|in|of|from"
"""What a date is the date of: "the launch on", "my birthday on"."""

BESIDE: Table = {
    f"{place} {word} {event} {_WHEN}": meaning
    for word, sign in (("before|preceding", -1), ("after|following", 1))
    for event in ("", _EVENT)
    for place, meaning in (
        ("last? UNIT", partial(beside.unit_beside, sign=sign)),
        ("last? CYCLE", partial(beside.cycle_beside, sign=sign)),
        ("DURATION", partial(parts.amount_beside, sign=sign)),
        ("UNITS", partial(beside.units_beside, sign=sign)),
    )
} | {
    "DURATION prior to CYCLE|TIME": partial(parts.amount_beside, sign=-1),
    "UNIT starting|beginning|commencing on? the? CYCLE|TIME": lambda now, unit, when: (
        beside.amount_from(now, Duration(((1, unit),)), when)
    ),
    "DURATION starting|beginning from|on? CYCLE|TIME": beside.amount_from,
    "in DURATION since the? CYCLE|TIME": beside.so_long_after,
}

CYCLES: Table = {
    "WEEKDAY": cycles.weekday,
    "WEEKDAY ,? the? CYCLE|TIME": together.dated,
    "PART": cycles.part_of_day,
    "week NUM": cycles.week_of_year,
    "from|between HOUR -|to|and|until|till|through HOUR": clock.between,
    "at? around|about? CLOCK": clock.at,
    "at HOUR": lambda now, hour: clock.at(now, clock.clock(hour)),
    "last|previous CYCLE": together.last,
    "past CYCLE": together.last,
    "last|previous CYCLE weekend": _last_weekend_of,
    "this|current CYCLE": together.this,
    "next|coming|upcoming CYCLE": together.coming,
    "CYCLE before last": lambda now, cycle: together.last_but(now, 2, cycle),
    "CYCLE|TIME ,|-|'s? at|in|of|from|t? the? CYCLE|TIME": together.combine,
    "CYCLE|TIME ,|-? on the? CYCLE|TIME": together.combine_on,
}

# --- Two ends, or one ----------------------------------------------------------------------------

_ONE = "the? CYCLE|TIME"

RANGES: Table = {
    f"between {_ONE} and|to|- {_ONE}": ranges.join,
    f"from? {_ONE} -|to|until|till|through|thru {_ONE}": ranges.join,
    f"from|between? the? DAY -|to|until|till|through|thru|and {_ONE}": ranges.days_to,
    f"between DAY -|to|and {_ONE}": ranges.days_to,
    "from SAID_YEAR -|to YEAR": ranges.join,
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


def _said(_: Now, when: Reading) -> dict[str, object]:
    """With its preposition; the one before it is not of the time: "what I worked on at noon"."""
    return {SAID: when}


def _back(now: Now, when: Reading) -> dict[str, object] | None:
    """Back in May; but "I will be back in two weeks" comes back."""
    return {SAID: when} if when.start is None or when.start <= now.moment else None


def _same(_: Now, when: Reading) -> Reading:
    return when


LEADS: Table = {
    "the|this|a TIME": _same,
    "almost|nearly|exactly|roughly TIME": _same,
    "TIME or so": _same,
    "from TIME": ranges.from_alone,
    "in|on|at|of|during|over|for|within|throughout TIME": _said,
    "around|about|back|toward|towards TIME": _said,
    "back SAID": _back,
    "TIME 's": _said,
}


_NUMBERS = Grammar(NUMBERS, HOURS, backwards=False)
_AMOUNTS = Grammar(AMOUNTS)
_DATES = Grammar(CLOCKS, DAYS, WORK, DATES, YEARS, HOLIDAYS, backwards=False)
_PHRASES = Grammar(UNITS, PARTS, BESIDE, CYCLES, RECURRING)
_RANGES = Grammar(RANGES, backwards=False)
_LEADS = Grammar(LEADS)
_GRAMMARS = (_NUMBERS, _AMOUNTS, _DATES, _PHRASES, _RANGES, _LEADS)
_VOCABULARY = vocabulary(word for grammar in _GRAMMARS for word in grammar.words)
