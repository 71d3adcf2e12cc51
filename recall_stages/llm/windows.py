"""Memories in windows: as many prompts as it takes, each within its budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from recall_stages.core.candidate import Candidate
from recall_stages.core.errors import ReplyError, described
from recall_stages.core.recall import Recall
from recall_stages.llm.fencing import body, harmless, quoted
from recall_stages.text.tokens import Counter, cut, token_counter

T = TypeVar("T")

_LEAST = 16  # tokens of a memory that are shown, however small the budget is
_LONG_NUMBER = 999  # the number that a memory will have is not known yet; it is not longer


@dataclass(frozen=True, slots=True)
class Window:
    """The memories of one prompt.

    Attributes:
        memories: The memories, whole; the prompt numbers them from 1.
        text: How they stand in the prompt.
        first: How many memories lie in the windows before this one.
    """

    memories: tuple[Candidate, ...]
    text: str
    first: int


def windows(
    memories: Sequence[Candidate], *, budget: int, count: Counter | None, most: int | None = None
) -> list[Window]:
    """Split memories into windows, in order; none is left out.

    A memory that is longer than a window has one of its own, and is cut there, with a mark.

    Args:
        memories: The memories, best first.
        budget: How many tokens of memories a window holds.
        count: What counts the tokens. None = `token_counter`.
        most: How many memories a window holds; None = as many as fit.

    Examples:
        >>> memories = [Candidate(content=f"Tea at {hour}.") for hour in ("four", "five", "six")]
        >>> [len(each.memories) for each in windows(memories, budget=900, count=len, most=2)]
        [2, 1]
    """
    count = count or token_counter()
    held: list[list[tuple[Candidate, str]]] = []
    size = 0
    for memory in memories:
        # Around a full stop, not around nothing, where two ends of lines would count as one.
        room = max(budget - count(quoted(_LONG_NUMBER, memory, ".")), _LEAST)
        shown = cut(harmless(body(memory)), room, count)
        needed = count(quoted(_LONG_NUMBER, memory, shown)) + 1  # and the end of the line
        if not held or size + needed > budget or len(held[-1]) == most:
            held.append([])
            size = 0
        held[-1].append((memory, shown))
        size += needed
    return [
        Window(
            memories=tuple(memory for memory, _ in each),
            text="\n".join(quoted(n, memory, shown) for n, (memory, shown) in enumerate(each, 1)),
            first=sum(map(len, held[:place])),
        )
        for place, each in enumerate(held)
    ]


def read_replies(
    windows: Sequence[Window], replies: Sequence[str | Exception], read: Callable[[str, Window], T]
) -> list[T | Exception]:
    """What each reply says, or its error; a bad reply costs nothing but itself.

    Args:
        windows: The memories that were sent.
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
    """The recall, which names the first error where the replies to some windows are no use."""
    errors = failures(outcomes)
    if not errors:
        return recall
    why = f"{len(errors)} of {len(outcomes)} prompts failed: {described(errors[0])}"
    return recall.fell_back(stage, why)


def failures(outcomes: Sequence[object]) -> list[Exception]:
    """The errors among the outcomes."""
    return [each for each in outcomes if isinstance(each, Exception)]
