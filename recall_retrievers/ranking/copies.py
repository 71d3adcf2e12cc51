"""Copies: groups of memories that say the same, and one candidate for each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.pool import Facts
from recall_retrievers.ranking.near_duplicates import near_duplicates
from recall_retrievers.text.wording import MOST_IN_PROFILE, PROFILE

_MOST_PAIRED = 1_000  # memories: every pair of more takes longer than their rarest words


def copies(facts: Facts, threshold: float) -> list[list[int]]:
    """The places of memories that say nearly the same, in groups, in the order of the input.

    The words of two people are never copies: "I eat no meat" by Ann and by Bob are two facts.

    Args:
        facts: The memories.
        threshold: The share of common words, in order, from which two memories are copies; see
            `near_duplicates`.

    Examples:
        >>> from recall_retrievers.core.pool import facts_of
        >>> memories = [Candidate(content="I like tea."), Candidate(content="Coffee?"),
        ...             Candidate(content="i like tea")]
        >>> copies(facts_of(memories), 0.95)
        [[0, 2], [1]]
    """
    firsts = [*range(len(facts))]
    alike = _may_be_copies(facts, threshold)
    known = zip(alike, facts.candidates(alike), strict=True)
    memories = {place: memory for place, memory in known if memory is not None}
    compared = [*memories]
    near = near_duplicates([memory.wording for memory in memories.values()], threshold)
    for place, first in zip(compared, near, strict=True):
        firsts[place] = compared[first]
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, first in enumerate(firsts):
        key = facts.authors[place], facts.owners[place][0], first
        groups.setdefault(key, []).append(place)
    return [*groups.values()]


def _may_be_copies(facts: Facts, threshold: float) -> Sequence[int]:
    """The memories whose words are nearly as many on each number of their profile."""
    if len(facts) > _MOST_PAIRED:
        return range(len(facts))
    numbers = facts.profiles
    if numbers is None:
        found = facts.candidates(range(len(facts)))
        read = [each.wording.profile if each else (0,) * PROFILE for each in found]
        numbers = np.array(read, dtype=np.uint8).reshape(-1, PROFILE)
    profiles = numbers.astype(np.int16)
    lengths = profiles.sum(axis=1)
    most = (1 - threshold) * np.add.outer(lengths, lengths) + 1e-3  # words that may differ
    ones, others = np.nonzero(np.triu(np.abs(np.subtract.outer(lengths, lengths)) <= most, 1))
    differing = np.abs(profiles[ones] - profiles[others]).sum(axis=1)
    pairs = differing <= most[ones, others]
    full = np.flatnonzero((numbers == MOST_IN_PROFILE).any(axis=1))
    alike: list[int] = np.unique(np.concatenate([ones[pairs], others[pairs], full])).tolist()
    return alike


def distinct(memories: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The memories in order, without repeated texts; the first one of a text stays.

    Examples:
        >>> memories = [Candidate(content="Tea.", id="a"), Candidate(content=" Tea.", id="b")]
        >>> [memory.id for memory in distinct(memories)]
        ['a']
    """
    firsts = {memory.content.strip(): memory for memory in reversed(memories)}
    return tuple(each for each in memories if firsts[each.content.strip()] is each)


def for_all(
    scores: Sequence[float | None], score: float | None, others: Sequence[str], stage: str
) -> Step:
    """The step of the candidate that stays of a group of copies: the best score, and the others.

    Args:
        scores: The scores of all copies.
        score: The score of the one that stays.
        others: The ids of the others.
        stage: The stage that chooses.
    """
    best = max([each for each in scores if each is not None], default=None)
    notes = {"duplicates": ", ".join(others)}
    if best is None or best == score:
        return Step(stage, after=score, notes=notes)
    return Step(stage, "set", best, best, about="as its best duplicate", notes=notes)
