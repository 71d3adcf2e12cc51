"""The twins of methods for `await`: the same parameters, in a thread; the event loop goes on.

A twin calls the method by its name: a class that overrides the method has changed both.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

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
