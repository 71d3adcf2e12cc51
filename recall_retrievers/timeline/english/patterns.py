"""English: the patterns of time expressions, each with the function that gives its meaning.

To teach the grammar an expression, add a line to a table. `engine.grammar` explains the patterns;
the modules of `meanings` hold the functions.

The grammar is our own. The best English library, date-wrangler 2.3 (MIT, one author), was measured
on two sets of memory questions: it read 49 of 60, and 23 of 30 that were written afterwards. With
55 lines of ours on top it read all 60 (they were tuned on these) and 25 of the 30. It knows days
but no hours, one reading but no second one, and no Chinese.
"""

import re
from functools import partial

from recall_retrievers.timeline.grammar.clauses import Clauses
from recall_retrievers.timeline.grammar.engine import (
    COMPLETE,
    Expression,
    Grammar,
    Table,
    complete,
    read_all,
)
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading
from recall_retrievers.timeline.english.dates import DATES, FEASTS, HOLIDAYS, RECURRING, WORK, YEARS
from recall_retrievers.timeline.english.lexer import tokenize, vocabulary
from recall_retrievers.timeline.english.numbers import AMOUNTS, CLOCKS, HOURS, NUMBERS
from recall_retrievers.timeline.english.relative import DAYS, UNITS
from recall_retrievers.timeline.meanings import (
    clock,
    combine,
    cycles,
    ranges,
    relative,
    subdivide,
)
from recall_retrievers.timeline.time_range import Grain


def read(text: str, now: Now) -> list[Expression]:
    """Every time expression of an English text, with its place."""
    return _CLAUSES.apply(text, now, _read)


def _read(text: str, now: Now) -> list[Expression]:
    return read_all(tokenize(text, _VOCABULARY), now, _GRAMMARS, _LEADS)


def _present(now: Now, unit: Grain) -> dict[str, object] | None:
    """The present unit of "the end of the month"; "the month" alone may be any."""
    if unit in ("second", "minute", "hour", "day", "weekend"):
        return None
    return {"UNIT_NOW": now.unit(unit)}


def _last_weekend_of(now: Now, holiday: Cycle) -> Reading | None:
    weekend = subdivide.unit_of(now, "weekend", holiday)
    return combine.last(now, weekend) if isinstance(weekend, Cycle) else None


_FEW = 4  # "the last days of May"
_ONE_WEEK = Duration.of(1, "week")
_WHEN = "the? CYCLE|TIME|UNIT_NOW"

PARTS: Table = {
    "the UNIT": _present,
    "SURE_EDGE of UNIT": subdivide.end_of_unit,
    f"END of|in? {_WHEN}": subdivide.end_of,
    "the? EDGE_OF": lambda now, edge: subdivide.end_of_unit(now, *edge),
    "CYCLE of UNIT_NOW": combine.side_by_side,
    f"latter half of|in {_WHEN}": lambda now, when: subdivide.half(now, 2, when),
    f"ORD quarter {_WHEN}": lambda now, count, when: subdivide.nth_unit(
        now, count, "quarter", when
    ),
    f"EDGE -? of|in? {_WHEN}": subdivide.third,
    f"ORD half of|in? {_WHEN}": subdivide.half,
    f"ORD UNIT of|in {_WHEN}": subdivide.nth_unit,
    f"first|opening few? UNITS of|in {_WHEN}": lambda now, unit, when: subdivide.first_of(
        now, Duration.of(_FEW, unit), when
    ),
    f"last|final|closing few? UNITS of|in {_WHEN}": lambda now, unit, when: subdivide.first_of(
        now, Duration.of(_FEW, unit), when, -1
    ),
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
    "earlier|sooner in the CYCLE": subdivide.earlier_today,
    "TIME|UNIT_NOW so far": subdivide.so_far,
    "so far TIME": subdivide.so_far,
    "later in? TIME|UNIT_NOW": subdivide.still_to_come,
    "rest|remainder|remaining of TIME|UNIT_NOW": subdivide.still_to_come,
    "this|same time TIME": subdivide.same_time,
    "this|same day|date in? TIME": subdivide.same_day,
}

_EVENT = "the|my|our|his|her|their|your ?word ?word? on|in|of|from"
"""The event before its date: "the launch on", "my birthday on"."""

ADJACENT: Table = {
    f"{place} {word} {event} {_WHEN}": meaning
    for word, sign in (("before|preceding", -1), ("after|following", 1))
    for event in ("", _EVENT)
    for place, meaning in (
        ("last? UNIT", partial(ranges.unit_beside, sign=sign)),
        ("last? CYCLE", partial(ranges.cycle_beside, sign=sign)),
        ("DURATION", partial(subdivide.amount_away, sign=sign)),
        ("UNITS", partial(ranges.units_beside, sign=sign)),
    )
} | {
    "eve of the? CYCLE|TIME": lambda now, when: ranges.unit_beside(now, "day", when, -1),
    "DURATION prior to CYCLE|TIME": partial(subdivide.amount_away, sign=-1),
    "UNIT starting|beginning|commencing on? the? CYCLE|TIME": lambda now, unit, when: (
        ranges.amount_from(now, Duration.of(1, unit), when)
    ),
    "UNIT ending|ended|finishing on? the? CYCLE|TIME": ranges.unit_up_to,
    "w / c|b the? CYCLE|TIME": lambda now, when: ranges.amount_from(now, _ONE_WEEK, when),
    "w / e the? CYCLE|TIME": lambda now, when: ranges.unit_up_to(now, "week", when),
    "DURATION starting|beginning from|on? CYCLE|TIME": ranges.amount_from,
    "in DURATION since the? CYCLE|TIME": ranges.so_long_after,
}

CYCLES: Table = {
    "WEEKDAY": cycles.weekday,
    "WEEKDAY ,? the? CYCLE|TIME": combine.dated,
    "PART": cycles.part_of_day,
    "week NUM": cycles.week_of_year,
    "no later than HOUR": partial(clock.outside, side=-1),
    "last|previous|past CYCLE -|to|through|thru|until|till CYCLE": combine.last_stretch,
    "next|coming CYCLE -|to|through|thru|until|till CYCLE": combine.next_stretch,
    "from|between HOUR -|to|and|until|till|through HOUR": clock.between,
    "at? around|about? CLOCK": clock.at,
    "at HOUR": lambda now, hour: clock.at(now, clock.clock(hour)),
    "last|previous CYCLE": combine.last,
    "past CYCLE": combine.last,
    "last|previous CYCLE weekend": _last_weekend_of,
    "this|current very? CYCLE": combine.this,
    "next|coming|upcoming CYCLE": combine.coming,
    "CYCLE before last": lambda now, cycle: combine.last_but(now, 2, cycle),
    "CYCLE|TIME ,|-|'s? at|in|of|from|t? the? CYCLE|TIME": combine.side_by_side,
    "CYCLE|TIME ,|-? on the? CYCLE|TIME": combine.with_date,
}

# --- Two ends, or one ----------------------------------------------------------------------------

_ONE = "the? CYCLE|TIME|SAID_YEAR"

RANGES: Table = {
    f"between {_ONE} and|to|- {_ONE}": ranges.join,
    f"from? {_ONE} up? -|to|until|till|through|thru {_ONE}": ranges.join,
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
    f"on|at or after {_ONE}": ranges.onwards,
    f"on|at or before {_ONE}": ranges.until,
    f"no|not earlier|sooner than {_ONE}": ranges.onwards,
    f"no|not later than {_ONE}": ranges.until,
    f"up to and including {_ONE}": ranges.until,
    "more|longer than AGO": partial(ranges.beyond, sure=True),
    "over AGO": partial(ranges.beyond, sure=True),
    "at least AGO": partial(ranges.beyond, sure=False),
    "less|fewer than AGO": ranges.within,
    "no|not more|longer than AGO": ranges.within,
    "at most AGO": ranges.within,
    "under AGO": ranges.within,
    f"until|till|by {_ONE}": ranges.until,
    f"as of|at {_ONE}": ranges.as_of,
    "of UNIT_NOW": lambda now, when: relative.first_of(now, when.grain),
    f"up to|until|till {_ONE}": ranges.until,
}


def _back(now: Now, when: Reading) -> dict[str, object] | None:
    """Back in May, which is past; "back" is no part of the time in "I will be back in May"."""
    return {COMPLETE: when} if when.start is None or when.start <= now.moment else None


LEADS: Table = {
    "the|this|a TIME": lambda _, when: when,
    "almost|nearly|exactly|roughly TIME": lambda _, when: when,
    "TIME or so": lambda _, when: when,
    "from TIME": ranges.from_alone,
    "in|on|at|of|during|over|for|within|throughout TIME": complete,
    "around|about|back|toward|towards TIME": complete,
    "back COMPLETE": _back,
    "TIME 's": complete,
}


_GRAMMARS = (
    Grammar(NUMBERS, HOURS, backwards=False),
    Grammar(AMOUNTS),
    Grammar(CLOCKS, DAYS, WORK, DATES, YEARS, HOLIDAYS, FEASTS, backwards=False),
    Grammar(UNITS, PARTS, ADJACENT, CYCLES, RECURRING),
    Grammar(RANGES, backwards=False),
)
_LEADS = Grammar(LEADS)
_VOCABULARY = vocabulary(word for grammar in (*_GRAMMARS, _LEADS) for word in grammar.words)

# --- Clauses around a time: "since I moved in March", "as mentioned on 5 May" --------------------

_COARSE = ("month", "quarter", "season", "year", "decade")
_SAID = (
    "mentioned|said|told|noted|stated|described|discussed|reported|wrote|written|recorded|shared"
)
# A clause ends where another question begins: "since I like hiking what did I do in March?".
_WORDS = r"(?:(?!(?:what|which|who|whom|how|did|does|do|when|where|why|since)\b)[\w’'-]+\s+)"
_SUBJECT = r"(?:i|we|he|she|they|you|it|(?:my|our|his|her|their|the)\s+\w+)"
# "Since you asked", "especially since I like it" and "since it's already May" give a reason.
_REASON = r"(?!you\s+(?:ask|mention|said|told|want|like)|(?:it|there|that)(?:['’]s|\s+is)\b)"
_STRESS = r"(?<!especially )(?<!particularly )(?<!mainly )(?<!but )(?<!and )"


def _onwards(now: Now, reading: Reading) -> Reading | None:
    """After I moved in March: at some time in March, or later."""
    return ranges.onwards(now, reading) if reading.grain in _COARSE else None


def _until_then(now: Now, reading: Reading) -> Reading | None:
    return ranges.until(now, reading) if reading.grain in _COARSE else None


_CLAUSES = Clauses(
    openings=(
        (
            re.compile(
                rf"{_STRESS}\b(?:ever\s+)?since\s+{_REASON}{_WORDS}{{1,10}}$", re.IGNORECASE
            ),
            ranges.up_to_now,
        ),
        (re.compile(rf"\bafter\s+{_SUBJECT}\s+{_WORDS}{{1,8}}$", re.IGNORECASE), _onwards),
        (re.compile(rf"\bbefore\s+{_SUBJECT}\s+{_WORDS}{{1,8}}$", re.IGNORECASE), _until_then),
    ),
    closings=(),
    mention=re.compile(
        rf"(?:(?:,|\(|;|\bas\b)\s*(?:[\w’']+\s+){{0,4}}?(?:{_SAID})\b[^.?!,;]{{0,30}}?\s+"
        r"(?:(?:on|of|from|in)\s+)?|(?<=\s)as\s+of\s+)(?:the\s+)?[\w.,/\s-]{0,30}$",
        re.IGNORECASE,
    ),
    mentioned=re.compile(rf",?\s+[^.?!]{{0,20}}\b(?:{_SAID})\b[^.?!]{{0,60}}", re.IGNORECASE),
)
