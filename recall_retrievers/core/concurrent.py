"""Several calls at once, each with an outcome of its own: its result, or its error.

The async calls are cancelled, and are over before this returns. A thread cannot be stopped: one
that hangs is left behind, and a log line says how many there are in this process. So the threads
are daemons: Python waits at the end for those of a ThreadPoolExecutor.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import wraps
from itertools import islice
from threading import Thread
from typing import Any, Concatenate, ParamSpec, TypeVar

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 8  # how many calls run at the same time; the others wait for their turn
_LEFT_BEHIND = "recall-left-behind"  # the name of threads whose call has not ended in time

T = TypeVar("T")
R = TypeVar("R")


def call_all(
    call: Callable[[T], R], items: Sequence[T], timeout_s: float | None = None
) -> list[R | Exception]:
    """Call a function on every item, in threads; the context variables of the caller are seen.

    A single item without a timeout is called in the caller's own thread. What has not ended after
    the timeout counts as a `TimeoutError`.
    """
    futures = [Future[R]() for _ in items]
    begun = iter([*zip(futures, items, strict=True)])

    def work() -> None:
        for future, item in begun:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call(item))
                except BaseException as error:  # noqa: BLE001 - it is raised, or handed back, below
                    future.set_exception(error)

    if len(items) == 1 and timeout_s is None:
        work()
        return [_outcome(futures[0])]
    threads = [
        Thread(target=copy_context().run, args=(work,), daemon=True)
        for _ in range(min(MOST_AT_ONCE, len(items)))
    ]
    for thread in threads:
        thread.start()
    try:
        ended, late = wait(futures, timeout_s)
    finally:
        for future in futures:
            future.cancel()  # a thread that is left behind begins nothing new
    if late:
        for thread in threads:
            thread.name = _LEFT_BEHIND
        hanging = sum(thread.name == _LEFT_BEHIND for thread in threading.enumerate())
        logger.warning("a call has not ended in time; %d of this process still hang", hanging)
    return [_outcome(call) if call in ended else _too_late(timeout_s) for call in futures]


async def call_all_async(
    call: Callable[[T], Awaitable[R]], items: Sequence[T], timeout_s: float | None = None
) -> list[R | Exception]:
    """Call an async function on every item; when this is cancelled, no call is left behind."""
    places = asyncio.Semaphore(MOST_AT_ONCE)

    async def outcome(item: T) -> R:
        async with places:
            return await call(item)

    tasks = [asyncio.create_task(outcome(item)) for item in items]
    try:
        ended, _ = await asyncio.wait(tasks, timeout=timeout_s)
        return [
            _outcome(task) if task in ended and not task.cancelled() else _too_late(timeout_s)
            for task in tasks
        ]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _outcome(ended: Future[Any] | asyncio.Task[Any]) -> Any:
    error = ended.exception()
    # An exit or an interrupt is not the outcome of a call: `result` raises it.
    return error if isinstance(error, Exception) else ended.result()


def _too_late(timeout_s: float | None) -> TimeoutError:
    return TimeoutError(f"no answer within {timeout_s:g} s" if timeout_s else "no answer")


Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")

_READ = 250  # values that are read in one go


def awaited(
    method: Callable[Concatenate[Owner, Arguments], R],
) -> Callable[Concatenate[Owner, Arguments], Coroutine[Any, Any, R]]:
    """The twin of a method, for `await`; it calls the method by name, as a subclass has it."""

    @wraps(method)
    async def twin(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> R:
        own: Callable[Arguments, R] = getattr(self, method.__name__)
        return await asyncio.to_thread(own, *args, **kwargs)

    return twin


def awaited_each(
    method: Callable[Concatenate[Owner, Arguments], Iterator[R]],
) -> Callable[Concatenate[Owner, Arguments], AsyncIterator[R]]:
    """The twin of a method that returns an iterator, for `async for`."""

    @wraps(method)
    async def twin(
        self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> AsyncIterator[R]:
        own: Callable[Arguments, Iterator[R]] = getattr(self, method.__name__)
        found = await asyncio.to_thread(own, *args, **kwargs)
        while page := await asyncio.to_thread(lambda: list(islice(found, _READ))):
            for value in page:
                yield value

    return twin
