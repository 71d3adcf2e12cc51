"""What a language of `western` consists of: its words of time by kind, and what they need."""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from recall_retrievers.timeline.engine.grammar import Table

Kinds = Mapping[str, object]

_PLAIN: dict[int, str] = {
    ord(letter): unicodedata.normalize("NFD", letter)[0]
    for letter in map(chr, range(0xC0, 0x180))
    if unicodedata.decomposition(letter) and "<" not in unicodedata.decomposition(letter)
}
FOLDED: Final = _PLAIN | str.maketrans("’–—ºª", "'--  ")
"""Letters without their accents, character for character, so that places stay where they are."""


def words_of(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def number_kinds(number: int) -> dict[str, object]:
    """A number as a count, a day of the month, an hour or a year."""
    kinds: dict[str, object] = {"NUM": number}
    if 1 <= number <= 31:
        kinds["DAY"] = number
    if number <= 24:
        kinds["HOUR"] = number
    if 1900 <= number < 2100:
        kinds["YEAR"] = number
    return kinds


@dataclass(frozen=True)
class Vocabulary:
    """The words of a language, in small letters and without accents."""

    kinds: Mapping[str, Mapping[object, str]]  # kind, then value, then the words that mean it
    roles: Mapping[str, str]  # what words without a value do in a pattern, such as "from"
    common: frozenset[str]  # small words by which the language is recognised
    before_month: frozenset[str]  # words after which a month is one, and not a name
    before_weekday: frozenset[str] | None  # None: a small first letter is enough
    before_year: frozenset[str]
    extra: Table  # patterns that only this language has
    nouns_first: bool = False  # "last" can stand behind its noun: la semana pasada
    words: dict[str, dict[str, object]] = field(default_factory=dict)  # and their kinds
    telling: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Turn the table around: from a word to its kinds."""
        for word, kind, value in self._entries():
            self.words.setdefault(word, {})[kind] = value
        telling = {word for word, kind, _ in self._entries() if kind in _TELLING}
        object.__setattr__(self, "telling", frozenset(telling))

    def _entries(self) -> Iterator[tuple[str, str, object]]:
        for role, words in self.roles.items():
            yield from ((word, f"<{role}>", None) for word in words.split())
        for kind, values in self.kinds.items():
            for value, words in values.items():
                for word in words.split():
                    yield word, kind, value
                    if kind == "ORD":
                        yield word, "DAY", value
                    if kind == "COUNT" and isinstance(value, int):
                        yield from ((word, *more) for more in number_kinds(value).items())


_TELLING = words_of("DAYWORD MONTH WEEKDAY WEEKDAYS UNIT SEASON HOLIDAY NIGHT SOFT PART EDGE HINT")
