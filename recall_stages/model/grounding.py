"""Whether a sentence rests on the memories that it cites: a check of words and numbers.

It is cheap and knows no meaning: it finds a sentence about something else, a number that nobody
stored and a memory that does not exist; it does not find one wrong word among right ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recall_stages.citations import Citation
from recall_stages.memory import Memory
from recall_stages.model.claims import Claim
from recall_stages.model.quoting import body
from recall_stages.store.words import words

_FIGURE = re.compile(r"\d{4}-\d\d-\d\d|\d+")


@dataclass(frozen=True, slots=True)
class Verified:
    """What is left of what a model wrote.

    Attributes:
        citations: The sentences that rest on what they cite, in order.
        removed: How many sentences did not.
    """

    citations: tuple[Citation, ...]
    removed: int


def verify(
    claims: Sequence[Claim], memories: Sequence[Memory], min_support: float, first: int = 0
) -> Verified:
    """Keep the sentences that rest on the memories they cite.

    A cited memory must exist and share a word with the sentence; of the sentence's words (stemmed,
    stop words left out) at least the share ``min_support`` must stand in the memories cited, and
    every number of it too. The author and the date of a memory count as its words.

    Args:
        claims: What the model wrote.
        memories: What it was given, numbered from 1.
        min_support: The share of a sentence's words, 0 to 1; with 0 a memory need only exist.
        first: What to add to the numbers, where these memories are not the first of the text's.

    Examples:
        >>> told = [Memory(content="The dentist moved to Elm Street.", id="a")]
        >>> said = [Claim("The dentist is on Elm Street.", (1, 7)), Claim("Pay 100 dollars.", (1,))]
        >>> verify(said, told, 0.4)
        Verified(citations=(Citation(sentence='The dentist is on Elm Street.', numbers=(1,), \
ids=('a',)),), removed=1)
    """
    evidence = [_evidence(memory) for memory in memories]
    kept = []
    for claim in claims:
        numbers = _supporting(claim, evidence, min_support)
        if numbers:
            ids = tuple(memories[number - 1].id for number in numbers)
            kept.append(Citation(claim.sentence, tuple(first + n for n in numbers), ids))
    return Verified(tuple(kept), len(claims) - len(kept))


def _supporting(
    claim: Claim, evidence: Sequence[tuple[frozenset[str], frozenset[str]]], min_support: float
) -> list[int]:
    """The numbers of the cited memories that support a sentence; none, if they do not suffice."""
    cited = [number for number in claim.numbers if 1 <= number <= len(evidence)]
    if min_support == 0:
        return cited
    said = frozenset(words(claim.sentence))
    cited = [number for number in cited if said & evidence[number - 1][0]]
    known = frozenset[str]().union(*(evidence[number - 1][0] for number in cited))
    figures = frozenset[str]().union(*(evidence[number - 1][1] for number in cited))
    enough = len(said & known) >= min_support * len(said) and _figures(claim.sentence) <= figures
    return cited if enough else []


def _evidence(memory: Memory) -> tuple[frozenset[str], frozenset[str]]:
    moment = memory.created_at
    recorded = f"{moment:%Y-%m-%d %Y %d %A %B}" if moment else ""
    text = f"{body(memory)} {memory.author} {recorded}"
    return frozenset(words(text)), _figures(text)


def _figures(text: str) -> frozenset[str]:
    """The numbers of a text, a date as one, without zeros before them."""
    return frozenset(figure.lstrip("0") for figure in _FIGURE.findall(text))
