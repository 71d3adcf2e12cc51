"""Draft: the unchecked text of a model, from before the last ranking of the memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recall_stages.core.candidate import Candidate


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a model, and the numbers of the memories that it cites."""

    sentence: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """The unchecked text of a model, from before the last ranking of the memories.

    Attributes:
        claims: The sentences, with the numbers that the memories had in the prompt.
        memories: The memories of the prompt, numbered from 1.
    """

    claims: tuple[Claim, ...]
    memories: tuple[Candidate, ...]

    def about(self, memories: Sequence[Candidate]) -> list[Claim]:
        """The sentences with the new numbers of the memories; a memory that is gone has no number.

        Examples:
            >>> tea, jam = Candidate(content="Tea.", id="a"), Candidate(content="Jam.", id="b")
            >>> draft = Draft((Claim("Both.", (1, 2)), Claim("Nothing.", (7,))), (tea, jam))
            >>> [claim.numbers for claim in draft.about([jam])]
            [(1,), ()]
        """
        now = {identity(memory): number for number, memory in enumerate(memories, 1)}
        places = {then: now.get(identity(each)) for then, each in enumerate(self.memories, 1)}
        return [
            Claim(each.sentence, tuple(n for then in each.numbers if (n := places.get(then))))
            for each in self.claims
        ]


def identity(memory: Candidate) -> str:
    """The name of a memory that stays the same in all stages: its id, else its text."""
    return memory.id or memory.content
