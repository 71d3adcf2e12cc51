"""Several calls at once, each with an outcome of its own: its result, or its error.

A call that fails or never ends costs nothing but itself. The async calls are cancelled, and are
over before this returns. A thread cannot be stopped: one that hangs is left behind, and a log line
says how many there are in this process. The threads are daemons, and not those of a
ThreadPoolExecutor: Python waits for its threads at the end (measured: a call that hung for 6 s kept
the process alive for 6 s).
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextvars import copy_context
from functools import wraps
from itertools import islice
from threading import Thread
from time import monotonic
from typing import Any, Concatenate, ParamSpec, TypeVar

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 8
"""How many calls run at the same time; the others wait for their turn."""

_LEFT_BEHIND = "recall-left-behind"
"""The name of a thread whose call has not ended in time; by it they are counted."""

T = TypeVar("T")
R = TypeVar("R")


def call_all(
    call: Callable[[T], R], items: Sequence[T], timeout_s: float | None = None
) -> list[R | Exception]:
    """Call a function on every item, in threads; the context variables of the caller are seen.

    Args:
        call: What to call. A single item without a timeout is called in the caller's own thread.
        items: What to call it on.
        timeout_s: Seconds after which those that have not ended count as a `TimeoutError`.

    Returns:
        For each item, in order, what the call returned or the exception it raised.

    Examples:
        >>> call_all(lambda number: 6 / number, [3, 0])
        [2.0, ZeroDivisionError('division by zero')]
    """
    if len(items) == 1 and timeout_s is None:
        return [_outcome(call, items[0])]
    waiting = deque(enumerate(items))
    ended: queue.SimpleQueue[tuple[int, R | BaseException]] = queue.SimpleQueue()

    def work() -> None:
        while True:
            try:
                place, item = waiting.popleft()
            except IndexError:  # nothing is left to begin
                return
            try:
                ended.put((place, call(item)))
            except BaseException as error:  # noqa: BLE001 - it is raised, or handed back, below
                ended.put((place, error))

    threads = [
        Thread(target=copy_context().run, args=(work,), daemon=True)
        for _ in range(min(MOST_AT_ONCE, len(items)))
    ]
    for thread in threads:
        thread.start()
    outcomes: list[R | Exception] = [_too_late(timeout_s)] * len(items)
    limit = None if timeout_s is None else monotonic() + timeout_s
    try:
        for _ in items:
            left = None if limit is None else max(limit - monotonic(), 0)
            place, outcome = ended.get(timeout=left)
            if isinstance(outcome, BaseException) and not isinstance(outcome, Exception):
                raise outcome  # an exit or an interrupt is not the outcome of a call
            outcomes[place] = outcome
    except queue.Empty:
        _leave_behind(threads)  # what has not ended is already marked as too late
    finally:
        waiting.clear()  # a thread that is left behind begins nothing new
    return outcomes


async def call_all_async(
    call: Callable[[T], Awaitable[R]], items: Sequence[T], timeout_s: float | None = None
) -> list[R | Exception]:
    """The same for coroutines; when this is cancelled, they are, and none is left behind.

    Examples:
        >>> async def divide(number: int) -> float:
        ...     return 6 / number
        >>> asyncio.run(call_all_async(divide, [3, 0]))
        [2.0, ZeroDivisionError('division by zero')]
    """
    places = asyncio.Semaphore(MOST_AT_ONCE)

    async def outcome(item: T) -> R | Exception:
        async with places:
            try:
                return await call(item)
            except Exception as error:  # noqa: BLE001 - it is handed back
                return error

    tasks = [asyncio.create_task(outcome(item)) for item in items]
    try:
        await asyncio.wait(tasks, timeout=timeout_s)
        return [
            task.result() if task.done() and not task.cancelled() else _too_late(timeout_s)
            for task in tasks
        ]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _leave_behind(threads: Sequence[Thread]) -> None:
    for thread in threads:
        thread.name = _LEFT_BEHIND
    hanging = sum(thread.name == _LEFT_BEHIND for thread in threading.enumerate())
    logger.warning("a call has not ended in time; %d of this process still hang", hanging)


def _outcome(call: Callable[[T], R], item: T) -> R | Exception:
    try:
        return call(item)
    except Exception as error:  # noqa: BLE001 - it is handed back
        return error


def _too_late(timeout_s: float | None) -> TimeoutError:
    return TimeoutError(f"no answer within {timeout_s:g} s" if timeout_s else "no answer")


Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_READ = 250  # values that are read in one go


def awaited(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Coroutine[Any, Any, Result]]:
    """The twin of a method, for `await`.

    Examples:
        >>> class Shelf:
        ...     def count(self, *, of: str = "all") -> int:
        ...         return 3
        ...
        ...     acount = awaited(count)
        >>> asyncio.run(Shelf().acount(of="tea"))
        3
    """

    @wraps(method)
    async def twin(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        own: Callable[Arguments, Result] = getattr(self, method.__name__)
        return await asyncio.to_thread(own, *args, **kwargs)

    return twin


def awaited_each(
    method: Callable[Concatenate[Owner, Arguments], Iterator[Result]],
) -> Callable[Concatenate[Owner, Arguments], AsyncIterator[Result]]:
    """The twin of a method that returns an iterator, for `async for`."""

    @wraps(method)
    async def twin(
        self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> AsyncIterator[Result]:
        own: Callable[Arguments, Iterator[Result]] = getattr(self, method.__name__)
        found = await asyncio.to_thread(own, *args, **kwargs)
        while page := await asyncio.to_thread(lambda: list(islice(found, _READ))):
            for each in page:
                yield each

    return twin
