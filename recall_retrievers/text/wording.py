"""The words of a text, split once and kept: every question compares those of its candidates."""

from __future__ import annotations

from sys import intern
from zlib import crc32

from recall_retrievers.text.words import split_words

ENDS = 500
"""Characters at the beginning and at the end of a long text; what lies between is left out."""

PROFILE = 16
"""How many numbers a profile has."""

MOST_IN_PROFILE = 255
"""The highest of them."""

_FEW = 8  # words
_LONGEST_SHORT = 200  # characters: longer texts need not be split


class Wording:
    """A text as the words by which it is compared with others.

    Args:
        text: The text.

    Examples:
        >>> Wording("Tea, at FOUR.").words
        ('tea', 'at', 'four')
    """

    __slots__ = ("_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._words: tuple[str, ...] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case, in order; of a long text those of both ends."""
        if self._words is None:
            self._words = tuple(map(intern, split_words(ends(self.text).lower())))
        return self._words

    @property
    def short(self) -> bool:
        """Whether the text is a few words: such turns name people, and say little."""
        return len(self.text) < _LONGEST_SHORT and len(self.words) < _FEW

    @property
    def profile(self) -> tuple[int, ...]:
        """How many of its words fall on each of sixteen numbers, at most `MOST_IN_PROFILE`.

        A word that one of two texts has alone changes one number by one. So the words of two texts
        differ at least as much as their profiles.
        """
        counts = [0] * PROFILE
        for word in self.words:
            counts[crc32(word.encode("utf-8", "surrogatepass")) % PROFILE] += 1
        return tuple(min(count, MOST_IN_PROFILE) for count in counts)


def ends(text: str) -> str:
    """The beginning and the end of a long text; all of a shorter one."""
    return text if len(text) <= 2 * ENDS else f"{text[:ENDS]} {text[-ENDS:]}"
