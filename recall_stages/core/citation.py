"""Citation: a sentence, and the memories that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of a text that was made of memories, and what it rests on.

    Attributes:
        sentence: The sentence, without the marks of what it cites.
        numbers: The memories by their place among those that the text was made of, from 1.
        ids: The same memories by their ids; empty for one that came without.
    """

    sentence: str
    numbers: tuple[int, ...]
    ids: tuple[str, ...]

    def marked(self) -> str:
        """The sentence with the marks of what it cites.

        Examples:
            >>> Citation("Tea is at four.", (1, 3), ("a", "c")).marked()
            'Tea is at four. [1, 3]'
        """
        return f"{self.sentence} [{', '.join(map(str, self.numbers))}]"


def cited_ids(citations: Sequence[Citation]) -> list[str]:
    """The ids of all that is cited, each once, in the order of their numbers."""
    pairs = {
        (number, memory_id)
        for each in citations
        for number, memory_id in zip(each.numbers, each.ids, strict=True)
    }
    return [memory_id for _, memory_id in sorted(pairs) if memory_id]
