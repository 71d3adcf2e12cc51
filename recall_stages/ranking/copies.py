"""Memories that say the same: put together, and one of them kept."""

from __future__ import annotations

from collections.abc import Sequence

from recall_stages.core.memory import Memory
from recall_stages.ranking.near_duplicates import near_duplicates


def copies(memories: Sequence[Memory], threshold: float) -> list[list[Memory]]:
    """The memories in groups that say nearly the same, each group in the order given.

    What two people said is no copy: "I eat no meat" of Ann and of Bob are two facts.

    Args:
        memories: The memories.
        threshold: The share of words, in order, from which two count as one; see
            `near_duplicates`.

    Examples:
        >>> told = [Memory(content="I like tea."), Memory(content="Coffee?"),
        ...         Memory(content="i like tea")]
        >>> [len(group) for group in copies(told, 0.95)]
        [2, 1]
    """
    groups: dict[tuple[str, str | None, int], list[Memory]] = {}
    firsts = near_duplicates([memory.content for memory in memories], threshold)
    for first, memory in zip(firsts, memories, strict=True):
        groups.setdefault((memory.author, memory.scope.user_id, first), []).append(memory)
    return list(groups.values())


def distinct(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """The memories in order, each text once: of those with the very same the first.

    Examples:
        >>> told = [Memory(content="Tea.", id="a"), Memory(content=" Tea.", id="b")]
        >>> [memory.id for memory in distinct(told)]
        ['a']
    """
    firsts = {memory.content.strip(): memory for memory in reversed(memories)}
    return tuple(each for each in memories if firsts[each.content.strip()] is each)


def for_all(kept: Memory, same: Sequence[Memory]) -> Memory:
    """One memory in the place of all that say the same: the best score, the others' ids traced."""
    others = ", ".join(each.id for each in same if each is not kept)
    if not others:
        return kept
    scores = [each.score for each in same if each.score is not None]
    score = {"score": max(scores)} if scores else {}
    return kept.model_copy(update={**score, "trace": {**kept.trace, "duplicates": others}})
