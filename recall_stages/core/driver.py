"""Generators that ask for what they need, driven to their end: in threads, and as coroutines.

Whoever writes one decides what comes next, once; only here is anything waited for. An error arrives
at the ``yield``, so one ``except`` holds the fallback for both worlds. (After ``Auth.auth_flow`` of
httpx.)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

Wanted = TypeVar("Wanted")
Answer = TypeVar("Answer")
Outcome = TypeVar("Outcome")


def drive(
    asking: Generator[Wanted, Answer, Outcome], answer: Callable[[Wanted], Answer]
) -> Outcome:
    """Answer each request of a generator in turn; what it returns.

    Examples:
        >>> def asking():
        ...     try:
        ...         yield 0
        ...     except ZeroDivisionError:
        ...         return (yield 4)
        >>> drive(asking(), lambda wanted: 12 / wanted)
        3.0
    """
    try:
        wanted = next(asking)
        while True:
            try:
                found = answer(wanted)
            except Exception as error:  # noqa: BLE001 - whoever asks decides what it can mend
                wanted = asking.throw(error)
            else:
                wanted = asking.send(found)
    except StopIteration as ended:
        outcome: Outcome = ended.value
        return outcome


async def drive_async(
    asking: Generator[Wanted, Answer, Outcome], answer: Callable[[Wanted], Awaitable[Answer]]
) -> Outcome:
    """The same without blocking the event loop."""
    try:
        wanted = next(asking)
        while True:
            try:
                found = await answer(wanted)
            except Exception as error:  # noqa: BLE001 - whoever asks decides what it can mend
                wanted = asking.throw(error)
            else:
                wanted = asking.send(found)
    except StopIteration as ended:
        outcome: Outcome = ended.value
        return outcome
