"""Sentences and the memories that they rest on: as a model wrote them, and checked."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a model, and the numbers of the memories that it cites."""

    sentence: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of a text, and the memories that it rests on.

    Attributes:
        sentence: The sentence, without citation marks.
        numbers: The numbers of the memories, from 1, in the order of the text's sources.
        ids: The ids of the same memories; empty for a memory without an id.
        quotes: The words of the same memories that come nearest to the sentence, exactly as they
            are stored; empty where no word is shared.
        checked: Whether its words were compared. They cannot be if the memories are in another
            language; then only its figures, names in Latin letters and links were.
    """

    sentence: str
    numbers: tuple[int, ...]
    ids: tuple[str, ...]
    quotes: tuple[str, ...] = ()
    checked: bool = True

    def marked(self) -> str:
        """The sentence with its citation marks.

        Examples:
            >>> Citation("Tea is at four.", (1, 3), ("a", "c")).marked()
            'Tea is at four. [1, 3]'
            >>> Citation("四点喝茶。", (1,), ("a",), checked=False).marked()
            '四点喝茶。 [1, unchecked]'
        """
        marks = [*map(str, self.numbers), *([] if self.checked else ["unchecked"])]
        return f"{self.sentence} [{', '.join(marks)}]"


def cited_ids(citations: Sequence[Citation]) -> list[str]:
    """The ids of all cited memories, without repetition, in the order of their numbers."""
    pairs = {
        (number, memory_id)
        for citation in citations
        for number, memory_id in zip(citation.numbers, citation.ids, strict=True)
    }
    return [memory_id for _, memory_id in sorted(pairs) if memory_id]
