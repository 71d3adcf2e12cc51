"""Copies: groups of memories that say the same, and one candidate for each group."""

from __future__ import annotations

from collections.abc import Sequence

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.ranking.near_duplicates import near_duplicates


def copies(memories: Sequence[Candidate], threshold: float) -> list[list[Candidate]]:
    """Group memories that say nearly the same; every group is in the order of the input.

    The words of two people are never copies: "I eat no meat" by Ann and by Bob are two facts.

    Args:
        memories: The memories.
        threshold: The share of common words, in order, from which two memories are copies; see
            `near_duplicates`.

    Examples:
        >>> memories = [Candidate(content="I like tea."), Candidate(content="Coffee?"),
        ...             Candidate(content="i like tea")]
        >>> [len(group) for group in copies(memories, 0.95)]
        [2, 1]
    """
    groups: dict[tuple[str, str | None, int], list[Candidate]] = {}
    firsts = near_duplicates([memory.wording for memory in memories], threshold)
    for first, memory in zip(firsts, memories, strict=True):
        groups.setdefault((memory.author, memory.scope.user_id, first), []).append(memory)
    return list(groups.values())


def distinct(memories: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The memories in order, without repeated texts; the first one of a text stays.

    Examples:
        >>> memories = [Candidate(content="Tea.", id="a"), Candidate(content=" Tea.", id="b")]
        >>> [memory.id for memory in distinct(memories)]
        ['a']
    """
    firsts = {memory.content.strip(): memory for memory in reversed(memories)}
    return tuple(each for each in memories if firsts[each.content.strip()] is each)


def for_all(chosen: Candidate, same: Sequence[Candidate], stage: str) -> Candidate:
    """One candidate for a group of copies, with the best score and the ids of the others.

    Args:
        chosen: The copy that stays.
        same: All copies.
        stage: The stage that chooses.
    """
    others = ", ".join([each.id for each in same if each is not chosen])
    if not others:
        return chosen
    best = max([each.score for each in same if each.score is not None], default=None)
    if best == chosen.score or best is None:
        return chosen.after(
            chosen.score, Step(stage, after=chosen.score, notes={"duplicates": others})
        )
    note = Step(
        stage, "set", best, best, about="as its best duplicate", notes={"duplicates": others}
    )
    return chosen.after(best, note)
