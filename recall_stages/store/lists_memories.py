"""Listing and counting the memories of a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import get_args

from recall_stages.core.memory import Memory
from recall_stages.core.query import Filter
from recall_stages.core.scope import ScopeInput
from recall_stages.store.bound_store import BoundStore
from recall_stages.store.conditions import Conditions, RangeInput, TypeInput
from recall_stages.store.position import READ, Order, Position, Walk


class ListsMemories(BoundStore):
    """A store that lists memories; in a scope, only those of that scope."""

    def memories(  # noqa: PLR0913 - conditions, each by name
        self,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        order: Order = "newest",
        limit: int | None = None,
        after: Memory | Position | None = None,
    ) -> Iterator[Memory]:
        """The memories that fulfil all conditions, by recorded time; rows without a text are none.

        To read page by page, pass a ``limit``, and the last memory of a page as ``after``. Memories
        that are added or deleted in between change nothing about the others.

        Args:
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it: a `TimeRange`, or (start, end) with
                None for an open end.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.
            order: "newest" or "oldest" first. Memories of one moment are ordered by id. One without
                a time counts as older than all others.
            limit: How many at most.
            after: The memory, or its `Position`, after which the list begins.

        Raises:
            FilterError: When the filter cannot match anything.
            ScopeError: When the scope lacks a field of ``require_scope``.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     ids = store.add([
            ...         {"content": "Tea with Anna.", "created_at": "2024-03-05"},
            ...         {"content": "The dentist called.", "created_at": "2024-03-12"},
            ...         {"content": "Anna moved.", "created_at": "2024-04-02"},
            ...     ])
            ...     for memory in store.memories(time_range=("2024-03-01", None), limit=2):
            ...         print(memory.content)
            Anna moved.
            The dentist called.
        """
        owner = self._owner(scope)
        conditions = Conditions.of(owner, time_range, filter, memory_type, self._now())
        _check_listing(order, limit)
        walk = Walk(order == "newest", _place(after), READ if limit is None else min(limit, READ))
        live = self._opened.found()
        if live is None:
            return iter(())
        found = live.listed(conditions, walk, limit)
        return (memory.memory() for memory in found)

    async def amemories(  # noqa: PLR0913 - as above
        self,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        order: Order = "newest",
        limit: int | None = None,
        after: Memory | Position | None = None,
    ) -> AsyncIterator[Memory]:
        """The memories that fulfil all conditions, for ``async for``; see `memories`."""
        found = await asyncio.to_thread(
            self.memories,
            scope=scope,
            time_range=time_range,
            filter=filter,
            memory_type=memory_type,
            order=order,
            limit=limit,
            after=after,
        )
        while page := await asyncio.to_thread(lambda: list(islice(found, READ))):
            for memory in page:
                yield memory

    def count(
        self,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
    ) -> int:
        """How many memories fulfil all conditions; without any, how many there are.

        Args:
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it; see `memories`.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.

        Raises:
            FilterError: When the filter cannot match anything.
            ScopeError: When the scope lacks a field of ``require_scope``.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Ann likes tea.", "user_id": "ann"}
            ...     ids = store.add([tea, {"content": "Bob likes rum.", "user_id": "bob"}])
            ...     store.count(), store.count(scope={"user_id": "ann"})
            (2, 1)
        """
        owner = self._owner(scope)
        conditions = Conditions.of(owner, time_range, filter, memory_type, self._now())
        live = self._opened.found()
        if live is None:
            return 0
        with live.listing() as listing:
            return listing.count(conditions)

    async def acount(
        self,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
    ) -> int:
        """How many memories fulfil all conditions, without blocking the event loop."""
        return await asyncio.to_thread(
            self.count,
            scope=scope,
            time_range=time_range,
            filter=filter,
            memory_type=memory_type,
        )


def _place(after: Memory | Position | None) -> tuple[int, str] | None:
    if after is None:
        return None
    if isinstance(after, Position):
        return after.key
    if not isinstance(after, Memory):
        raise TypeError(
            "after takes the last memory of the page before, or Position(timestamp, id); got "
            f"{type(after).__name__}"
        )
    return Position.of(after).key


def _check_listing(order: str, limit: int | None) -> None:
    if order not in get_args(Order):
        raise ValueError(f"order must be 'newest' or 'oldest'; got {order!r}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise ValueError(f"limit must be a whole number from 1 on, or None; got {limit!r}")
