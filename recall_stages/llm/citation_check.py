"""The check of citations: does a sentence share words and numbers with the memories it cites?

The check is cheap and knows no meaning. It finds a sentence about something else, a number or a
link that is in no memory, and a memory that does not exist. It does not find one wrong word among
right ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from recall_stages.core.candidate import Candidate
from recall_stages.core.citation import Citation
from recall_stages.core.draft import Claim
from recall_stages.llm.fencing import body, harmless
from recall_stages.llm.live_text import live_parts
from recall_stages.text.stems import words
from recall_stages.timeline.calendar_names import month_name, weekday_name

_FIGURE = re.compile(r"\d{4}-\d\d-\d\d|\d+")


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of a check.

    Attributes:
        citations: The sentences that passed, in order.
        removed: The number of sentences that failed.
    """

    citations: tuple[Citation, ...]
    removed: int


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The parts of memories that a sentence may use: words, numbers, and links and the like."""

    words: frozenset[str]
    figures: frozenset[str]
    live_parts: frozenset[str]

    @classmethod
    def of(cls, memory: Candidate) -> Self:
        moment = memory.created_at
        recorded = (
            f"{moment:%Y-%m-%d %Y %d} {weekday_name(moment)} {month_name(moment)}" if moment else ""
        )
        text = f"{body(memory)} {memory.author} {recorded}"
        # In the prompt, an address has "&amp;" for "&". A model may write either.
        live = live_parts(body(memory)) | live_parts(harmless(body(memory)))
        return cls(frozenset(words(text)), _figures(text), live)

    @classmethod
    def union(cls, parts: Sequence[Self]) -> Self:
        empty = frozenset[str]()
        return cls(
            empty.union(*(each.words for each in parts)),
            empty.union(*(each.figures for each in parts)),
            empty.union(*(each.live_parts for each in parts)),
        )


def verify(
    claims: Sequence[Claim], memories: Sequence[Candidate], min_support: float, first: int = 0
) -> Verified:
    """Remove the sentences that do not rest on the memories they cite.

    - A cited memory must exist, and share a word with the sentence.
    - At least the share ``min_support`` of the sentence's words (stemmed, without stop words) must
      stand in the cited memories, and so must all its numbers. The author and the date of a memory
      count as its words.
    - Images, links, tags and addresses must stand in a cited memory exactly as in the sentence,
      whatever ``min_support`` is.

    Args:
        claims: The sentences of the model.
        memories: The memories of its prompt, numbered from 1.
        min_support: The share of a sentence's words, 0 to 1; with 0 a memory need only exist.
        first: The number of memories in the prompts before this one, which is added to the numbers.

    Examples:
        >>> memories = [Candidate(content="The dentist moved to Elm Street.", id="a")]
        >>> street = Claim("The dentist is on Elm Street.", (1, 7))
        >>> verify([street, Claim("Pay 100 dollars.", (1,))], memories, 0.4)
        Verified(citations=(Citation(sentence='The dentist is on Elm Street.', numbers=(1,), \
ids=('a',)),), removed=1)
    """
    evidence = [_Evidence.of(memory) for memory in memories]
    supported = []
    for claim in claims:
        numbers = _supporting(claim, evidence, min_support)
        if numbers:
            ids = tuple(memories[number - 1].id for number in numbers)
            supported.append(Citation(claim.sentence, tuple(first + n for n in numbers), ids))
    return Verified(tuple(supported), len(claims) - len(supported))


def _supporting(claim: Claim, evidence: Sequence[_Evidence], min_support: float) -> list[int]:
    """The numbers of the memories that support a sentence; none if they do not suffice."""
    needed = frozenset(words(claim.sentence))
    cited = [
        number
        for number in claim.numbers
        if 1 <= number <= len(evidence)
        and (min_support == 0 or needed & evidence[number - 1].words)
    ]
    support = _Evidence.union([evidence[number - 1] for number in cited])
    if not live_parts(claim.sentence) <= support.live_parts:
        return []
    enough = len(needed & support.words) >= min_support * len(needed)
    figures_are_known = min_support == 0 or _figures(claim.sentence) <= support.figures
    return cited if enough and figures_are_known else []


def _figures(text: str) -> frozenset[str]:
    """The numbers of a text, without leading zeros; a date counts as one number."""
    return frozenset(figure.lstrip("0") for figure in _FIGURE.findall(text))
