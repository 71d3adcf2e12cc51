"""Memories within a budget of tokens: the best ones that fit, and the names of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recall_stages.core.candidate import Candidate, Step
from recall_stages.llm.fencing import body
from recall_stages.text.tokens import Counter, cut


def fit_budget(memories: Sequence[Candidate], budget: int, count: Counter) -> list[Candidate]:
    """Choose the memories that fit, the best first. Their trace names the others.

    The first memory always stays. If it is longer than the whole budget, it is cut, with a mark.

    Args:
        memories: The memories, best first.
        budget: The number of tokens for their texts and conditions of use.
        count: Counts the tokens of a text.

    Examples:
        >>> texts = ("Tea.", "A long story.", "Jam.")
        >>> memories = [Candidate(content=text, id=text[:1]) for text in texts]
        >>> [(each.content, each.trace) for each in fit_budget(memories, 10, len)]
        [('Tea.', {'left_out': 'A'}), ('Jam.', {'left_out': 'A'})]
        >>> fit_budget(memories[1:], 10, len)[0].content
        'A long […]'
    """
    chosen: list[Candidate] = []
    others: list[Candidate] = []
    room = budget
    for memory in memories:
        size = count(body(memory))
        if size <= room:
            chosen.append(memory)
            room -= size
        elif chosen:
            others.append(memory)
        else:
            chosen.append(_cut(memory, budget, count))
            room = 0
    if not others:
        return chosen
    left_out = ", ".join(each.id or each.content[:20] for each in others)
    step = Step("TokenBudget", notes={"left_out": left_out})
    return [memory.after(memory.score, step) for memory in chosen]


def _cut(memory: Candidate, budget: int, count: Counter) -> Candidate:
    condition = memory.when_to_use and cut(memory.when_to_use, budget // 2, count)
    room = budget - (count(f"When to use: {condition}\n") if condition else 0)
    content = cut(memory.content, room, count)
    return replace(memory, when_to_use=condition, content=content)
