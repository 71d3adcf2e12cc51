"""Memories within a budget of tokens: those that fit into a prompt, or into a text."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.message import latest
from recall_retrievers.core.query import Query
from recall_retrievers.llm.fencing import body, harmless, quoted, quoted_messages, quoted_question
from recall_retrievers.text.tokens import Counter, cut, token_counter

Orders = Annotated[int, Field(ge=1, le=3)]
"""In how many orders the memories are sent."""

_SHOWN = 1000  # characters of a message in a prompt
_HAVE_ROOM = 5  # memories, however long they are
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

    One that does not fit is left out, and shorter ones after it may still fit. A long one is cut,
    with a mark, so that five have room.
    """
    count = count or token_counter()
    longest = budget // min(len(memories), _HAVE_ROOM)
    fitting: list[tuple[Candidate, str]] = []
    for memory in memories:
        # The text is a full stop: around an empty text, two line ends would count as one token.
        room = max(longest - count(quoted(_LONG_NUMBER, memory, ".")), _LEAST)
        shown = cut(harmless(body(memory)), room, count)
        needed = count(quoted(_LONG_NUMBER, memory, shown)) + 1  # and the line end
        if not fitting or needed <= budget:
            fitting.append((memory, shown))
            budget -= needed
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
    chosen: list[Candidate] = []
    others: list[Candidate] = []
    for memory in memories:
        size = count(body(memory))
        if chosen and size > budget:
            others.append(memory)
            continue
        chosen.append(memory if size <= budget else _shortened(memory, budget, count))
        budget -= size
    if not others:
        return chosen
    left_out = ", ".join(each.id or each.content[:20] for each in others)
    step = Step("TokenBudget", notes={"left_out": left_out})
    return [memory.after(memory.score, step) for memory in chosen]


def _shortened(memory: Candidate, budget: int, count: Counter) -> Candidate:
    condition = memory.when_to_use and cut(memory.when_to_use, budget // 2, count)
    room = budget - (count(f"When to use: {condition}\n") if condition else 0)
    content = cut(memory.content, room, count)
    return replace(memory, when_to_use=condition, content=content)
