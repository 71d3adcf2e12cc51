"""The twins of methods for `await`: the same parameters, in a thread; the event loop goes on.

A twin calls the method by its name: a class that overrides the method has changed both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

Self = TypeVar("Self")
Given = ParamSpec("Given")
Result = TypeVar("Result")

_READ = 250  # values that are read in one go


def awaited(
    method: Callable[Concatenate[Self, Given], Result],
) -> Callable[Concatenate[Self, Given], Coroutine[Any, Any, Result]]:
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
    async def twin(self: Self, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        own: Callable[Given, Result] = getattr(self, method.__name__)
        return await asyncio.to_thread(own, *args, **kwargs)

    return twin


def awaited_each(
    method: Callable[Concatenate[Self, Given], Iterator[Result]],
) -> Callable[Concatenate[Self, Given], AsyncIterator[Result]]:
    """The twin of a method that returns an iterator, for `async for`."""

    @wraps(method)
    async def twin(
        self: Self, /, *args: Given.args, **kwargs: Given.kwargs
    ) -> AsyncIterator[Result]:
        own: Callable[Given, Iterator[Result]] = getattr(self, method.__name__)
        found = await asyncio.to_thread(own, *args, **kwargs)
        while page := await asyncio.to_thread(lambda: list(islice(found, _READ))):
            for each in page:
                yield each

    return twin
