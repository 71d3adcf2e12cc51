"""Memories within a budget of tokens: split over prompts, in windows, or the best that fit."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from pydantic import Field

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.errors import ReplyError, described
from recall_retrievers.core.message import latest
from recall_retrievers.core.query import Query, Recall
from recall_retrievers.llm.fencing import body, harmless, quoted, quoted_messages, quoted_question
from recall_retrievers.text.tokens import Counter, cut, token_counter

T = TypeVar("T")

Orders = Annotated[int, Field(ge=1, le=3)]
"""In how many orders a window is sent."""

_SHOWN = 1000  # characters of a message in a prompt
_LEAST = 16  # tokens of a memory that a prompt shows, however small the budget is
_LONG_NUMBER = 999  # stands for the final number of a memory, which is not known yet and not longer


@dataclass(frozen=True, slots=True)
class Window:
    """The memories of one prompt, which numbers them from 1; ``first`` stand in earlier windows."""

    memories: tuple[Candidate, ...]
    text: str
    first: int

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
    memories: Sequence[Candidate],
    *,
    budget: int,
    count: Counter | None,
    orders: int = 1,
) -> list[Window]:
    """Split memories into windows, in order. No memory is left out.

    A memory that is longer than a window has one of its own. It is cut there, with a mark.
    """
    count = count or token_counter()
    shown = _split(memories, budget, count)
    turned = [*shown]
    for order in range(1, orders):
        for window in shown:
            # No reversal: models read the middle of a prompt worst, and it would stay the middle.
            shuffle = random.Random(order)  # noqa: S311 - the same every time, and no secret
            turned += _split(shuffle.sample(window.memories, len(window.memories)), budget, count)
    return turned


def _split(memories: Sequence[Candidate], budget: int, count: Counter) -> list[Window]:
    groups: list[list[tuple[Candidate, str]]] = []
    size = 0
    for memory in memories:
        # The text is a full stop: around an empty text, two line ends would count as one token.
        room = max(budget - count(quoted(_LONG_NUMBER, memory, ".")), _LEAST)
        shown = cut(harmless(body(memory)), room, count)
        needed = count(quoted(_LONG_NUMBER, memory, shown)) + 1  # and the line end
        if not groups or size + needed > budget:
            groups.append([])
            size = 0
        groups[-1].append((memory, shown))
        size += needed
    return [
        Window(
            memories=tuple(memory for memory, _ in each),
            text="\n".join(quoted(n, memory, shown) for n, (memory, shown) in enumerate(each, 1)),
            first=sum(map(len, groups[:place])),
        )
        for place, each in enumerate(groups)
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
    room = budget
    for memory in memories:
        size = count(body(memory))
        if size <= room:
            chosen.append(memory)
            room -= size
        elif chosen:
            others.append(memory)
        else:
            chosen.append(_shortened(memory, budget, count))
            room = 0
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


def read_replies(
    replies: Sequence[tuple[Window, str | Exception]], read: Callable[[str, Window], T]
) -> list[T | Exception]:
    """The outcome of each reply, or its error. A bad reply does not affect the others."""
    outcomes: list[T | Exception] = []
    for window, reply in replies:
        try:
            outcomes.append(reply if isinstance(reply, Exception) else read(str(reply), window))
        except ReplyError as error:
            outcomes.append(error)
    return outcomes


def some_failed(recall: Recall, stage: str, outcomes: Sequence[object]) -> Recall:
    """The recall. If the replies to some windows cannot be used, it names the first error.

    Raises:
        Exception: That error, if no reply can be used.
    """
    errors = [each for each in outcomes if isinstance(each, Exception)]
    if len(errors) == len(outcomes):
        raise errors[0]
    why = [f"{len(errors)} of {len(outcomes)} prompts failed: {described(e)}" for e in errors[:1]]
    return recall.fell_back(stage, *why)
