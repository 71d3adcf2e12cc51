"""Work that shows parts of its text before it is done: the parts as they come, then the outcome."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")

Show = Callable[[str], None]
"""Takes the next part of a text."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The outcome of the work: its result, or its error."""

    result: T | None = None
    error: BaseException | None = None

    def value(self) -> T:
        """The result.

        Raises:
            BaseException: The error, if the work ended with one.
        """
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # None only if that is the result


def streamed(work: Callable[[Show], T]) -> Iterator[str | Done[T]]:
    """The parts that work shows, and its outcome last. It runs in a thread of its own.

    Examples:
        >>> *parts, done = streamed(lambda show: show("Tea.") or 4)
        >>> parts, done.value()
        (['Tea.'], 4)
    """
    shown: queue.SimpleQueue[str | Done[T]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome = Done(work(shown.put))
        except BaseException as error:  # noqa: BLE001 - raised where the parts are read
            outcome = Done(error=error)
        shown.put(outcome)

    Thread(target=copy_context().run, args=(run,), name="recall-stream", daemon=True).start()
    while True:
        part = shown.get()
        yield part
        if isinstance(part, Done):
            return


async def astreamed(work: Callable[[Show], Awaitable[T]]) -> AsyncIterator[str | Done[T]]:
    """The same in an event loop. If nobody reads on, the work is cancelled."""
    shown: asyncio.Queue[str | Done[T]] = asyncio.Queue()

    async def run() -> None:
        try:
            outcome = Done(await work(shown.put_nowait))
        except Exception as error:  # noqa: BLE001 - raised where the parts are read
            outcome = Done(error=error)
        shown.put_nowait(outcome)

    task = asyncio.ensure_future(run())
    try:
        while True:
            part = await shown.get()
            yield part
            if isinstance(part, Done):
                return
    finally:
        task.cancel()


def rest_of(text: str, shown: str) -> str:
    r"""What is left of a text of which a part was shown; all of it if it is another text.

    Examples:
        >>> rest_of("Tea. Jam.", "Tea."), rest_of("Memory 1 :", "Tea."), rest_of("Tea.", "")
        (' Jam.', '\n\nMemory 1 :', 'Tea.')
    """
    return text.removeprefix(shown) if text.startswith(shown) else f"\n\n{text}"
