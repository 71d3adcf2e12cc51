"""Which language a text in Latin script has, by its small words and its words of time."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recall_retrievers.timeline.english.words import FOLLOWERS, WORDS
from recall_retrievers.timeline.western.patterns import Western
from recall_retrievers.timeline.western.vocabulary import FOLDED, words_of

_WORD = re.compile(r"[^\W\d_]+")
_MOST = 2000  # characters: no language is clearer after them
_SURE = 3  # English words that a foreign word of time does not outweigh
_ENGLISH = FOLLOWERS | words_of("say said tell told get got go went come came ago t s")


class Recogniser:
    """The languages that a text can be in, besides English.

    Examples:
        >>> from recall_retrievers.timeline.western.german import GERMAN
        >>> code_of = Recogniser({"de": GERMAN}).code_of
        >>> code_of("Was habe ich gestern gegessen?"), code_of("What did I eat yesterday?")
        ('de', 'en')
    """

    def __init__(self, languages: Mapping[str, Western]) -> None:
        self._small = {code: one.vocabulary.common for code, one in languages.items()}
        self._telling = {
            code: one.vocabulary.telling - WORDS.keys() - _ENGLISH
            for code, one in languages.items()
        }
        self._foreign = frozenset().union(*self._small.values(), *self._telling.values()) - _ENGLISH

    def code_of(self, text: str) -> str:
        """The code of the language; "en" where no other one has more of its words in the text."""
        words = set(_WORD.findall(text[:_MOST].lower().translate(FOLDED)))
        if words.isdisjoint(self._foreign):
            return "en"
        counts = {"en": len(words & _ENGLISH)}
        for code, small in self._small.items():
            telling = len(words & self._telling[code]) if counts["en"] < _SURE else 0
            counts[code] = 2 * telling + len(words & small)
        return max(counts, key=counts.__getitem__)
