"""The patterns that English, German, Spanish and French share, and how a text is read with them.

A pattern is over what words do, and not over the words, so that one line reads all languages:

    "ORD UNIT <inside> <art>? CYCLE|TIME": subdivide.nth_unit

reads "the first week of May", "die erste Woche im Mai" and "la primera semana de mayo".

- A word in CAPITALS is a kind: it has a value, which the meaning gets. A language lists the words
  of a kind by their value: "ORD": {1: "first"}, "UNIT": {"week": "week weeks"}.
- A word in <brackets> is a role: it has no value. "inside" is "of in" in English.
- TIME, CYCLE and DURATION are what smaller patterns have read already: see `reading`.
- `engine` explains the signs `|` and `?`, and which of several patterns counts.

The tables are applied one after the other, the small before the large: NUMBERS, AMOUNTS, DATES,
PHRASES around them, RANGES with ends, and LEADS, which only lengthen what is found. To find how
"the 3rd" is read, look for its kind here (MONTHDAY), and for what makes it one in `neighbours`.
"""

from functools import cached_property, partial

from recall_retrievers.timeline.grammar.engine import (
    Expression,
    Grammar,
    Meaning,
    Table,
    complete,
    last_first,
    read_all,
)
from recall_retrievers.timeline.grammar.lexer import Lexer
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.grammar.vocabulary import Kinds, Vocabulary, number_kinds
from recall_retrievers.timeline.meanings import clock, combine, cycles, ranges, relative, subdivide
from recall_retrievers.timeline.time_range import Grain


class Spaced:
    """The grammar with the words of one language."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.cues = vocabulary.cues

    @cached_property
    def _grammars(self) -> tuple[Grammar, ...]:
        own = self.vocabulary
        return (
            Grammar(NUMBERS, own.sayings, own.numbers, backwards=False),
            Grammar(AMOUNTS, backwards=False),
            Grammar(DATES, own.dates, backwards=False),
            Grammar(PHRASES, own.phrases),
            Grammar(RANGES, own.ranges, backwards=False),
            Grammar(LEADS),
        )

    @cached_property
    def _lexer(self) -> Lexer:
        words = (word for grammar in self._grammars for word in grammar.words)
        return Lexer(self.vocabulary, frozenset(word for word in words if not word.isupper()))

    def read(self, text: str, now: Now) -> list[Expression]:
        """Every time expression of a text, with its place."""
        clauses = self.vocabulary.clauses
        return clauses.apply(text, now, self._read) if clauses else self._read(text, now)

    def _read(self, text: str, now: Now) -> list[Expression]:
        *grammars, leads = self._grammars
        return read_all(self._lexer.tokenize(text), now, grammars, leads)


# --- Numbers, amounts, times of day --------------------------------------------------------------


def _sum(_: Now, *addends: int) -> Kinds:
    return number_kinds(sum(addends))


def _ordinal(_: Now, tens: int, one: int) -> Kinds | None:
    return {"ORD": tens + one, "DAY": tens + one} if one < 10 and tens + one <= 31 else None


def _thousands(now: Now, thousands: int, rest: int = 0) -> Kinds | None:
    if not (1 <= thousands < 10 and rest < 1000):
        return None
    number = thousands * 1000 + rest
    said = {"SAID_YEAR": cycles.year(now, number)} if thousands == 2 and rest < 100 else {}
    return number_kinds(number) | said


NUMBERS: Table = {
    "TENS -? <and>? -? ONES": _sum,
    "TENS -? ORD": _ordinal,
    "NUM <thousand>": _thousands,
    "NUM <thousand> <and>? NUM": _thousands,
    "NUM <thousand> TENS -? <and>? -? ONES": lambda now, count, *rest: _thousands(
        now, count, sum(rest)
    ),
    "SHORT_YEAR": lambda now, number: dict.fromkeys(
        ("YEAR", "SURE_YEAR"), cycles.full_year(now, number)
    ),
    "HOUR AMPM": clock.hour,
    "HOUR <oclock>": clock.hour,
    "HOUR <oclock> NUM": last_first(clock.past),
    "HM <oclock>? AMPM?": lambda now, time, noon=None: clock.figures(now, time, noon),
    "DOTTED AMPM": clock.figures,
    "<half> <past> HOUR AMPM?": lambda now, *time: clock.past(now, 30, *time),
    "<half_before> HOUR": lambda now, hour: clock.to(now, 30, hour),
    "<one>? QUARTER|COUNT <past> HOUR AMPM?": clock.past,
    "<one>? QUARTER|COUNT <to_hour> HOUR AMPM?": clock.to,
}


def spoken_hours(at: str, word: str = "") -> Table:
    """Times of day that say the hour first: a las nueve menos cuarto, à six heures et demie."""
    hour = f"{at} HOUR {word}"
    return {
        hour: clock.hour,
        f"{hour} <and>? QUARTER|NUM": last_first(clock.past),
        f"{hour} <and> <half>": lambda now, hour: clock.past(now, 30, hour),
        f"{hour} <less> <art>? QUARTER|NUM": last_first(clock.to),
    }


def _amount(_: Now, count: int, unit: Grain) -> Duration | None:
    return None if 1500 <= count < 2200 else Duration.of(count, unit)  # 2021 year


AMOUNTS: Table = {
    "NUM UNIT": _amount,
    "<one> UNIT": lambda now, unit: _amount(now, 1, unit),
    "NUM -|<to>|<or> NUM UNIT": lambda now, low, high, unit: relative.between(
        now, (low, high), unit
    ),
    "<one> UNIT <or> NUM": lambda now, unit, most: relative.between(now, (1, most), unit),
    # "A" may be a number in these: un par de semanas, une demi-heure
    "NUM|<one>? <few> UNIT": lambda now, *named: relative.few(now, named[-1]),
    "NUM|<one>? <couple> <of>? UNIT": lambda _, *named: Duration(((2, named[-1]),), (1, 1)),
    "NUM|<one>? <half> <one>? UNIT": lambda now, *named: relative.and_a_half(now, 0, named[-1]),
    "NUM|<one>? <fortnight>": lambda _, count=1: Duration.of(2 * count, "week"),
    "<several> UNIT": lambda _, unit: Duration(((5, unit),), (2, 3)),
    "<one_and_a_half> UNIT": lambda now, unit: relative.and_a_half(now, 1, unit),
    "NUM UNIT <and> <one>? <half>": relative.and_a_half,
    "<one>? UNIT <and> <one>? <half>": lambda now, unit: relative.and_a_half(now, 1, unit),
    "NUM <and> <one> <half> UNIT": relative.and_a_half,
    "DOTTED UNIT": relative.decimal,
    "DURATION <and>|,? DURATION": lambda _, one, other: Duration(one.parts + other.parts),
}

# --- Dates ---------------------------------------------------------------------------------------


def _outer(now: Now, end: int, amount: Duration, when: When) -> When | None:
    """The first (1) three days of May, the last (-1) two weeks."""
    return subdivide.first_of(now, amount, when, end) if end in (1, -1) else None


def _rolling(now: Now, offset: int, amount: Duration) -> Reading | None:
    """In den letzten drei Tagen, los próximos dos meses."""
    if offset > 0:
        return relative.ahead(now, amount)
    return relative.rolling(now, amount) if offset in (-1, 0) else None


def _last_units(now: Now, count: int, offset: int, unit: Grain) -> Kinds | None:
    """Les deux dernières semaines; of January, where a month follows."""
    amount = Duration.of(count, unit)
    reading = _rolling(now, offset, amount)
    return {"OUTER": (offset, amount), Reading.KIND: reading} if reading else None


def _part_of_decade(now: Now, edge: int, years: int) -> When | None:
    whole = cycles.decade(now, years)
    return whole and subdivide.third(now, edge, whole)


def _quarter_of(now: Now, number: int, year: int) -> Reading | None:
    """4Q22."""
    quarter = cycles.quarter(now, number)
    if quarter is None or not (year > 999 or 10 <= year < 100):
        return None
    return combine.in_year(now, quarter, year if year > 999 else cycles.full_year(now, year))


def _hours_of(now: Now, day: Cycle, hours: Cycle | None) -> When | None:
    return hours and combine.side_by_side(now, day, hours)


_OF = "<of>|.|-|/"
_THE_DAY = "<art>? DAY .?"
_DAY = "DAY .?"
_MORE_DAYS = "<and>|<or>|,|&"

DATES: Table = {
    "DAYWORD": relative.day,
    "NIGHT": relative.night,
    "SOFT": relative.soft,
    "WEEKDAYS": lambda now, day: {"CYCLES": cycles.weekday(now, day)},
    "SEASONS": lambda now, season: {"CYCLES": cycles.season(now, season)},
    "WEEKDAY <morning>": lambda now, day: combine.side_by_side(
        now, cycles.weekday(now, day), cycles.part_of_day(now, (5, 12))
    ),
    "MONTH": cycles.month,
    "SEASON": cycles.season,
    "PART": cycles.part_of_day,
    "HOLIDAY": cycles.holiday,
    "HOLIDAYS": cycles.holidays,
    f"{_DAY} {_OF}? <art>? MONTH": last_first(cycles.month_day),
    f"{_DAY} {_MORE_DAYS} {_THE_DAY} {_OF}? MONTH": last_first(cycles.several_days),
    f"<between> <art>? {_DAY} <and> {_THE_DAY} {_OF}? MONTH": last_first(cycles.days_of_month),
    f"{_DAY} , {_THE_DAY} ,? {_MORE_DAYS} {_THE_DAY} {_OF}? MONTH": last_first(cycles.several_days),
    # before "ersten März" could be a day: ersten Märzhälfte, ersten Märzwoche
    "ORD MONTH <half_of>": lambda now, which, month: subdivide.half(
        now, which, cycles.month(now, month)
    ),
    "ORD MONTH UNIT": lambda now, count, month, unit: subdivide.nth_unit(
        now, count, unit, cycles.month(now, month)
    ),
    "REL NUM MONTH UNIT": lambda now, end, count, month, unit: _outer(
        now, end, Duration.of(count, unit), cycles.month(now, month)
    ),
    "NUM REL|PAST UNIT": _last_units,
    "REL NUM REL UNIT": lambda now, _this, *named: _last_units(now, *named),
    "SHORT": lambda now, numbers: cycles.month_day(now, numbers[1], numbers[0]),
    "SLASHED <of>? MONTH": lambda now, days, month: cycles.several_days(now, month, *days),
    "DAY_MONTH": cycles.slashed,
    "DATE": cycles.numeric_date,
    "MONTH_YEAR": combine.month_of_year,
    "SURE_YEAR": cycles.year,
    "<in> SAID_YEAR": lambda _, year: year,
    "<art>? <year> <art>? YEAR": cycles.year,
    "MONTHDAY .?": cycles.day_of_month,
    "UNIT MONTHDAY": lambda now, unit, day: (
        cycles.day_of_month(now, day) if unit == "day" else None
    ),
    "WEEKDAY ,? <art>? MONTHDAY .?": lambda now, weekday, day: cycles.day_of_month(
        now, day, weekday
    ),
    "WEEKDAY HOUR -|<to> HOUR": lambda now, day, *hours: _hours_of(
        now, cycles.weekday(now, day), clock.between(now, *hours)
    ),
    "q NUM": cycles.quarter,
    "h NUM": cycles.half_year,
    "fy|cy NUM": cycles.short_year,
    "END_OF": lambda now, edge: subdivide.end_of_unit(now, *edge),
    "NUM q NUM|YEAR": _quarter_of,
    "<week_number> NUM": cycles.week_of_year,
    "NUM . <week_number>": cycles.week_of_year,
    "SURE_DECADE": cycles.decade,
    "<art> DECADE": cycles.decade,
    "<art> EDGE|END -? DECADE|SURE_DECADE": _part_of_decade,
    "ORD -? CENTURY": lambda now, number, _: cycles.century(now, number),
    "<street> <of>? <art>? DAY .|<of>? MONTH": lambda *_: {},
    "<before>|<until> <about>? CLOCK": partial(clock.outside, side=-1),
    "<after>|<since>|<from> CLOCK": partial(clock.outside, side=1),
    "<from>|<between>|<at>? CLOCK|HOUR|DOTTED -|<to>|<and> CLOCK": clock.between,
    "<from>|<between>|<at>? CLOCK -|<to>|<and> HOUR": clock.between,
    "<at>? <about> CLOCK": lambda now, time: clock.at(now, time, about=True),
    "CLOCK": clock.at,
}

# --- Around a date or a unit ---------------------------------------------------------------------

_THE = "<art>? CYCLE|TIME|UNIT_NOW"
_IN = "<inside>"
_EVENT = "<event> ?word? ?word? <of>|<in>|<from>"
"""The event before its date: "the launch on", "my birthday on"."""


def _few_rolling(now: Now, offset: int, unit: Grain) -> Reading | None:
    """The last days, with no number: a preference."""
    return relative.in_recent(now, unit) if offset == -1 else None


def _unit_now(now: Now, unit: Grain) -> dict[str, object] | None:
    """The present unit of "the end of the month"; "the month" alone may be any."""
    if unit in ("second", "minute", "hour"):
        return None
    weekend = {"WEEKEND": relative.weekend(now, 0)} if unit == "weekend" else {}
    return {"UNIT_NOW": now.unit(unit), **weekend}


def _this(now: Now, unit: Grain) -> Reading | None:
    """Am Wochenende, el fin de semana."""
    return relative.unit(now, 0, unit) if unit == "weekend" else None


def _final(now: Now, offset: int, one: Grain | Cycle, when: When) -> When | None:
    if offset != -1:
        return None
    if isinstance(one, Cycle):
        return subdivide.nth_occurrence(now, -1, one, when)
    return subdivide.nth_unit(now, -1, one, when)


def _day_at(now: Now, when: When, amount: Duration, sign: int) -> Reading | None:
    """Heute vor einer Woche, hoy hace un año; Samstag in einer Woche."""
    if isinstance(when, Cycle):
        day = combine.coming(now, when) if sign > 0 else when.latest(now)
    else:
        day = when
    if day is None or day.grain != "day" or day.start is None:
        return None
    if sign > 0 and day.start < now.today:
        return None
    return now.unit_at("day", amount.from_(day.start, sign))


def _numbered(now: Now, unit: Grain, number: int) -> Meaning | None:
    """La semana 7; los años 90, die neunziger Jahre."""
    if unit == "week":
        return cycles.week_of_year(now, number)
    return cycles.decade(now, number) if unit == "year" and 10 <= number < 100 else None


def _part_of_year(now: Now, number: int, unit: Grain) -> Cycle | None:
    """The third quarter."""
    return cycles.quarter(now, number) if unit == "quarter" else None


def _half_year(now: Now, number: int, unit: Grain) -> Cycle | None:
    """Die zweite Jahreshälfte."""
    return cycles.half_year(now, number) if unit == "year" else None


def _unit_of(now: Now, name: Grain, when: When) -> When | None:
    """La semaine du 6 novembre, el mes de septiembre, the week of 5 May."""
    if name == "month" and when.grain == name:
        return when
    return subdivide.unit_of(now, name, when)


def _ago(now: Now, amount: Duration) -> dict[str, object] | None:
    """Two weeks ago; and the amount itself, for "more than two weeks ago"."""
    reading = relative.ago(now, amount)
    if reading is None:
        return None
    return {"BACK_BY": amount, Reading.KIND: reading}


def _to_the_day(now: Now, amount: Duration) -> Reading:
    return now.unit_at("day", amount.from_(now.today, -1))


def _stretch(now: Now, offset: int, first: Cycle, final: Cycle) -> Reading | None:
    """Last Mon - Wed, next Tue to Thu."""
    both = combine.stretch(first, final)
    return combine.from_now(now, offset, both) if both else None


def _last_few(now: Now, offset: int, count: int, cycle: Cycle) -> Reading | None:
    return combine.last_few(now, count, cycle) if offset == -1 else None


def _all_of_the_present(now: Now, unit: Grain) -> Reading | None:
    """What have I done all week? But not "is the park open all year?"."""
    coarse = unit in ("week", "weekend", "month", "quarter", "year")
    return relative.unit(now, 0, unit) if coarse and now.looks_back() else None


def _every_part(now: Now, weekday: int, ends: tuple[int, int]) -> Reading | None:
    reading = combine.side_by_side(now, cycles.weekday(now, weekday), cycles.part_of_day(now, ends))
    return combine.every(now, reading) if isinstance(reading, Cycle) else None


PHRASES: Table = {
    "CYCLE .|,|-|/|<of>|<in>? <art>? <year>? YEAR": combine.in_year,
    "YEAR -|,? CYCLE": last_first(combine.in_year),
    "UNIT NUM|DECADE": _numbered,
    "DECADE UNIT": last_first(_numbered),
    "ORD UNIT": _part_of_year,
    "ORD UNIT <half_of>": _half_year,
    "<art> UNIT": _unit_now,
    "<in> <art>? UNIT": _this,
    f"UNIT <of> {_THE}": _unit_of,
    "CYCLE|TIME UNIT": lambda now, when, unit: (
        subdivide.unit_of(now, unit, when) if unit == "weekend" else None
    ),
    "REL UNIT": relative.unit,
    "REL CYCLE": combine.from_now,
    "UNIT REL_BEHIND": last_first(relative.unit),
    "CYCLE REL_BEHIND": last_first(combine.from_now),
    "REL DURATION": _rolling,
    "PAST CYCLE": combine.from_now,
    "PAST DURATION": _rolling,
    "PAST UNIT": lambda now, _, unit: relative.rolling(now, Duration.of(1, unit)),
    "OVER_LAST UNIT": lambda now, _, unit: relative.last_unit(now, unit),
    "REL CYCLE -|<to> CYCLE": _stretch,
    "REL|PAST NUM CYCLES": _last_few,
    "<whole> UNIT": _all_of_the_present,
    "REL UNITS": _few_rolling,
    "REL REL UNITS": lambda now, _this, *last: _few_rolling(now, *last),
    "<recent> UNITS": relative.in_recent,
    # the first week of May, the last Friday of last month, the end of the year
    f"EDGE -|<of>|<in>? {_THE}": subdivide.third,
    f"END -|<of>|<in>? {_THE}": subdivide.end_of,
    "EDGE|END <of>? UNIT": subdivide.end_of_unit,
    f"ORD <half_of> {_IN}? {_THE}": subdivide.half,
    f"ORD UNIT {_IN} {_THE}": subdivide.nth_unit,
    f"REL UNIT {_IN} {_THE}": _final,
    f"ORD CYCLE {_IN} {_THE}": subdivide.nth_occurrence,
    f"REL CYCLE {_IN} {_THE}": _final,
    "REL CYCLE UNIT": lambda now, offset, when, unit: _final(now, offset, unit, when),
    f"ORD|REL DURATION {_IN} {_THE}": _outer,
    f"OUTER {_IN} {_THE}": lambda now, outer, when: _outer(now, outer[0], outer[1], when),
    f"ORD|REL UNITS {_IN} {_THE}": lambda now, end, unit, when: _outer(
        now, end, Duration.of(_FEW, unit), when
    ),
    "DAY .? <of> <art>? TIME|UNIT_NOW": lambda now, day, when: combine.side_by_side(
        now, cycles.day_of_month(now, day), when
    ),
    "<in>|<at> WEEKEND": lambda _, weekend: weekend,
    # the week before Easter, two days after 5 May, the Tuesday before it
    **{
        f"{place} <{word}> {event} {_THE}": partial(meaning, sign=sign)
        for word, sign in (("before", -1), ("after", 1))
        for event in ("", _EVENT)
        for place, meaning in (
            ("UNIT", ranges.unit_beside),
            ("CYCLE", ranges.cycle_beside),
            ("DURATION", subdivide.amount_away),
        )
    },
    f"BESIDE <of>? {_THE}": lambda now, sign, when: ranges.unit_beside(now, "day", when, sign),
    # a week ago today, Saturday in a week
    "CYCLE|TIME BACK_BY": partial(_day_at, sign=-1),
    "<to_the_day> BACK_BY": _to_the_day,
    "BACK_BY <to_the_day>": _to_the_day,
    "<ago> <to_the_day> DURATION": _to_the_day,
    "DURATION <back> TIME|CYCLE": lambda now, amount, when: _day_at(now, when, amount, -1),
    "CYCLE|TIME <will> DURATION": partial(_day_at, sign=1),
    "DURATION <from> CYCLE|TIME": lambda now, amount, when: _day_at(now, when, amount, 1),
    "CYCLE|TIME <in_a_week>": lambda now, when: _day_at(now, when, Duration.of(1, "week"), 1),
    "NUM CYCLES <back>": combine.last_but,
    "<ago> NUM CYCLES|CYCLE": combine.last_but,
    "NUM PARTS <back>": lambda now, count, ends: combine.part_of_day(now, -count, ends),
    "UNITS <back>": relative.vaguely_ago,
    "<ago> UNITS": relative.vaguely_ago,
    "<ago> DURATION": _ago,
    "DURATION <back>": _ago,
    "<same_time> <art>? TIME": subdivide.same_time,
    "TIME <same_time>": subdivide.same_time,
    "<same_day> TIME": subdivide.same_day,
    "<earlier> <in>? TIME|UNIT_NOW": subdivide.earlier,
    "<earlier> <in>? <art> CYCLE": subdivide.earlier_today,
    "<rest> <in>|<of>? <art>? TIME|UNIT_NOW": subdivide.still_to_come,
    "<rest> <of> UNIT": lambda now, unit: subdivide.still_to_come(now, now.unit(unit)),
    "TIME|UNIT_NOW <so_far>": subdivide.so_far,
    "<so_far> TIME": subdivide.so_far,
    "<every> <art>? CYCLE": combine.every,
    "<every> CYCLE <and> CYCLE": combine.every,
    "<every> UNIT <in>|<at>? <art>? CYCLE": lambda now, _, cycle: combine.every(now, cycle),
    "WEEKDAY PARTS": _every_part,
    "<in> <art> PARTS": lambda now, ends: combine.every(now, cycles.part_of_day(now, ends)),
    "<every> <weekend_word>": lambda now: combine.every(now, cycles.weekends(now)),
    "WEEKDAY": cycles.weekday,
    "WEEKDAY ,? <art>? CYCLE|TIME": combine.dated,
    "CYCLE|TIME ,|-|'s? <art>? CYCLE|TIME": combine.side_by_side,
    "CYCLE|TIME ,? <of>|<in>|<at>|<from> <art>? CYCLE|TIME": combine.with_date,
    "<at> HOUR": lambda now, hour: clock.at(now, clock.clock(hour)),
    "<at>? <about> HOUR": lambda now, hour: clock.at(now, clock.clock(hour), about=True),
    "<from>|<between> HOUR -|<to>|<and> HOUR": clock.between,
}

_FEW = 4  # "the last days of May"

# --- Two ends, or one ----------------------------------------------------------------------------


def _to_come(now: Now, amount: Duration, *, within: bool = False) -> Reading | None:
    """In two weeks; but not "How do I run a mile in seven minutes?"."""
    if not now.asks:
        return None
    return relative.ahead(now, amount) if within else relative.ago(now, amount, 1)


_ONE = "<art>? CYCLE|TIME|SAID_YEAR|WEEKEND"

RANGES: Table = {
    f"<from>|<between>? <art>? DAY .? -|<to>|<and> {_ONE}": ranges.days_to,
    f"<from>? {_ONE} <to>|- {_ONE}": ranges.join,
    f"<between> {_ONE} <and>|<to>|- {_ONE}": ranges.join,
    **{
        f"<{word}> {event} {_ONE}": meaning
        for word, meaning in (
            ("since", ranges.up_to_now),
            ("until", ranges.until),
            ("before", ranges.before),
            ("after", ranges.after),
        )
        for event in ("", _EVENT)
    },
    f"<from>|<since>|<between> {_ONE} <to>|<and> <now>": ranges.up_to_now,
    "<since> <ago>? DURATION": relative.rolling,
    "<since> BACK_BY": ranges.within,
    f"<as_of> {_ONE}": ranges.as_of,
    f"<onwards> {_ONE}": ranges.onwards,
    f"<from> {_ONE} <on>": ranges.onwards,
    **{
        words.replace("ROLE", role): meaning
        for role, meaning in (
            ("<more_than>", partial(ranges.beyond, sure=True)),
            ("<at_least>", partial(ranges.beyond, sure=False)),
            ("<less_than>", ranges.within),
        )
        for words in ("ROLE BACK_BY", "<ago> ROLE DURATION")
    },
    "<of>? UNIT_NOW": lambda now, when: relative.first_of(now, when.grain),
    "<will> DURATION": _to_come,
    "<within> DURATION": partial(_to_come, within=True),
}

LEADS: Table = {
    "<in>|<from>|<about>|<at>|<of> <art>? TIME": complete,
    "<art>|<this> TIME": lambda _, when: when,
    "TIME 's": complete,
}
