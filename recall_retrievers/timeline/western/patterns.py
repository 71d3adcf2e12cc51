"""The patterns that German, Spanish and French share, over the kinds of words of a `Vocabulary`.

A language adds patterns of its own (`Vocabulary.extra`). The meanings are those of English.
"""

import re
from functools import cached_property

from recall_retrievers.timeline.engine.grammar import (
    Expression,
    Grammar,
    Table,
    complete,
    read_all,
)
from recall_retrievers.timeline.engine.reading import Cycle, Duration, Now, Reading, When
from recall_retrievers.timeline.meanings import clock, combine, cycles, ranges, relative, subdivide
from recall_retrievers.timeline.time_range import Grain
from recall_retrievers.timeline.western.lexer import tokenize
from recall_retrievers.timeline.western.vocabulary import Vocabulary

_HOW_MANY = re.compile(r"\bcombien\b|\bcu[aá]nt[ao]s?\b", re.IGNORECASE)


class Western:
    """The grammar with the words of one language."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    @cached_property
    def _grammars(self) -> tuple[Grammar, ...]:
        return (
            Grammar(_AMOUNTS, backwards=False),
            Grammar(_DATES, self.vocabulary.extra, backwards=False),
            Grammar(_PHRASES, _NOUNS_FIRST if self.vocabulary.nouns_first else {}),
            Grammar(_RANGES, backwards=False),
            Grammar(_LEADS),
        )

    @cached_property
    def _known(self) -> frozenset[str]:
        words = (word for grammar in self._grammars for word in grammar.words)
        return frozenset(word for word in words if not word.isupper())

    def read(self, text: str, now: Now) -> list[Expression]:
        """Every time expression of a text, with its place."""
        *grammars, leads = self._grammars
        return read_all(tokenize(text, self.vocabulary, self._known), now, grammars, leads)


def _cycle(now: Now, offset: int, cycle: Cycle) -> Reading | None:
    """Letzten Dienstag, este viernes, nächsten März."""
    if cycle.unit == "day" and cycle.grain != "part_of_day":
        return None
    if offset == 0:
        return combine.this(now, cycle)
    if offset > 0:
        return combine.coming(now, cycle)
    return combine.last(now, cycle) if offset == -1 else combine.last_but(now, -offset, cycle)


def _rolling(now: Now, offset: int, amount: Duration) -> Reading | None:
    """In den letzten drei Tagen, los próximos dos meses."""
    return relative.ahead(now, amount) if offset > 0 else relative.rolling(now, amount)


def _few_rolling(now: Now, offset: int, unit: Grain) -> Reading | None:
    """The last days, with no number: a preference."""
    return relative.in_recent(now, unit) if offset == -1 else None


def _decade(now: Now, unit: Grain, number: int) -> Reading | None:
    """Los años 90, les années 80."""
    return cycles.decade(now, number) if unit == "year" and 10 <= number < 100 else None


def _ordinal_unit(now: Now, number: int, unit: Grain) -> Cycle | None:
    """Das erste Quartal, el primer trimestre; the first half of a year."""
    return cycles.quarter(now, number) if unit == "quarter" else None


def _unit_of(now: Now, name: Grain, when: When) -> When | None:
    """La semaine du 6 novembre, el mes de septiembre, die Woche vom 6. November."""
    if name == "month" and when.grain == name:
        return when
    return subdivide.unit_of(now, name, when) if when.grain == "day" else None


def _this(now: Now, unit: Grain) -> Reading | None:
    """Am Wochenende, el fin de semana; des Jahres, where something is the first of it."""
    return relative.unit(now, 0, unit) if unit == "weekend" else relative.first_of(now, unit)


_AMOUNTS: Table = {
    "NUM UNIT": relative.amount,
    "<few> UNIT": relative.few,
    "NUM <few> UNIT": lambda now, _, unit: relative.few(now, unit),
    "<fortnight>": lambda _: Duration.of(2, "week"),
    "NUM <fortnight>": lambda _, count: Duration.of(2 * count, "week"),
    "<half> UNIT": lambda now, unit: relative.and_a_half(now, 0, unit),
    "NUM <half> UNIT": lambda now, _, unit: relative.and_a_half(now, 0, unit),
    "<one_and_a_half> UNIT": lambda now, unit: relative.and_a_half(now, 1, unit),
    "NUM UNIT <and> <half>": relative.and_a_half,
}

_DATES: Table = {
    "DAYWORD": relative.day,
    "NIGHT": relative.night,
    "SOFT": lambda now, days: relative.soft(days)(now),
    "MONTH": cycles.month,
    "SEASON": cycles.season,
    "PART": cycles.part_of_day,
    "HOLIDAY": lambda now, found_in: cycles.holiday(found_in)(now),
    "DAY .|de|er? MONTH": lambda now, day, month: cycles.month_day(now, month, day),
    "DAY .|de|er? MONTH .|,|de|del? YEAR": lambda now, day, month, year: cycles.numeric_date(
        now, (year, month, day)
    ),
    "SHORT": lambda now, numbers: cycles.month_day(now, numbers[1], numbers[0]),
    "SHORT YEAR": lambda now, numbers, year: cycles.numeric_date(now, (year, *numbers[::-1])),
    "<in> SLASHED": lambda now, numbers: cycles.month_day(now, numbers[1], numbers[0]),
    "DATE": cycles.numeric_date,
    "MONTH_YEAR": combine.month_of_year,
    "SURE_YEAR": cycles.year,
    "REL NUM REL UNIT": lambda now, _this, count, offset, unit: _rolling(
        now, offset, Duration.of(count, unit)
    ),
    "NUM REL UNIT": lambda now, count, offset, unit: _rolling(
        now, offset, Duration.of(count, unit)
    ),
    "<street> du|de|del|des|la|le? DAY .|de? MONTH": lambda *_: {},
    "ORD UNIT": _ordinal_unit,
    "q NUM": cycles.quarter,
}

_WHEN = "<art>? CYCLE|TIME"

_PHRASES: Table = {
    "CYCLE .|,|de|del|des? YEAR": combine.in_year,
    "CYCLE des|de|of <art>? UNIT YEAR": lambda now, cycle, _, year: combine.in_year(
        now, cycle, year
    ),
    "UNIT SURE_YEAR": lambda now, unit, year: cycles.year(now, year) if unit == "year" else None,
    "<art>? UNIT NUM": _decade,
    "<art>? NUM er|ern UNIT": lambda now, number, unit: _decade(now, unit, number),
    "UNIT de|del|du|des|vom <art>? CYCLE|TIME": _unit_of,
    "REL UNIT": relative.unit,
    "REL CYCLE": _cycle,
    "REL DURATION": _rolling,
    "REL REL UNITS": lambda now, _this, offset, unit: _few_rolling(now, offset, unit),
    "<art> REL UNITS": _few_rolling,
    "<in>|<art> UNIT": _this,
    "<in> <art> UNIT": _this,
    "EDGE -|de|del|des|du? <art>? CYCLE|TIME": subdivide.third,
    "<every> <art>? CYCLE": combine.every,
    "WEEKDAY": cycles.weekday,
    "WEEKDAYS": combine.every_weekday,
    "WEEKDAY ,? <art>? CYCLE|TIME": combine.dated,
    "CYCLE|TIME ,|-? CYCLE|TIME": combine.side_by_side,
    "CYCLE|TIME de|del|du|des|por|vom|von|a|im|am|en|au <art>? CYCLE|TIME": combine.side_by_side,
    "CLOCK": clock.at,
}


_NOUNS_FIRST: Table = {
    "UNIT REL": lambda now, unit, offset: relative.unit(now, offset, unit),
    "CYCLE REL": lambda now, cycle, offset: _cycle(now, offset, cycle),
}


def _to_come(now: Now, amount: Duration) -> Reading | None:
    """Dans deux semaines; but not in "combien de jours y a-t-il dans un mois ?"."""
    return None if _HOW_MANY.search(now.text) else relative.ago(now, amount, 1)


_RANGES: Table = {
    f"<from> <art>? DAY .|er? <to> {_WHEN}": ranges.days_to,
    f"<from>? {_WHEN} <to>|- {_WHEN}": ranges.join,
    f"<between> {_WHEN} <and> {_WHEN}": ranges.join,
    f"<between> <art>? DAY .|er? <and> {_WHEN}": ranges.days_to,
    f"<since> {_WHEN}": ranges.up_to_now,
    "<since> <ago>? DURATION": relative.rolling,
    f"<until> {_WHEN}": ranges.until,
    f"<as_of> {_WHEN}": ranges.as_of,
    f"<before> {_WHEN}": ranges.before,
    f"<after> {_WHEN}": ranges.after,
    f"<from> {_WHEN} <on>": ranges.onwards,
    "<ago> DURATION": relative.ago,
    "DURATION <back>": relative.ago,
    "<will> DURATION": _to_come,
}

_LEADS: Table = {
    "<in>|<from> <art>? TIME": complete,
    "<art> TIME": lambda _, when: when,
}
