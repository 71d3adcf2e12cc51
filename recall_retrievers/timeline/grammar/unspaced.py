"""Languages that write no spaces, Chinese and Japanese: their lexer and the patterns they share.

The large stands before the small, and what it belongs to before a thing: 去年三月的第一周. The
patterns are over the kinds and roles of words, as `patterns` explains it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from recall_retrievers.timeline.grammar import calendar_math as cal
from recall_retrievers.timeline.grammar.clauses import Clauses
from recall_retrievers.timeline.grammar.engine import (
    Expression,
    Grammar,
    Rule,
    Table,
    Token,
    last_first,
    read_all,
)
from recall_retrievers.timeline.grammar.lexing import (
    NUMERALS,
    NUMERIC,
    digits_kinds,
    numeral_kinds,
    numeric_kinds,
    worth_reading,
)
from recall_retrievers.timeline.grammar.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.grammar.tense import Cues
from recall_retrievers.timeline.grammar.vocabulary import Kinds, words_of
from recall_retrievers.timeline.meanings import clock, combine, cycles, ranges, relative, subdivide
from recall_retrievers.timeline.recurrence import Recurrence
from recall_retrievers.timeline.time_range import FINER_THAN_DAY, Grain

_NUMBER = re.compile(
    rf"""
    {NUMERIC}
  | (?P<digits> \d+ )
  | (?P<numeral> [{"".join(sorted(NUMERALS))}]+ )
  | (?P<space> \s+ )
    """,
    re.VERBOSE,
)
_REACH = 24  # characters to read on both sides of a hint
_MOST_TOKENS = 24  # of a group: a phrase has some ten
# Kinds that name no time by themselves.
_QUIET = words_of(
    "NUM HAN COUNT ABOUT YEAR LATE_YEAR SHORT_YEAR DAY PLACE REL UNIT PERIOD THIRD SHORT_PART "
    "LUNAR_DAY ADJACENT HALF DOTTED PART"
)


@dataclass(frozen=True)
class Script:
    """What a language without spaces consists of."""

    kinds: Mapping[str, Mapping[object, str]]  # kind, then value, then the words that mean it
    cues: Cues
    roles: Mapping[str, str]
    hint: str  # a pattern of what else is worth reading, beside known words of time
    narrow: Mapping[int, int | str]  # characters that are read as others
    quoted: re.Pattern[str]
    dates: Table  # orders that only this language has
    clocks: Table = field(default_factory=dict)
    phrases: Table = field(default_factory=dict)
    ranges: Table = field(default_factory=dict)
    lookalikes: frozenset[str] = frozenset()  # words that hide words of time in them
    is_word: Callable[[str, int, str, Kinds, Kinds], bool] = lambda *_: True
    is_number: Callable[[str, int, int, Kinds], Kinds] = lambda _text, _at, _end, kinds: kinds
    several: Callable[[str, int], Token | None] = lambda *_: None  # a word of several: 周一三五
    clauses: Clauses | None = None
    links: frozenset[str] = frozenset()  # "and": the second takes the unit of the first


class Unspaced:
    """The grammar with the words of one language."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.cues = script.cues

    @cached_property
    def _grammars(self) -> tuple[Grammar, ...]:
        own = self.script
        return (
            Grammar(CLOCKS, own.clocks, backwards=False),
            Grammar(AMOUNTS, DATES, own.dates, backwards=False),
            Grammar(PHRASES, own.phrases, backwards=False),
            Grammar(RANGES, own.ranges, backwards=False),
            Grammar(LEADS),
        )

    @cached_property
    def _lexer(self) -> "Lexer":
        words = (word for grammar in self._grammars for word in grammar.words)
        alone = (word for line in self.script.dates if " " not in line for word in line.split("|"))
        return Lexer(self.script, words, frozenset(alone))

    def read(self, text: str, now: Now) -> list[Expression]:
        """Every time expression of a text, with its place."""
        clauses = self.script.clauses
        return clauses.apply(text, now, self._read) if clauses else self._read(text, now)

    def _read(self, text: str, now: Now) -> list[Expression]:
        *grammars, leads = self._grammars
        share = partial(_share_units, self.script.links)
        return read_all(self._lexer.tokenize(text), now, grammars, leads, share)


def _share_units(links: frozenset[str], tokens: list[Token], now: Now) -> None:
    """In 上周二和周四 and in 去年三月和五月 the second lies in the week, the year of the first."""
    for before, link, token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        first = before.kinds.get(Reading.KIND) or before.kinds.get(Cycle.KIND)
        second = token.kinds.get(Cycle.KIND)
        if link.text not in links or not isinstance(second, Cycle):
            continue
        if not isinstance(first, Reading | Cycle) or getattr(first, "unit", "") == second.unit:
            continue  # no unit to share: 三月和五月
        anchor = ranges.resolved(now, first)
        if anchor is None or anchor.start is None or anchor.grain != second.grain:
            continue
        try:
            shared = second.in_unit_of(now, anchor.start)
        except ValueError:  # 2月1号和30号
            continue
        if shared is None or shared.start is None or shared.start <= anchor.start:
            continue
        if shared.start <= now.moment or anchor.start > now.moment:
            token.kinds = {Reading.KIND: shared}


class Lexer:
    """Cuts texts into tokens: the longest known word at every place, numerals read as numbers."""

    def __init__(self, script: Script, patterns: Iterable[str], alone: frozenset[str]) -> None:
        words: dict[str, Kinds] = {word: {} for word in script.lookalikes}
        for kind, values in script.kinds.items():
            for value, names in values.items():
                for name in names.split():
                    words.setdefault(name, {})[kind] = value
        for role, names in script.roles.items():
            for name in names.split():
                words.setdefault(name, {})[f"<{role}>"] = None
        for word in patterns:
            if not word.isupper():
                words.setdefault(word, {})[word] = None
        lengths: dict[str, set[int]] = defaultdict(set)
        for word in words:
            lengths[word[0]].add(len(word))
        self.words = words
        self._lengths = {first: sorted(group, reverse=True) for first, group in lengths.items()}
        self._script = script
        self._alone = alone
        self._telling = {
            word for word, kinds in self.words.items() if word in alone or _tells(kinds)
        }
        hints = "|".join(map(re.escape, sorted(self._telling, key=len, reverse=True)))
        numbers = "".join(sorted(NUMERALS)) + r"\d几数"
        hint = script.hint.replace("NUMBER", f"[{numbers}]")
        self._hints = re.compile(rf"{hints}|{hint}|\d[-/.:]\d|\d{{4}}")

    def tokenize(self, text: str) -> Iterator[list[Token]]:
        """Cut a text into groups of tokens that may name a time, and drop the rest."""
        hidden = text.translate(self._script.narrow)
        hidden = self._script.quoted.sub(lambda quoted: "\0" * len(quoted[0]), hidden)
        read = 0
        for first, last in self._stretches(hidden):
            yield from self._groups(hidden, max(first, read), last)
            read = last

    def _stretches(self, text: str) -> Iterator[tuple[int, int]]:
        """The parts around the hints of a text."""
        found = {match.start(): match for match in self._hints.finditer(text)}
        weak = {at for at, match in found.items() if _NUMBER.match(match[0])}
        spans = [found[at].span() for at in worth_reading([*found], weak)]
        begin = end = -1
        for first, last in spans:
            if end < 0 or first - _REACH > end:
                if end >= 0:
                    yield begin, end
                begin = max(0, first - _REACH)
            end = min(last + _REACH, len(text))
        if end >= 0:
            yield begin, end

    def _groups(self, text: str, at: int, end: int) -> Iterator[list[Token]]:
        group: list[Token] = []
        while at < end:
            token = self._word(text, at, group) or self._number(text, at)
            at = token.end if token else at + 1
            if token and token.kinds and len(group) < _MOST_TOKENS:
                group.append(token)
            elif not (token and token.text.isspace()):
                if self._names_time(group):
                    yield group
                group = []
        if self._names_time(group):
            yield group

    def _names_time(self, group: list[Token]) -> bool:
        return len(group) > 1 or any(
            _tells(token.kinds) or token.text in self._alone for token in group
        )

    def _word(self, text: str, at: int, before: list[Token]) -> Token | None:
        previous = dict(before[-1].kinds) if before and before[-1].end == at else {}
        for length in self._lengths.get(text[at], ()):
            word = text[at : at + length]
            kinds = self.words.get(word)
            if kinds is None or len(word) < length:
                continue
            if not self._script.is_word(text, at, word, kinds, previous):
                continue
            if len(word) == 1 and word in NUMERALS:
                return None
            several = self._script.several(text, at) if "WEEKDAY" in kinds else None
            return several or Token(word, at, at + len(word), kinds)
        return None

    def _number(self, text: str, at: int) -> Token | None:
        match = _NUMBER.match(text, at)
        if match is None:
            return None
        kind, number, end = match.lastgroup or "", match[0], match.end()
        if kind == "digits":
            kinds = digits_kinds(number)
        elif kind == "numeral":
            kinds = numeral_kinds(number)
        elif kind == "date" and "/" not in number and not re.search(r"\d{4}", number):
            kinds = {}  # 5.3.0 is a version, 4-7-8 a way to breathe
        else:
            kinds = {} if kind == "space" else numeric_kinds(kind, number)
        return Token(number, at, end, self._script.is_number(text, at, end, kinds))


def _tells(kinds: Mapping[str, object]) -> bool:
    return any(kind.isupper() and kind not in _QUIET for kind in kinds)


# --- Times of day, amounts -----------------------------------------------------------------------


def _in_part(_: Now, ends: tuple[int, int], time: clock.Clock) -> Kinds:
    """下午三点 is 15:00, 晚上十二点 the end of the day, 深夜两点 past it."""
    first, _last = ends
    minutes = time.minutes
    if first < 11:
        minutes -= 720 if minutes >= 720 and first == 0 else 0
    elif minutes < 720:
        minutes += 1440 if first >= 18 and minutes < 300 else 720 if minutes < 660 else 0
        minutes += 720 if first >= 12 and 660 <= minutes < 720 else 0
    elif minutes < 780 and first >= 18:
        minutes += 720
    return {"CLOCK": clock.Clock(minutes, sure=True, exact=time.exact)}


def _at(now: Now, time: clock.Clock) -> Cycle | None:
    """三点, with its hour as a calendar field for 每天三点."""
    hour = clock.at(now, time)
    return hour and replace(hour, fields=Recurrence(hours=frozenset({time.minutes // 60 % 24})))


CLOCKS: Table = {
    "NUM|COUNT <oclock> <sharp>?": clock.hour,
    "NUM|COUNT <oclock> <zero>? NUM <minute>?": last_first(clock.past),
    "NUM|COUNT <oclock> <half>": lambda _, hour: clock.named(hour, 30),
    "NUM|COUNT <oclock> <less>? NUM|COUNT <minute> <ago>": last_first(clock.to),
    "HM": clock.figures,
    "PART <of>? CLOCK": _in_part,
    "CLOCK <to> CLOCK": clock.between,
}


AMOUNTS: Table = {
    "NUM|COUNT <measure>? UNIT": relative.amount,
    "ABOUT <measure>? UNIT": relative.between,
    "NUM|COUNT <to>|、 NUM|COUNT <measure>? UNIT": lambda now, low, high, unit: relative.between(
        now, (low, high), unit
    ),
    "<few> <measure>? UNIT": relative.few,
    "<half> <measure>? UNIT": lambda now, unit: relative.and_a_half(now, 0, unit),
    "NUM|COUNT <measure>? UNIT <half>": relative.and_a_half,
    "NUM|COUNT <measure> <half> UNIT": relative.and_a_half,
    "DOTTED <measure>? UNIT": relative.decimal,
    "DURATION <and>? DURATION": lambda _, one, other: Duration(one.parts + other.parts),
}

# --- Dates, and what is counted from now ---------------------------------------------------------


def short_year(now: Now, number: int, cycle: Cycle | None = None) -> Reading | None:
    """98年, 22年春节."""
    if not 0 <= number < 100:
        return None
    full = cycles.full_year(now, number)
    return combine.in_year(now, cycle, full) if cycle else cycles.year(now, full)


def past(now: Now, amount: Duration) -> Reading | None:
    """最近三天: rolling to now; or the full units before this one, or whole days before today."""
    _, high = amount.spread
    if high:  # 最近十几天 reaches as far as it may
        ((count, name),) = amount.parts
        amount = Duration.of(count + high, name)
    reading = relative.rolling(now, amount)
    if reading is None or amount.unit in FINER_THAN_DAY:
        return reading
    return reading.or_else(Reading(amount.from_(now.today, -1), now.today, amount.unit))


def _ago(now: Now, amount: Duration) -> Kinds | None:
    """三天前; 几小时前 lies between two and five hours back."""
    reading = relative.ago(now, amount)
    low, high = amount.spread
    if (low or high) and amount.unit in FINER_THAN_DAY:
        ((count, name),) = amount.parts
        far = Duration.of(count + high, name).from_(now.moment, -1)
        reading = Reading(far, Duration.of(max(1, count - low), name).from_(now.moment, -1), name)
    return {"BACK_BY": amount, Reading.KIND: reading} if reading else None


def _day(now: Now, offset: int) -> Kinds:
    """昨天; it can be said of another time: 去年今天, 一周前的昨天."""
    return {"DAY_OF": offset, Reading.KIND: relative.day(now, offset)}


def _span(one: Callable[..., When | None]) -> Rule:
    """From one number to another: 三四月, 三到五号, 1995-1997年, 八九十年代."""

    def both(now: Now, *numbers: object) -> When | None:
        first, last = (one(now, number) for number in numbers)
        if isinstance(first, Cycle) and isinstance(last, Cycle):
            return combine.stretch(first, last)
        return ranges.join(now, first, last) if first and last else None

    return lambda now, *numbers: both(now, *(numbers[0] if len(numbers) == 1 else numbers))


def third(now: Now, when: When, which: int) -> When | None:
    """三月初, 去年底."""
    coarse = ("month", "quarter", "season", "decade", "century", "week", "year")
    return subdivide.third(now, which, when) if when.grain in coarse else None


def _third_of_month(now: Now, month: int, third: tuple[int, Grain]) -> When | None:
    """三月初, read as 三 and 月初."""
    which, unit = third
    return subdivide.third(now, which, cycles.month(now, month)) if unit == "month" else None


DATES: Table = {
    "DAYWORD": _day,
    "NIGHT": relative.night,
    "DAYPART": lambda now, day_part: combine.part_of_day(now, *day_part),
    "RELATIVE": lambda now, offset_unit: relative.unit(now, *offset_unit),
    "WEEKDAY": cycles.weekday,
    "WEEKDAYS": lambda now, days: replace(
        cycles.weekday(now, min(days)), fields=Recurrence(weekdays=days)
    ),
    "PART": cycles.part_of_day,
    "HOLIDAY": cycles.holiday,
    "HOLIDAYS": cycles.holidays,
    "THIRD_OF": lambda now, third: subdivide.every_part(now, *third),
    "NUM THIRD_OF": _third_of_month,
    "NUM <month>": cycles.month,
    "ABOUT <month>": _span(cycles.month),
    "NUM <to> NUM <month>": _span(cycles.month),
    "NUM <month> NUM <day>?": cycles.month_day,
    "NUM <month> NUM <day>? <to> NUM <day> <to>?": cycles.days_of_month,
    "DAY <day>": cycles.day_of_month,
    "DAY <day> <of>? WEEKDAY": cycles.day_of_month,
    "WEEKDAY DAY <day>": lambda now, weekday, day: cycles.day_of_month(now, day, weekday),
    "ABOUT <day>": _span(cycles.day_of_month),
    "DAY <day>? <to> DAY <day> <to>?": _span(cycles.day_of_month),
    "YEAR <year>": cycles.year,
    "SHORT_YEAR <year>": short_year,
    "YEAR <year>? CYCLE": lambda now, number, cycle: combine.in_year(now, cycle, number),
    "YEAR|LATE_YEAR <year>? <to> YEAR|LATE_YEAR <year> <to>?": _span(cycles.short_year),
    "NUM <century>": cycles.century,
    "NUM|SHORT_YEAR|YEAR <decade>": cycles.decade,
    "ABOUT <decade>": _span(cycles.decade),
    "DATE": cycles.numeric_date,
    "MONTH_YEAR": combine.month_of_year,
    "<nth>? NUM <measure>? <quarter>": cycles.quarter,
    "q NUM": cycles.quarter,
    "DURATION <ago>": _ago,
    "DURATION <later>": lambda now, amount: (
        (reading := relative.ago(now, amount, 1)) and {"AHEAD_BY": amount, Reading.KIND: reading}
    ),
    "DURATION <within>": past,
    "<nth> NUM UNIT": lambda _, count, unit: {"NTH": (count, unit, True)},
    "<nth> NUM <measure> UNIT": lambda _, count, unit: {"NTH": (count, unit, False)},
    "<nth> NUM <measure>? WEEKDAY": lambda _, *nth: {"NTH_WEEKDAY": nth},
    "<nth> NUM <measure>? <weekend>": lambda _, count: {"NTH": (count, "weekend", False)},
    "PLACE <of>? UNIT|PERIOD": lambda _, place, unit: {"NTH": (place, unit, False)},
    "PLACE <of>? NUM? <measure>? WEEKDAY": lambda _, place, *day: {"NTH_WEEKDAY": (place, day[-1])},
    "PLACE <of>? NUM? <measure>? <weekend>": lambda _, *place: {
        "NTH": (place[0], "weekend", False)
    },
    "PLACE <of>? DURATION": lambda _, place, amount: {"OUTER": (amount, place)},
}

# --- Around a date -------------------------------------------------------------------------------

WHEN = "CYCLE|TIME"


def _nth(now: Now, when: When, nth: tuple[int, Grain, bool]) -> When | None:
    """三月的第一周; week 50 of a year is counted as calendars do."""
    count, unit, numbered = nth
    if numbered and unit == "week" and when.grain == "year":
        week = cycles.week_of_year(now, count)
        return week and combine.side_by_side(now, week, when)
    return subdivide.nth_unit(now, count, unit, when)


def _week_of_year(now: Now, nth: tuple[int, Grain, bool]) -> Cycle | None:
    """第20周, where nothing says of what."""
    return cycles.week_of_year(now, nth[0]) if nth[1] == "week" and nth[2] else None


def _week_of(now: Now, when: When, unit: Grain | Duration) -> When | None:
    """2月10日那一周, 2月10日の週."""
    if isinstance(unit, Duration):
        ((count, name), *more) = unit.parts
        return None if more or count != 1 else subdivide.unit_of(now, name, when)
    return subdivide.unit_of(now, unit, when)


def beside(now: Now, when: When, amount: Duration, sign: int) -> When | None:
    """国庆节前两天 lies before the day; 去年的前十天 is a part of the year."""
    if when.grain == "day":
        return subdivide.amount_away(now, amount, when, sign)
    return subdivide.first_of(now, amount, when, -sign)


def _day_of(now: Now, when: Reading, offset: int) -> Reading | None:
    """去年今天, 先週の昨日."""
    same = subdivide.same_day(now, when)
    return now.unit_at("day", same.start + cal.DAY * offset) if same and same.start else None


PHRASES: Table = {
    "CLOCK": _at,
    f"{WHEN} ,|<of>|- {WHEN}": combine.side_by_side,
    f"{WHEN} {WHEN}": combine.side_by_side,
    f"{WHEN} SHORT_PART": lambda now, when, ends: combine.side_by_side(
        now, when, cycles.part_of_day(now, ends)
    ),
    f"{WHEN} <of>? THIRD": third,
    f"{WHEN} <of>? HALF": lambda now, when, which: subdivide.half(now, which, when),
    "NTH": _week_of_year,
    f"{WHEN} <of>? NTH": _nth,
    f"{WHEN} <of>? NTH_WEEKDAY": lambda now, when, nth: subdivide.nth_occurrence(
        now, nth[0], cycles.weekday(now, nth[1]), when
    ),
    f"{WHEN} <of>? OUTER": lambda now, when, outer: subdivide.first_of(
        now, outer[0], when, outer[1]
    ),
    f"{WHEN} <of>? ADJACENT": lambda now, when, sign: (
        subdivide.amount_away(now, Duration.of(1, "day"), when, sign)
        if when.grain == "day"
        else None
    ),
    f"{WHEN} <of> BACK_BY": partial(beside, sign=-1),
    f"{WHEN} <of>? AHEAD_BY": partial(beside, sign=1),
    f"{WHEN} <of>? <that> <measure>? UNIT|PERIOD|DURATION": _week_of,
    f"{WHEN} <of>? <that> <measure>? <weekend>": lambda now, when: _week_of(now, when, "weekend"),
    "SOFT": relative.soft,
    "<past> <of>? <that>? DURATION <within>|<inside>|<since>?": past,
    "<coming> <of>? <that>? DURATION": relative.ahead,
    "DURATION <since>": past,
    "TIME <of>? DAY_OF": _day_of,
    "TIME <of>? <same_time>": subdivide.same_time,
    f"{WHEN} <whole>": lambda _, when: when,  # 三月期间, 昨天一整天
}

# --- What comes back, ranges ---------------------------------------------------------------------


def _every(now: Now, cycle: Cycle, more: Cycle | None = None) -> Reading | Kinds:
    """每周一. Calendar fields cannot express 每年春节, so it names no time."""
    return combine.every(now, cycle, more) or {}


def _after(now: Now, when: When) -> Reading | None:
    """三月以后: from where it ends; or from where it begins."""
    reading = ranges.after(now, when)
    return reading and reading.or_else(ranges.onwards(now, when))


RANGES: Table = {
    "<every> <of>? CYCLE": _every,
    "<every> <of>? CYCLE <and> CYCLE": _every,
    f"<from>? {WHEN} <to> {WHEN} <to>? <of>? <between>?": ranges.join,
    f"{WHEN} <and> {WHEN} <of>? <between>": ranges.join,
    f"<from>? {WHEN} <since>": ranges.up_to_now,
    f"<from>? {WHEN} <onwards>": ranges.onwards,
    f"{WHEN} <of>? <later>": _after,
    f"{WHEN} <of>? <ago>": ranges.before,
    f"<to>? {WHEN} <until>": ranges.until,
}

LEADS: Table = {"<lead> TIME": lambda _, when: when}
