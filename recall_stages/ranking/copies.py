"""Memories that say the same: put together, and one of them kept."""

from __future__ import annotations

from collections.abc import Sequence

from recall_stages.core.candidate import Candidate, Step
from recall_stages.ranking.near_duplicates import near_duplicates


def copies(memories: Sequence[Candidate], threshold: float) -> list[list[Candidate]]:
    """The memories in groups that say nearly the same, each group in the order given.

    What two people said is no copy: "I eat no meat" of Ann and of Bob are two facts.

    Args:
        memories: The memories.
        threshold: The share of words, in order, from which two count as one; see
            `near_duplicates`.

    Examples:
        >>> told = [Candidate(content="I like tea."), Candidate(content="Coffee?"),
        ...         Candidate(content="i like tea")]
        >>> [len(group) for group in copies(told, 0.95)]
        [2, 1]
    """
    groups: dict[tuple[str, str | None, int], list[Candidate]] = {}
    firsts = near_duplicates([memory.content for memory in memories], threshold)
    for first, memory in zip(firsts, memories, strict=True):
        groups.setdefault((memory.author, memory.scope.user_id, first), []).append(memory)
    return list(groups.values())


def distinct(memories: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The memories in order, each text once: of those with the very same the first.

    Examples:
        >>> told = [Candidate(content="Tea.", id="a"), Candidate(content=" Tea.", id="b")]
        >>> [memory.id for memory in distinct(told)]
        ['a']
    """
    firsts = {memory.content.strip(): memory for memory in reversed(memories)}
    return tuple(each for each in memories if firsts[each.content.strip()] is each)


def for_all(kept: Candidate, same: Sequence[Candidate], stage: str) -> Candidate:
    """One candidate in the place of all that say the same: the best score, the others' ids noted.

    Args:
        kept: The one that stays.
        same: All of them.
        stage: The stage that keeps it.
    """
    others = ", ".join([each.id for each in same if each is not kept])
    if not others:
        return kept
    best = max([each.score for each in same if each.score is not None], default=None)
    if best == kept.score or best is None:
        return kept.after(kept.score, Step(stage, after=kept.score, notes={"duplicates": others}))
    note = Step(
        stage, "set", best, best, about="as its best duplicate", notes={"duplicates": others}
    )
    return kept.after(best, note)
