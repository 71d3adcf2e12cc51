"""Work that shows parts of its text before it is done: the parts as they come, then the result."""

import asyncio
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")

Show = Callable[[str], None]  # takes the next part of a text


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The result of the work, and the text that was shown before it."""

    result: T
    shown: str

    def rest_of(self, text: str) -> str:
        """The text without the part that was already shown; another text is a new paragraph."""
        if text.startswith(self.shown):
            return text.removeprefix(self.shown)
        return f"\n\n{text}"


def streamed(work: Callable[[Show | None], T], *, shows: bool = True) -> Iterator[str | Done[T]]:
    """The parts that work shows, and its result last, or its error.

    It runs in a thread of its own; work that shows nothing stays in the thread of the caller.
    """
    if not shows:
        yield Done(work(None), "")
        return
    shown: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    ended: Future[T] = Future()

    def run() -> None:
        try:
            ended.set_result(work(shown.put))
        except BaseException as error:  # noqa: BLE001 - raised where the parts are read
            ended.set_exception(error)
        shown.put(None)

    Thread(target=copy_context().run, args=(run,), name="recall-stream", daemon=True).start()
    text = ""
    while (part := shown.get()) is not None:
        text += part
        yield part
    yield Done(ended.result(), text)


async def astreamed(work: Callable[[Show], Awaitable[T]]) -> AsyncIterator[str | Done[T]]:
    """The parts that work shows in an event loop. If nobody reads on, the work is cancelled."""
    shown: asyncio.Queue[str | None] = asyncio.Queue()

    async def run() -> T:
        try:
            return await work(shown.put_nowait)
        finally:
            shown.put_nowait(None)

    task = asyncio.ensure_future(run())
    text = ""
    try:
        while (part := await shown.get()) is not None:
            text += part
            yield part
        yield Done(await task, text)
    finally:
        task.cancel()
