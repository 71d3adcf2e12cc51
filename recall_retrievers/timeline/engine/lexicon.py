"""The words of a language that writes no spaces: the longest known one at every place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

Kinds = dict[str, object]


class Lexicon:
    """Known words, and the words of patterns, which stand for themselves."""

    def __init__(self, words: Mapping[str, Kinds], patterns: Iterable[str]) -> None:
        self.words = {word: dict(kinds) for word, kinds in words.items()}
        for word in patterns:
            if not word.isupper():
                self.words.setdefault(word, {})[word] = None
        lengths: dict[str, set[int]] = defaultdict(set)
        for word in self.words:
            lengths[word[0]].add(len(word))
        self._lengths = {first: sorted(group, reverse=True) for first, group in lengths.items()}

    def words_at(self, text: str, at: int) -> Iterator[tuple[str, Kinds]]:
        """The known words that begin at a place, the longest first."""
        for length in self._lengths.get(text[at], ()):
            word = text[at : at + length]
            kinds = self.words.get(word)
            if kinds is not None and len(word) == length:
                yield word, kinds
