"""The words by which a turn of a conversation is found: its own, and those around it.

"Yes, three of them" is found by the words of the question that it answers, "Any pets?" by those of
its answer. So a turn is indexed as if its own words were said several times, and those around it
less often: BM25 then weighs them as fields of one text (BM25F, Robertson et al. 2004).
`benchmarks/README.md` has the numbers of times that were measured, over twelve sets. The words
around a turn are part of no text that is returned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.search_text import ending, index_text, opening
from recall_retrievers.text.stems import indexed_words

OWN = 3
"""How often the words of a turn count; those of a memory without turns around it count once."""

BEFORE = (2, 1)
"""How often the words of the turn before it count, and of the turn before that."""

AFTER = (1,)
"""How often the words of the turn after it count."""


class Spoken:
    """The words of a memory, read when they are needed.

    Examples:
        >>> said = Spoken(Candidate(content="Yes, three cats.", said_before="Any pets?"))
        >>> said.own, said.before, said.opening
        (['yes', 'three', 'cat'], ['ani', 'pet'], ['yes', 'three', 'cat'])
    """

    def __init__(self, memory: Candidate) -> None:
        self._text = index_text(memory)
        self._said_before = memory.said_before

    @cached_property
    def own(self) -> list[str]:
        """The words of its text."""
        return indexed_words(self._text)

    @cached_property
    def before(self) -> list[str]:
        """The words of the end of the turn that it answers."""
        return indexed_words(self._said_before) if self._said_before else []

    @cached_property
    def opening(self) -> list[str]:
        """The words of the beginning of its text."""
        text = opening(self._text)
        return self.own if len(text) == len(self._text) else indexed_words(text)

    @cached_property
    def ending(self) -> list[str]:
        """The words of the end of its text."""
        text = ending(self._text)
        return self.own if len(text) == len(self._text) else indexed_words(text)


def counted(
    own: Sequence[str], before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]
) -> Counter[str]:
    """How often each word counts for a turn.

    Args:
        own: The words of the turn.
        before: Those of the end of the turn before it, of the one before that, and so on.
        after: Those of the beginning of the turn after it, of the one after that, and so on.

    Examples:
        >>> counted(["three"], [["pet"]], [["nice"]])
        Counter({'three': 3, 'pet': 2, 'nice': 1})
        >>> counted(["tea"], [[]], [[]])
        Counter({'tea': 1})
    """
    around = [
        *zip(BEFORE[: len(before)], before, strict=True),
        *zip(AFTER[: len(after)], after, strict=True),
    ]
    if not any(said for _, said in around):
        return Counter(own)
    every = [*own] * OWN
    for times, said in around:
        every += [*said] * times
    return Counter(every)
