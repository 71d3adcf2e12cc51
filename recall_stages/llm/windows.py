"""Windows: memories split over prompts, so that no prompt exceeds its budget of tokens."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import Field

from recall_stages.core.candidate import Candidate
from recall_stages.core.errors import ReplyError, described
from recall_stages.core.recall import Recall
from recall_stages.llm.fencing import body, harmless, quoted
from recall_stages.text.tokens import Counter, cut, token_counter

T = TypeVar("T")

Orders = Annotated[int, Field(ge=1, le=3)]
"""In how many orders a window is sent."""

_LEAST = 16  # tokens of a memory that a prompt shows, however small the budget is
_LONG_NUMBER = 999  # stands for the final number of a memory, which is not known yet and not longer


@dataclass(frozen=True, slots=True)
class Window:
    """The memories of one prompt.

    Attributes:
        memories: The memories, uncut; the prompt numbers them from 1.
        text: Their text in the prompt.
        first: The number of memories in the windows before this one.
    """

    memories: tuple[Candidate, ...]
    text: str
    first: int


def windows(
    memories: Sequence[Candidate], *, budget: int, count: Counter | None, most: int | None = None
) -> list[Window]:
    """Split memories into windows, in order. No memory is left out.

    A memory that is longer than a window has one of its own. It is cut there, with a mark.

    Args:
        memories: The memories, best first.
        budget: The number of tokens of memories in a window.
        count: Counts the tokens of a text. None = `token_counter`.
        most: The number of memories in a window at most; None = as many as fit.

    Examples:
        >>> memories = [Candidate(content=f"Tea at {hour}.") for hour in ("four", "five", "six")]
        >>> [len(each.memories) for each in windows(memories, budget=900, count=len, most=2)]
        [2, 1]
    """
    count = count or token_counter()
    groups: list[list[tuple[Candidate, str]]] = []
    size = 0
    for memory in memories:
        # The text is a full stop: around an empty text, two line ends would count as one token.
        room = max(budget - count(quoted(_LONG_NUMBER, memory, ".")), _LEAST)
        shown = cut(harmless(body(memory)), room, count)
        needed = count(quoted(_LONG_NUMBER, memory, shown)) + 1  # and the line end
        if not groups or size + needed > budget or len(groups[-1]) == most:
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


def in_orders(
    shown: Sequence[Window], orders: int, budget: int, count: Counter | None
) -> list[Window]:
    """The windows, and each of them again in other orders, which are the same every time.

    Args:
        shown: The windows.
        orders: The number of orders; with 1 there are no others.
        budget: The number of tokens of memories in a window.
        count: Counts the tokens of a text. None = `token_counter`.

    Examples:
        >>> memories = [Candidate(content=name) for name in "abcd"]
        >>> both = in_orders(windows(memories, budget=900, count=len), 2, 900, len)
        >>> ["".join(memory.content for memory in window.memories) for window in both]
        ['abcd', 'bcad']
    """
    turned = list(shown)
    for order in range(1, orders):
        for window in shown:
            # No reversal: models read the middle of a prompt worst, and it would stay the middle.
            shuffle = random.Random(order)  # noqa: S311 - the same every time, and no secret
            memories = shuffle.sample(window.memories, len(window.memories))
            turned += windows(memories, budget=budget, count=count)
    return turned


def read_replies(
    windows: Sequence[Window], replies: Sequence[str | Exception], read: Callable[[str, Window], T]
) -> list[T | Exception]:
    """The outcome of each reply, or its error. A bad reply does not affect the others.

    Args:
        windows: The windows that were sent.
        replies: The reply for each window, or the error in its place.
        read: Reads a reply about a window.

    Raises:
        ModelError: When no reply can be used, and that of the first window failed.
        ReplyError: When no reply can be used, and that of the first window is no use.
    """
    outcomes: list[T | Exception] = []
    for window, reply in zip(windows, replies, strict=True):
        try:
            outcomes.append(reply if isinstance(reply, Exception) else read(str(reply), window))
        except ReplyError as error:
            outcomes.append(error)
    errors = failures(outcomes)
    if len(errors) == len(outcomes) and errors:
        raise errors[0]
    return outcomes


def some_failed(recall: Recall, stage: str, outcomes: Sequence[object]) -> Recall:
    """The recall. If the replies to some windows cannot be used, it names the first error."""
    errors = failures(outcomes)
    if not errors:
        return recall
    why = f"{len(errors)} of {len(outcomes)} prompts failed: {described(errors[0])}"
    return recall.fell_back(stage, why)


def failures(outcomes: Sequence[object]) -> list[Exception]:
    """The errors among the outcomes."""
    return [each for each in outcomes if isinstance(each, Exception)]
