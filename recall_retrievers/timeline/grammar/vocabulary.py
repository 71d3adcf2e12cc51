"""What a language consists of: its words of time by kind, what they need beside them, its orders.

A word of several words is written with `_` for its spaces, and may be a pattern as those of
`engine`: "the_day_before_yesterday", "new_year_'s?_day".
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from recall_retrievers.timeline.grammar.clauses import Clauses
from recall_retrievers.timeline.grammar.engine import Table
from recall_retrievers.timeline.grammar.neighbours import Place
from recall_retrievers.timeline.grammar.tense import Cues

Kinds = dict[str, object]

_PLAIN: dict[int, str] = {
    ord(letter): unicodedata.normalize("NFD", letter)[0]
    for letter in map(chr, range(0xC0, 0x180))
    if unicodedata.decomposition(letter) and "<" not in unicodedata.decomposition(letter)
}
FOLDED: Final = _PLAIN | str.maketrans("’‘–—‐‑ºª", "''----  ")
"""Letters without their accents, character for character, so that places stay where they are."""


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


def number_kinds(number: int) -> Kinds:
    """A number as a count, a day of the month, an hour or a year."""
    kinds: Kinds = {"NUM": number}
    if 1 <= number <= 31:
        kinds["DAY"] = number
    if number <= 24:
        kinds["HOUR"] = number
    if 1500 <= number < 2200:
        kinds["YEAR"] = number
    return kinds


def spoken_kinds(number: int) -> Kinds:
    """A number in a word; it may also be a part of a longer one."""
    kind = "ONES" if number < 10 else "TEEN" if number < 20 else "TENS"
    parts: Kinds = {kind: number} if number < 100 and (number < 20 or number % 10 == 0) else {}
    return {"COUNT": number, **parts, **number_kinds(number)}


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language, in small letters and without accents."""

    kinds: Mapping[str, Mapping[object, str]]  # kind, then value, then the words that mean it
    cues: Cues  # what tells whether it looks back or ahead
    roles: Mapping[str, str]  # what words without a value do in a pattern, such as "from"
    common: frozenset[str]  # small words by which the language is recognised
    before_month: frozenset[str]  # words after which a month is one, and not a name
    before_weekday: frozenset[str] | None  # None: a small first letter is enough
    before_year: frozenset[str]
    before_day: frozenset[str]  # words after which "the 3rd", 5.3.21 is a day
    dates: Table  # orders that only this language has, read with the dates
    numbers: Table = field(default_factory=dict)  # before them
    phrases: Table = field(default_factory=dict)  # around them
    ranges: Table = field(default_factory=dict)
    nouns_first: bool = False  # "last" can stand behind its noun: la semana pasada
    month_first: bool = False  # May 5
    days_are_numbers: str = ""  # le 3 (" "), am 3. ("."); "" where a day needs its ending: the 3rd
    ordinal: str = "(?!)"  # the endings of a number that make it one: 3rd
    decade: str = "(?!)"  # and of a decade: the 80s
    compounds: bool = False  # words are written together: Dienstagabend
    doubtful: frozenset[str] | None = None  # words that need a sign of time; None: all names
    verbs: frozenset[str] = frozenset()  # doubtful words that are verbs: may, march
    things: frozenset[str] = frozenset()  # words before "of" and a holiday: the tree of Christmas
    measures: frozenset[str] = frozenset()  # what a number counts: 2000 steps
    decide: Callable[[Place], Kinds | None] | None = None  # its own traps
    clauses: Clauses | None = None
    words: dict[str, Kinds] = field(default_factory=dict)  # and their kinds
    sayings: dict[str, Callable[..., Kinds]] = field(default_factory=dict)  # of several words
    telling: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Turn the table around: from a word to its kinds."""
        for word, kind, value in self._entries():
            self.words.setdefault(word, {})[kind] = value
        for word in [word for word in self.words if "_" in word]:
            self.sayings[word.replace("_", " ")] = _always(self.words.pop(word))
        telling = {word for word, kinds in self.words.items() if not _TELLING.isdisjoint(kinds)}
        object.__setattr__(self, "telling", frozenset(telling))

    def _entries(self) -> Iterator[tuple[str, str, object]]:
        for role, words in self.roles.items():
            yield from ((word, f"<{role}>", None) for word in words.split())
        for kind, values in self.kinds.items():
            for value, words in values.items():
                for word in words.split():
                    if kind == "COUNT" and isinstance(value, int):
                        yield from ((word, *more) for more in spoken_kinds(value).items())
                        continue
                    yield word, kind, value
                    if kind == "ORD":
                        yield word, "DAY", value
                    if kind == "REL" and self.nouns_first:
                        yield word, "REL_BEHIND", value


def _always(kinds: Kinds) -> Callable[..., Kinds]:
    return lambda *_: kinds


_TELLING = words_of(
    "DAYWORD MONTH WEEKDAY WEEKDAYS UNIT SEASON HOLIDAY NIGHT SOFT PART EDGE END HINT"
)
