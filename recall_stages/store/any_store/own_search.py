"""A search that is a function of the user."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TypeVar

from recall_stages.core.errors import StoreError
from recall_stages.core.stage import Search

Found = TypeVar("Found")


async def called(
    function: Callable[[Search], Found | Awaitable[Found]], search: Search, *, asynchronous: bool
) -> Found:
    """What a function finds. In an event loop, a plain function is called in a thread.

    Raises:
        StoreError: When it is async, and the call blocks: it cannot wait for it.
    """
    if asynchronous:
        found = await asyncio.to_thread(function, search)
        return await found if inspect.isawaitable(found) else found
    found = function(search)
    if not inspect.isawaitable(found):
        return found
    if inspect.iscoroutine(found):
        found.close()
    raise StoreError(
        "keyword is an async function; ask with the async method, or make it a plain one"
    )
