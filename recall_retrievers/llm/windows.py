"""Memories within a budget of tokens: those that fit into a prompt, or into a text."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from pydantic import Field

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.message import latest
from recall_retrievers.core.query import Query
from recall_retrievers.llm.fencing import body, harmless, quoted, quoted_messages, quoted_question
from recall_retrievers.text.tokens import Counter, cut, token_counter

T = TypeVar("T")

Orders = Annotated[int, Field(ge=1, le=3)]
"""In how many orders the memories are sent."""

_SHOWN = 1000  # characters of a message in a prompt
_LEAST = 16  # tokens of a memory that a prompt shows, however small the budget is
_LONG_NUMBER = 999  # stands for the final number of a memory, which is not known yet and not longer


@dataclass(frozen=True, slots=True)
class Window:
    """The memories of a prompt, which numbers them from 1."""

    memories: tuple[Candidate, ...]
    text: str

    def material(self, query: Query) -> dict[str, str]:
        """The text for each placeholder of a prompt about a question and its memories."""
        messages = latest(query.messages, longest=_SHOWN)
        last = f"\nThe last messages:\n{quoted_messages(messages)}\n" if messages else ""
        return {
            "question": quoted_question(query),
            "messages": last,
            "memories": self.text,
            "count": str(len(self.memories)),
        }


def windows(
    memories: Sequence[Candidate], *, budget: int, count: Counter | None, orders: int = 1
) -> list[Window]:
    """The memories that fit into a prompt, in so many orders.

    One that does not fit is left out, and shorter ones after it may still fit. The first always
    stays: if it is longer than the budget, it is cut, with a mark.
    """
    count = count or token_counter()

    def size(memory: Candidate, shown: str) -> int:
        return count(quoted(_LONG_NUMBER, memory, shown)) + 1  # and the line end

    texts = [(memory, harmless(body(memory))) for memory in memories]
    for memory, whole in texts[:1]:
        # The text is a full stop: around an empty text, two line ends would count as one token.
        texts[0] = memory, cut(whole, max(budget + 1 - size(memory, "."), _LEAST), count)
    fitting = _fitting([(each, size(*each)) for each in texts], budget)
    # No reversal: models read the middle of a prompt worst, and it would stay the middle. The
    # shuffles are the same every time, and no secret.
    turned = [random.Random(n).sample(fitting, len(fitting)) for n in range(1, orders)]  # noqa: S311
    return [
        Window(
            memories=tuple(memory for memory, _ in each),
            text="\n".join(quoted(n, memory, shown) for n, (memory, shown) in enumerate(each, 1)),
        )
        for each in (fitting, *turned)
    ]


def fit_budget(
    memories: Sequence[Candidate], budget: int, count: Counter | None
) -> list[Candidate]:
    """Choose the memories that fit, the best first. Their trace names the others.

    The first memory always stays. If it is longer than the whole budget, it is cut, with a mark.
    """
    count = count or token_counter()
    chosen = _fitting([(memory, count(body(memory))) for memory in memories], budget)
    others = [memory for memory in memories if memory not in chosen]
    if chosen and count(body(chosen[0])) > budget:
        chosen[0] = _shortened(chosen[0], budget, count)
    if not others:
        return chosen
    left_out = ", ".join(each.id or each.content[:20] for each in others)
    step = Step("TokenBudget", notes={"left_out": left_out})
    return [memory.after(memory.score, step) for memory in chosen]


def _fitting(sized: Sequence[tuple[T, int]], budget: int) -> list[T]:
    fitting: list[T] = []
    for each, size in sized:
        if not fitting or size <= budget:
            fitting.append(each)
            budget -= size
    return fitting


def _shortened(memory: Candidate, budget: int, count: Counter) -> Candidate:
    condition = memory.when_to_use and cut(memory.when_to_use, budget // 2, count)
    room = budget - (count(f"When to use: {condition}\n") if condition else 0)
    content = cut(memory.content, room, count)
    return replace(memory, when_to_use=condition, content=content)
