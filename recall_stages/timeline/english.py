"""English: the patterns of time expressions, each with the function that says what it means.

To teach it an expression, add a line to a table; `grammar.py` says how a pattern is written and
`phrases.py`, `parts.py` and `ranges.py` hold the meanings. The grammar is our own: the best kept
library, date-wrangler, reads 49 of 60 memory questions (measured on its version 2.3), knows no
hours, seasons, holidays or second readings, and would need a layer as long as these tables.
"""

from __future__ import annotations

from functools import partial

from recall_stages.timeline import parts, phrases, ranges
from recall_stages.timeline.english_holidays import HOLIDAYS
from recall_stages.timeline.english_lexer import tokenize
from recall_stages.timeline.english_numbers import AMOUNTS, CLOCKS, NUMBERS
from recall_stages.timeline.grammar import Found, Grammar, Meaning, Table, readings, settle
from recall_stages.timeline.phrases import When
from recall_stages.timeline.reading import Cycle, Duration, Now, Reading
from recall_stages.timeline.time_range import Grain


def read(text: str, now: Now) -> list[Found]:
    """Every time expression of an English text, with where it stands."""
    found: list[Found] = []
    for tokens in tokenize(text, _KNOWN):
        for grammar in (_NUMBERS, _AMOUNTS, _PHRASES, _RANGES):
            grammar.rewrite(tokens, now)
        settle(tokens, now)
        _LEADS.rewrite(tokens, now)
        found += readings(tokens)
    return found


# --- Days and units, counted from now ------------------------------------------------------------

DAYS: Table = {
    "today": lambda now: phrases.day(now, 0),
    "yesterday": lambda now: phrases.day(now, -1),
    "tomorrow": lambda now: phrases.day(now, 1),
    "the? day before yesterday": lambda now: phrases.day(now, -2),
    "the? day after tomorrow": lambda now: phrases.day(now, 2),
    "last|yesterday night": lambda now: phrases.night(now, -1),
    "the? night before last": lambda now: phrases.night(now, -2),
    "tonight": lambda now: phrases.night(now, 0),
    "recently|lately|nowadays": phrases.soft(30),
    "these days": phrases.soft(30),
    "the other day|night|morning|evening": phrases.soft(14),
    "the other week": phrases.soft(30),
    "a while ago|back": phrases.soft(365),
    "some time ago|back": phrases.soft(365),
    "a? long time ago": phrases.long_ago,
    "a? long while ago": phrases.long_ago,
    "long|ages ago": phrases.long_ago,
    "UNITS ago": lambda now, unit: phrases.vaguely_ago(now, unit),
}

UNITS: Table = {
    "the week|month|quarter|year|weekend|decade": lambda now: None,
    "this|current UNIT": lambda now, unit: phrases.unit(now, 0, unit),
    "last|previous UNIT": lambda now, unit: phrases.unit(now, -1, unit),
    "past UNIT": lambda now, unit: phrases.rolling(now, Duration(((1, unit),))),
    "next|coming|following|upcoming UNIT": lambda now, unit: phrases.unit(now, 1, unit),
    "UNIT before last": lambda now, unit: phrases.unit(now, -2, unit),
    "UNIT after next": lambda now, unit: phrases.unit(now, 2, unit),
    "over|during|at|on the weekend": lambda now: phrases.unit(now, 0, "weekend"),
    "DURATION ago|back|earlier": phrases.ago,
    "DURATION from now": partial(phrases.ago, sign=1),
    "last|past|previous DURATION": phrases.rolling,
    "next|coming|following DURATION": phrases.ahead,
    "NUM last|past|previous UNIT": lambda now, count, unit: phrases.rolling(
        now, Duration(((count, unit),))
    ),
    "NUM WEEKDAY|WEEKDAYS ago|back": lambda now, count, weekday: phrases.last_but(
        now, count, phrases.weekday(now, weekday)
    ),
    "NUM WEEKDAY|WEEKDAYS before last": lambda now, count, weekday: phrases.last_but(
        now, count + 1, phrases.weekday(now, weekday)
    ),
    "UNIT to date": lambda now, unit: parts.so_far(now, now.unit(unit)),
}

# --- Dates, which come round ---------------------------------------------------------------------

DATES: Table = {
    "MONTH": phrases.month,
    "MONTH .|,|/|-? the? DAY": phrases.month_day,
    "the? DAY day? of|/|-? the? MONTH": lambda now, day, month: phrases.month_day(now, month, day),
    "MONTH .? the? DAY -|to|through|thru|until|till the? DAY": lambda now, month, *days: (
        phrases.days_of_month(now, month, *days)
    ),
    "WEEKDAY": phrases.weekday,
    "WEEKDAY ,? the? MONTHDAY": lambda now, weekday, day: phrases.day_of_month(now, day, weekday),
    "WEEKDAY ,? the? CYCLE|TIME": phrases.dated,
    "the? MONTHDAY": phrases.day_of_month,
    "DATE": phrases.numeric_date,
    "SLASHED": phrases.slashed,
    "SEASON": phrases.season,
    "q NUM": phrases.quarter,
    "h NUM": phrases.half_year,
    "the ORD quarter": phrases.quarter,
    "ORD quarter of": phrases.quarter,
    "week NUM": phrases.week_of_year,
    "PART": phrases.part_of_day,
}

YEARS: Table = {
    "SAID_YEAR": phrases.year,
    "fy|cy NUM": phrases.short_year,
    "YEAR -|/? MONTH": lambda now, year, month: phrases.in_year(now, phrases.month(now, month), year),
    "YEAR -|/? MONTH -|/? DAY": lambda now, *numbers: phrases.numeric_date(now, numbers),
    "on YEAR NUM DAY": lambda now, *numbers: phrases.numeric_date(now, numbers),
    "NUM / YEAR": lambda now, month, year: phrases.in_year(now, phrases.month(now, month), year),
    "YEAR - NUM": lambda now, year, month: phrases.in_year(now, phrases.month(now, month), year),
    "YEAR -|,? CYCLE": lambda now, year, cycle: phrases.in_year(now, cycle, year),
    "CYCLE -|,|/? of|in? the? year? YEAR": phrases.in_year,
    "YEAR s|'s": phrases.decade,
    "the NUM s|'s": phrases.decade,
    "the DECADE": phrases.decade,
    "NUM -? DECADE": lambda now, century, years: phrases.decade(now, century * 100 + years),
}

# --- Words around a date -------------------------------------------------------------------------

_WHEN = "the? CYCLE|TIME|UNIT_NOW"

PARTS: Table = {
    "the UNIT": lambda now, unit: _present(now, unit),
    f"EDGE -? of|in? {_WHEN}": parts.third,
    f"ORD half of|in? {_WHEN}": parts.half,
    f"ORD UNIT of|in {_WHEN}": parts.nth_unit,
    f"last|final UNIT of|in {_WHEN}": lambda now, unit, when: parts.nth_unit(now, -1, unit, when),
    f"ORD WEEKDAY of|in {_WHEN}": parts.nth_weekday,
    f"last|final WEEKDAY of|in {_WHEN}": lambda now, weekday, when: parts.nth_weekday(
        now, -1, weekday, when
    ),
    f"first DURATION of|in {_WHEN}": parts.first_of,
    f"last|final DURATION of|in {_WHEN}": partial(parts.first_of, sign=-1),
    f"UNIT of|containing {_WHEN}": parts.unit_of,
    "CYCLE|TIME weekend": lambda now, when: parts.unit_of(now, "weekend", when),
    "earlier|sooner in? TIME|UNIT_NOW": parts.so_far,
    "TIME|UNIT_NOW so far": parts.so_far,
    "so far TIME": parts.so_far,
    "later in? TIME|UNIT_NOW": parts.still_to_come,
    "rest|remainder|remaining of TIME|UNIT_NOW": parts.still_to_come,
    "this time TIME": parts.same_time,
    "this day TIME": parts.same_day,
}

_EVENT = "the|my|our|his|her|their|your WORD WORD? on|in|of|from"
"""What a date is the date of: "the launch on", "my birthday on"."""

BESIDE: Table = {
    f"{place} {word} {event} {_WHEN}": meaning
    for word, sign in (("before|preceding", -1), ("after|following", 1))
    for event in ("", _EVENT)
    for place, meaning in (
        ("UNIT", lambda now, unit, when, sign=sign: parts.unit_beside(now, unit, sign, when)),
        ("WEEKDAY", lambda now, day, when, sign=sign: parts.weekday_beside(now, day, sign, when)),
        ("last WEEKDAY", lambda now, day, when, sign=sign: parts.weekday_beside(now, day, sign, when)),
        ("last UNIT", lambda now, unit, when, sign=sign: parts.unit_beside(now, unit, sign, when)),
        ("DURATION", lambda now, amount, when, sign=sign: parts.amount_beside(now, amount, sign, when)),
    )
} | {
    "DURATION prior to CYCLE|TIME": partial(parts.amount_beside, sign=-1),
    "DURATION starting|beginning from|on? CYCLE|TIME": parts.amount_from,
}

CYCLES: Table = {
    "last|previous CYCLE": phrases.last,
    "this? past CYCLE": phrases.last,
    "last|previous CYCLE weekend": lambda now, cycle: phrases.last(
        now, parts.unit_of(now, "weekend", cycle)
    ),
    "this|current CYCLE": phrases.this,
    "next|coming|following|upcoming CYCLE": phrases.coming,
    "CYCLE before last": lambda now, cycle: phrases.last_but(now, 2, cycle),
    "every|each CYCLE": phrases.every,
    "every|each CYCLE and CYCLE": phrases.every,
    "CYCLE every|each UNIT": lambda now, cycle, unit: phrases.every(now, cycle),
    "on|every? WEEKDAYS": lambda now, weekday: phrases.every(now, phrases.weekday(now, weekday)),
    "on WEEKDAYS and WEEKDAYS": lambda now, *weekdays: phrases.every(
        now, *(phrases.weekday(now, one) for one in weekdays)
    ),
    "WEEKDAY PARTS": lambda now, weekday, ends: phrases.every(
        now, phrases.together(now, phrases.weekday(now, weekday), phrases.part_of_day(now, ends))
    ),
    "on|every weekends|weekend": lambda now: phrases.every(now, phrases.weekends(now)),
    "CYCLE|TIME ,|-|'s? at|in|of|from|t? the? CYCLE|TIME": phrases.together,
    "CYCLE|TIME ,|-? on the? CYCLE|TIME": phrases.together_on,
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
    "in|on|at|of|during|over|for|within|throughout|around|about|the|from|back|, TIME": lambda _, when: when,
}


def _present(now: Now, unit: Grain) -> dict[str, object] | None:
    """The month: said alone it may be any; "the end of the month" is of this one."""
    if unit in ("second", "minute", "hour", "day", "weekend"):
        return None
    return {"UNIT_NOW": now.unit(unit)}


_NUMBERS = Grammar(NUMBERS, backwards=False)
_AMOUNTS = Grammar(AMOUNTS)
_PHRASES = Grammar(CLOCKS, DAYS, UNITS, DATES, YEARS, HOLIDAYS, PARTS, BESIDE, CYCLES)
_RANGES = Grammar(RANGES, backwards=False)
_LEADS = Grammar(LEADS)
_KNOWN = frozenset().union(*(g.words for g in (_NUMBERS, _AMOUNTS, _PHRASES, _RANGES, _LEADS)))
