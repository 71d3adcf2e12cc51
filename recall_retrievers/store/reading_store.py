"""Reading the memories of a store: by questions, by ids, and by conditions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from recall_retrievers.core.awaited import awaited, awaited_each
from recall_retrievers.core.candidate import Hit
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Filter, check_length
from recall_retrievers.core.scope import ScopeInput
from recall_retrievers.core.settings import check_count
from recall_retrievers.core.stage import Search
from recall_retrievers.core.tracing import Operation, memory_operation
from recall_retrievers.store.bound_store import BoundStore
from recall_retrievers.store.chroma.prepare import distinct_ids
from recall_retrievers.store.chroma.search_text import by_words
from recall_retrievers.store.chroma.where import filter_where
from recall_retrievers.store.conditions import Conditions, Order, Position, RangeInput, TypeInput

_MOST_LISTED = 1_000_000_000


class ReadingStore(BoundStore):
    """A store that finds, lists and counts memories; in a scope, only those of that scope."""

    def get(
        self, ids: Sequence[str], *, scope: ScopeInput = None, filter: Filter | None = None
    ) -> list[Memory]:
        """The memories with these ids, in the order of the ids; unknown ids are ignored.

        Args:
            ids: The ids.
            scope: Return only memories in this scope.
            filter: Return only memories that fulfil these conditions on metadata.

        Raises:
            FilterError: When the filter cannot match anything.
            ScopeError: When the scope lacks a field of ``require_scope``.
        """
        owner = self._owner(scope)
        wanted = distinct_ids(ids)
        search = Conditions.of(owner, filter=filter).search()
        live = self._opened.found()
        memories = {} if live is None else live.index.read(wanted, live.index.filter_where(search))
        now = self._clock()
        present = (memories[row_id] for row_id in wanted if row_id in memories)
        mine = [each for each in present if owner.holds(each.scope) and not each.expired(now)]
        return [memory.memory() for memory in mine]

    aget = awaited(get)
    """The memories with these ids, without blocking the event loop; see `get`."""

    def find(self, searches: Sequence[Search]) -> list[Sequence[Hit]]:
        """The memories that answer each search, the best first.

        A semantic search scores by the cosine between question and memory, 0 to 1, negative ones
        counting 0. A keyword search scores by BM25, 0 and up.

        Raises:
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
            QueryError: When a text is too long.
            ScopeError: When the scope of a search lacks a field of ``require_scope``.
            MissingCollectionError: When the collection does not exist, and others do; see
                ``create``.
        """
        searches = self._narrowed(searches)
        live = self._opened.to_search()
        if live is None:
            return _nothing(searches)
        with memory_operation("search_memory", self.name) as operation:
            embed = self._opened.embedding.embed_query
            questions = {text: embed(text) for text in _texts(searches)}
            found = live.answers(searches, questions)
            _note(operation, searches, found)
        return found

    async def afind(self, searches: Sequence[Search]) -> list[Sequence[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        searches = self._narrowed(searches)
        live = self._opened.live or await asyncio.to_thread(self._opened.to_search)
        if live is None:
            return _nothing(searches)
        with memory_operation("search_memory", self.name) as operation:
            embed, texts = self._opened.embedding.aembed_query, _texts(searches)
            embedded = await asyncio.gather(*map(embed, texts))
            questions = dict(zip(texts, embedded, strict=True))
            found = await asyncio.to_thread(live.answers, searches, questions)
            _note(operation, searches, found)
        return found

    def find_among(self, search: Search, ids: Sequence[str]) -> Sequence[Hit]:
        """The memories with these ids that answer a search, the best first.

        Only they are compared, so it takes no longer in a large collection. A search by words
        counts the words of these memories alone.

        Raises:
            TypeError: When the ids are not a list of texts.
            StoreError: As `find` does.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     [tea, *_] = store.add(["Ann likes tea.", "Bob drinks tea with milk."])
            ...     found = store.find_among(Search("Who drinks tea with milk?", limit=2), [tea])
            ...     [hit.memory.content for hit in found]
            ['Ann likes tea.']
        """
        [search], wanted = self._narrowed([search]), distinct_ids(ids)
        live = self._opened.to_search()
        if live is None:
            return _nothing([search])[0]
        with memory_operation("search_memory", self.name) as operation:
            vector = self._opened.embedding.embed_query(search.text).vectors[0]
            live.identity.check_dimension(vector)
            found = live.index.among(vector, search, wanted)
            if search.method == "keyword":
                found = by_words(search.text, found)
            _note(operation, [search], [found[: search.limit]])
        return found[: search.limit]

    afind_among = awaited(find_among)
    """Search as `find_among` does, without blocking the event loop."""

    def _narrowed(self, searches: Sequence[Search]) -> Sequence[Search]:
        """The searches at a moment and in this store's scope, checked for what it must name."""
        for search in searches:
            check_length(search.text)
        owners, now = [self._owner(search.scope) for search in searches], self._clock()
        return [
            (search if owner == search.scope else replace(search, scope=owner)).at(now)
            for search, owner in zip(searches, owners, strict=True)
        ]

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
        """The memories that fulfil all conditions, by recorded time. Rows without text are skipped.

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
            limit: How many at most. None = all.
            after: The memory, or its `Position`, after which the list begins.

        Raises:
            FilterError: When the filter cannot match anything.
            ScopeError: When the scope lacks a field of ``require_scope``.

        Examples:
            >>> from recall_retrievers import RecallStore
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
        conditions = Conditions.of(owner, time_range, filter, memory_type, self._clock())
        _check_listing(order, limit)
        ordered = replace(conditions, newest=order == "newest", after=_place(after), limit=limit)
        live = self._opened.found()
        if live is None:
            return iter(())
        return (memory.memory() for memory in live.listed(ordered))

    amemories = awaited_each(memories)
    """The memories that fulfil all conditions, for ``async for``; see `memories`."""

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
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Ann likes tea.", "user_id": "ann"}
            ...     ids = store.add([tea, {"content": "Bob likes rum.", "user_id": "bob"}])
            ...     store.count(), store.count(scope={"user_id": "ann"})
            (2, 1)
        """
        owner = self._owner(scope)
        conditions = Conditions.of(owner, time_range, filter, memory_type, self._clock())
        live = self._opened.found()
        if live is None:
            return 0
        with live.listing() as listing:
            return listing.count(conditions)

    acount = awaited(count)
    """How many memories fulfil all conditions, without blocking the event loop; see `count`."""


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
    if limit is not None:
        check_count("limit", limit, _MOST_LISTED)


def _texts(searches: Sequence[Search]) -> list[str]:
    """The texts to embed, each of them once."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))


def _note(operation: Operation, searches: Sequence[Search], found: Sequence[Sequence[Hit]]) -> None:
    if operation.seen:
        operation.asked("\n".join(dict.fromkeys(each.text for each in searches)))
        operation.records(hit.memory for hits in found for hit in hits)


def _nothing(searches: Sequence[Search]) -> list[Sequence[Hit]]:
    """The answers of a collection that does not exist yet; a wrong filter is wrong there, too."""
    for search in searches:
        filter_where(search.filter, timezone=search.timezone)
    return [[] for _ in searches]
