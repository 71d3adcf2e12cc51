"""Several calls at once, each with an outcome of its own: what it returned, or why it failed.

One call that fails, or never ends, costs nothing but itself. The sync calls run in threads that do
not keep the process alive, since a call that hangs cannot be stopped, only left behind; the async
ones are cancelled, and are over before this returns.
"""

from __future__ import annotations

import asyncio
import queue
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import copy_context
from threading import Thread
from time import monotonic
from typing import TypeVar

MOST_AT_ONCE = 8
"""How many calls run at the same time; the others wait for their turn."""

T = TypeVar("T")
R = TypeVar("R")


def at_once(
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
        >>> at_once(lambda number: 6 / number, [3, 0])
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

    for _ in range(min(MOST_AT_ONCE, len(items))):
        Thread(target=copy_context().run, args=(work,), daemon=True).start()
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
        pass  # what has not ended is already marked as too late
    finally:
        waiting.clear()  # a thread that is left behind begins nothing new
    return outcomes


async def at_once_async(
    call: Callable[[T], Awaitable[R]], items: Sequence[T], timeout_s: float | None = None
) -> list[R | Exception]:
    """The same for coroutines; when this is cancelled, they are, and none is left behind.

    Examples:
        >>> async def divide(number: int) -> float:
        ...     return 6 / number
        >>> asyncio.run(at_once_async(divide, [3, 0]))
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


def _outcome(call: Callable[[T], R], item: T) -> R | Exception:
    try:
        return call(item)
    except Exception as error:  # noqa: BLE001 - it is handed back
        return error


def _too_late(timeout_s: float | None) -> TimeoutError:
    return TimeoutError(f"no answer within {timeout_s:g} s" if timeout_s else "no answer")
