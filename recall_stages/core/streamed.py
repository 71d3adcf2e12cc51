"""Work that shows parts of its text before it is done: the parts as they come, then the outcome."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass, replace
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")

Show = Callable[[str], None]
"""Takes the next part of a text."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The outcome of the work: its result or its error, and the parts that were shown before."""

    result: T | None = None
    error: BaseException | None = None
    shown: str = ""

    def value(self) -> T:
        """The result.

        Raises:
            BaseException: The error, if the work ended with one.
        """
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # None only if that is the result

    def rest_of(self, text: str) -> str:
        r"""The text without the part that was already shown.

        A text that starts otherwise follows as a new paragraph.

        Examples:
            >>> Done(shown="Tea.").rest_of("Tea. Jam."), Done(shown="Tea.").rest_of("Memory 1 :")
            (' Jam.', '\n\nMemory 1 :')
        """
        if text.startswith(self.shown):
            return text.removeprefix(self.shown)
        return f"\n\n{text}"


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
    text = ""
    while isinstance(part := shown.get(), str):
        text += part
        yield part
    yield replace(part, shown=text)


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
    text = ""
    try:
        while isinstance(part := await shown.get(), str):
            text += part
            yield part
        yield replace(part, shown=text)
    finally:
        task.cancel()
