"""The one loop that drives a generator of requests, and what runs it without an event loop.

A generator decides what comes next, once; only here is anything waited for. An error arrives at
the ``yield``, so one ``except`` holds the fallback for both worlds. (After ``Auth.auth_flow`` of
httpx.)
"""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
)
from typing import TypeVar

Wanted = TypeVar("Wanted")
Answer = TypeVar("Answer")
Outcome = TypeVar("Outcome")


async def drive(
    flow: Generator[Wanted, Answer, Outcome], answer: Callable[[Wanted], Awaitable[Answer]]
) -> Outcome:
    """Answer each request of a generator in turn, and return its outcome.

    Examples:
        >>> def flow():
        ...     try:
        ...         yield 0
        ...     except ZeroDivisionError:
        ...         return (yield 4)
        >>> async def divide(wanted):
        ...     return 12 / wanted
        >>> completed(drive(flow(), divide))
        3.0
    """
    try:
        wanted = next(flow)
        while True:
            try:
                sent = await answer(wanted)
            except BaseException as error:  # noqa: BLE001 - the generator decides what it can mend
                wanted = flow.throw(error)
            else:
                wanted = flow.send(sent)
    except StopIteration as ended:
        outcome: Outcome = ended.value
        return outcome


def completed(coroutine: Coroutine[object, None, Outcome]) -> Outcome:
    """The result of a coroutine in which everything blocks and nothing waits: no loop is needed.

    Raises:
        RuntimeError: When the coroutine waits for an event loop.

    Examples:
        >>> async def add(one, two):
        ...     return one + two
        >>> completed(add(1, 2))
        3
    """
    try:
        coroutine.send(None)
    except StopIteration as ended:
        outcome: Outcome = ended.value
        return outcome
    coroutine.close()
    raise RuntimeError("this work needs an event loop; use the async method")


async def settled(value: Outcome | Awaitable[Outcome]) -> Outcome:
    """What a method returned in its sync form, or what it will return in its async form.

    Examples:
        >>> completed(settled(4))
        4
    """
    return await value if isinstance(value, Awaitable) else value


async def each_of(parts: Iterable[Outcome] | AsyncIterable[Outcome]) -> AsyncIterator[Outcome]:
    """The values of an iterator, sync or async."""
    if isinstance(parts, AsyncIterable):
        async for part in parts:
            yield part
    else:
        for part in parts:
            yield part
