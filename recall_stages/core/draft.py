"""What a model wrote of the memories before they had their last order; nothing is checked yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recall_stages.core.candidate import Candidate


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a model, and the numbers of the memories it claims to rest on."""

    sentence: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model wrote before the memories had their last order; nothing is checked yet.

    Attributes:
        claims: Its sentences, with the numbers that the memories had then.
        memories: These memories, numbered from 1.
    """

    claims: tuple[Claim, ...]
    memories: tuple[Candidate, ...]

    def about(self, memories: Sequence[Candidate]) -> list[Claim]:
        """The sentences, with the numbers that the memories have now; none for one that is gone.

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
    """By what a memory is known again after it was scored: its id, else its text."""
    return memory.id or memory.content
