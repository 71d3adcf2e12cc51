"""English: the patterns of time expressions, each with the function that says what it means.

To teach it an expression, add a line to a table; `grammar.py` says how a pattern is written and
`counted.py`, `cycles.py`, `together.py`, `parts.py` and `ranges.py` hold the meanings.

The grammar is our own: the best kept library, date-wrangler, reads 49 of 60 memory questions
(measured on its version 2.3), knows no hours, seasons, holidays or second readings, and would need
a layer as long as these tables.
"""

from __future__ import annotations

from functools import partial

from recall_stages.timeline import clock, counted, cycles, parts, ranges, together
from recall_stages.timeline.english_holidays import HOLIDAYS
from recall_stages.timeline.english_lexer import tokenize
from recall_stages.timeline.english_numbers import AMOUNTS, CLOCKS, NUMBERS
from recall_stages.timeline.grammar import Found, Grammar, Table, readings, settle
from recall_stages.timeline.reading import Cycle, Duration, Now, Reading
from recall_stages.timeline.time_range import Grain


def read(text: str, now: Now) -> list[Found]:
    """Every time expression of an English text, with where it stands."""
    found: list[Found] = []
    for tokens in tokenize(text, _KNOWN):
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
    "tonight": lambda now: counted.night(now, 0),
    "recently|lately|nowadays": counted.soft(30),
    "these days": counted.soft(30),
    "the other day|night|morning|evening": counted.soft(14),
    "the other week": counted.soft(30),
    "a while ago|back": counted.soft(365),
    "some time ago|back": counted.soft(365),
    "a? long time ago": counted.long_ago,
    "a? long while ago": counted.long_ago,
    "long|ages ago": counted.long_ago,
    "UNITS ago": counted.vaguely_ago,
}

UNITS: Table = {
    "this|current UNIT": lambda now, unit: counted.unit(now, 0, unit),
    "last|previous UNIT": lambda now, unit: counted.unit(now, -1, unit),
    "past UNIT": lambda now, unit: counted.rolling(now, Duration(((1, unit),))),
    "next|coming|following|upcoming UNIT": lambda now, unit: counted.unit(now, 1, unit),
    "UNIT before last": lambda now, unit: counted.unit(now, -2, unit),
    "UNIT after next": lambda now, unit: counted.unit(now, 2, unit),
    "over|during|at|on the weekend": lambda now: counted.unit(now, 0, "weekend"),
    "DURATION ago|back|earlier": counted.ago,
    "DURATION from now": partial(counted.ago, sign=1),
    "last|past|previous DURATION": counted.rolling,
    "next|coming|following DURATION": counted.ahead,
    "NUM WEEKDAYS ago|back": lambda now, count, weekday: together.last_but(
        now, count, cycles.weekday(now, weekday)
    ),
    "UNIT to date": lambda now, unit: parts.so_far(now, now.unit(unit)),
}

# --- Dates, which come round ---------------------------------------------------------------------

DATES: Table = {
    "MONTH": cycles.month,
    "MONTH .|,|/|-? the? DAY": cycles.month_day,
    "the? DAY day? of|/|-? the? MONTH": lambda now, day, month: cycles.month_day(now, month, day),
    "MONTH .? the? DAY -|to|through|thru|until|till the? DAY": cycles.days_of_month,
    "WEEKDAY ,? the? MONTHDAY": lambda now, weekday, day: cycles.day_of_month(now, day, weekday),
    "the? MONTHDAY": cycles.day_of_month,
    "SLASHED": cycles.slashed,
    "SEASON": cycles.season,
    "q NUM": cycles.quarter,
    "h NUM": cycles.half_year,
    "the ORD quarter": cycles.quarter,
    "ORD quarter of": cycles.quarter,
    "DATE": cycles.numeric_date,
}

YEARS: Table = {
    "SAID_YEAR": cycles.year,
    "fy|cy NUM": cycles.short_year,
    "YEAR -|/? MONTH": lambda now, year, month: together.in_year(
        now, cycles.month(now, month), year
    ),
    "DAY -|/? MONTH -|/? YEAR": lambda now, day, month, year: cycles.numeric_date(
        now, (year, month, day)
    ),
    "YEAR -|/? MONTH -|/? DAY": lambda now, *numbers: cycles.numeric_date(now, numbers),
    "on YEAR NUM DAY": lambda now, *numbers: cycles.numeric_date(now, numbers),
    "MONTH_YEAR": together.month_of_year,
    "YEAR -|,? CYCLE": lambda now, year, cycle: together.in_year(now, cycle, year),
    "CYCLE -|,|/? of|in? the? year? YEAR": together.in_year,
    "YEAR s|'s": cycles.decade,
    "the NUM s|'s": cycles.decade,
    "the DECADE": cycles.decade,
    "NUM -? DECADE": lambda now, century, years: cycles.decade(now, century * 100 + years),
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


def _every_part(now: Now, weekday: int, ends: tuple[int, int]) -> Reading | None:
    """On Monday mornings."""
    found = together.combine(now, cycles.weekday(now, weekday), cycles.part_of_day(now, ends))
    return together.every(now, found) if isinstance(found, Cycle) else None


_WHEN = "the? CYCLE|TIME|UNIT_NOW"

PARTS: Table = {
    "the UNIT": _present,
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
    "this time TIME": parts.same_time,
    "this day TIME": parts.same_day,
}

_EVENT = "the|my|our|his|her|their|your ?word ?word? on|in|of|from"
"""What a date is the date of: "the launch on", "my birthday on"."""

BESIDE: Table = {
    f"{place} {word} {event} {_WHEN}": meaning
    for word, sign in (("before|preceding", -1), ("after|following", 1))
    for event in ("", _EVENT)
    for place, meaning in (
        ("last? UNIT", partial(parts.unit_beside, sign=sign)),
        ("last? CYCLE", partial(parts.cycle_beside, sign=sign)),
        ("DURATION", partial(parts.amount_beside, sign=sign)),
    )
} | {
    "DURATION prior to CYCLE|TIME": partial(parts.amount_beside, sign=-1),
    "DURATION starting|beginning from|on? CYCLE|TIME": parts.amount_from,
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
    "this? past CYCLE": together.last,
    "last|previous CYCLE weekend": _last_weekend_of,
    "this|current CYCLE": together.this,
    "next|coming|following|upcoming CYCLE": together.coming,
    "CYCLE before last": lambda now, cycle: together.last_but(now, 2, cycle),
    "every|each CYCLE": together.every,
    "every|each CYCLE and CYCLE": together.every,
    "CYCLE every|each UNIT": lambda now, cycle, _unit: together.every(now, cycle),
    "on|every WEEKDAYS": lambda now, weekday: together.every(now, cycles.weekday(now, weekday)),
    "on WEEKDAYS and WEEKDAYS": lambda now, *weekdays: together.every(
        now, *(cycles.weekday(now, one) for one in weekdays)
    ),
    "WEEKDAY PARTS": _every_part,
    "on|every weekends|weekend": lambda now: together.every(now, cycles.weekends(now)),
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
    f"since {_ONE}": ranges.up_to_now,
    f"from|since {_ONE} to|until|till now|date|present": ranges.up_to_now,
    f"from {_ONE} on|onward|onwards|forward": ranges.onwards,
    f"starting|beginning from|on|in? {_ONE}": ranges.onwards,
    f"after {_ONE}": ranges.after,
    f"greater|later than {_ONE}": ranges.after,
    f"before|preceding {_ONE}": ranges.before,
    f"prior to {_ONE}": ranges.before,
    f"less|earlier than {_ONE}": ranges.before,
    f"until|till|by {_ONE}": ranges.until,
    f"up to {_ONE}": ranges.until,
}

LEADS: Table = {
    "in|on|at|of|during|over|for|within|throughout TIME": lambda _, when: when,
    "around|about|the|from|back TIME": lambda _, when: when,
}


_NUMBERS = Grammar(NUMBERS, backwards=False)
_AMOUNTS = Grammar(AMOUNTS)
_DATES = Grammar(CLOCKS, DAYS, DATES, YEARS, HOLIDAYS, backwards=False)
_PHRASES = Grammar(UNITS, PARTS, BESIDE, CYCLES)
_RANGES = Grammar(RANGES, backwards=False)
_LEADS = Grammar(LEADS)
_GRAMMARS = (_NUMBERS, _AMOUNTS, _DATES, _PHRASES, _RANGES, _LEADS)
_KNOWN = frozenset().union(*(g.words for g in _GRAMMARS))
