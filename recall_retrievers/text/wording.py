"""The words of a text, split once and kept: every question compares those of its candidates."""

from __future__ import annotations

from sys import intern

from recall_retrievers.text.split_words import split_words

ENDS = 500
"""Characters at the beginning and at the end of a long text; what lies between is left out."""

_MARKS = 2048  # so that two words of the candidates of a question hardly share a mark


class Wording:
    """A text as the words by which it is compared with others.

    Args:
        text: The text.

    Examples:
        >>> Wording("Tea, at FOUR.").words
        ('tea', 'at', 'four')
    """

    __slots__ = ("_marks", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._words: tuple[str, ...] | None = None
        self._marks: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case, in order; of a long text those of both ends."""
        if self._words is None:
            self._words = tuple(map(intern, split_words(ends(self.text).lower())))
        return self._words

    @property
    def marks(self) -> int:
        """A bit for each of its words, by the hash of the word.

        A bit that only one of two texts has is a word that only this one has. So sets of words are
        compared in a tenth of the time, and words that share a bit are counted too few.
        """
        if self._marks is None:
            marks = 0
            for word in self.words:
                marks |= 1 << (hash(word) % _MARKS)
            self._marks = marks
        return self._marks


def ends(text: str) -> str:
    """The beginning and the end of a long text; all of a shorter one."""
    return text if len(text) <= 2 * ENDS else f"{text[:ENDS]} {text[-ENDS:]}"
