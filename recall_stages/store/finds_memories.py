"""Finding memories in a store: by questions, and by ids."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from recall_stages.core.candidate import Hit
from recall_stages.core.memory import Memory
from recall_stages.core.scope import ScopeInput
from recall_stages.core.stage import Search
from recall_stages.core.tracing import Operation, memory_operation
from recall_stages.store.bound_store import BoundStore
from recall_stages.store.chroma.prepare import distinct_ids
from recall_stages.store.chroma.where import filter_where


class FindsMemories(BoundStore):
    """A store that finds memories; in a scope, only those of that scope."""

    def get(self, ids: Sequence[str], *, scope: ScopeInput = None) -> list[Memory]:
        """The memories with these ids, in the order of the ids; unknown ids are ignored.

        Args:
            ids: The ids.
            scope: Return only memories in this scope.

        Raises:
            ScopeError: When the scope lacks a field of ``require_scope``.
        """
        owner = self._owner(scope)
        wanted = distinct_ids(ids)
        live = self._opened.found()
        memories = {} if live is None else live.index.read(wanted, None)
        now = self._now()
        present = (memories[row_id] for row_id in wanted if row_id in memories)
        mine = [each for each in present if owner.holds(each.scope) and not each.expired(now)]
        return [memory.memory() for memory in mine]

    async def aget(self, ids: Sequence[str], *, scope: ScopeInput = None) -> list[Memory]:
        """The memories with these ids, without blocking the event loop; see `get`."""
        return await asyncio.to_thread(self.get, ids, scope=scope)

    def find(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """The memories that answer each search, the best first.

        A semantic search scores by the cosine between question and memory, 0 to 1, negative ones
        counting 0. A keyword search scores by BM25, 0 and up.

        Raises:
            StoreClosedError: When the store is closed.
            FilterError: When a filter cannot match anything.
            ScopeError: When the scope of a search lacks a field of ``require_scope``.
            MissingCollectionError: When the collection does not exist, and others do; see
                ``create``.
        """
        searches = self._narrowed(searches)
        live = self._opened.to_search()
        if live is None:
            return _nothing(searches)
        with memory_operation("search_memory", self.name) as operation:
            questions = {text: self._embedding.embed_query(text) for text in _texts(searches)}
            found = live.answers(searches, questions)
            _note(operation, searches, found)
        return found

    async def afind(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Search as `find` does, without blocking the event loop."""
        searches = self._narrowed(searches)
        live = self._opened.live or await asyncio.to_thread(self._opened.to_search)
        if live is None:
            return _nothing(searches)
        with memory_operation("search_memory", self.name) as operation:
            texts = _texts(searches)
            embedded = await asyncio.gather(*(self._embedding.aembed_query(text) for text in texts))
            questions = dict(zip(texts, embedded, strict=True))
            found = await asyncio.to_thread(live.answers, searches, questions)
            _note(operation, searches, found)
        return found

    def _narrowed(self, searches: Sequence[Search]) -> Sequence[Search]:
        """The searches at a moment and in this store's scope, checked for what it must name."""
        owners, now = [self._owner(search.scope) for search in searches], self._now()
        return [
            (search if owner == search.scope else replace(search, scope=owner)).at(now)
            for search, owner in zip(searches, owners, strict=True)
        ]


def _texts(searches: Sequence[Search]) -> list[str]:
    """The texts to embed, each of them once."""
    return list(dict.fromkeys(each.text for each in searches if each.method == "semantic"))


def _note(operation: Operation, searches: Sequence[Search], found: Sequence[Sequence[Hit]]) -> None:
    operation.asked("\n".join(dict.fromkeys(each.text for each in searches)))
    operation.records(hit.memory for hits in found for hit in hits)


def _nothing(searches: Sequence[Search]) -> list[list[Hit]]:
    """The answers of a collection that does not exist yet; a wrong filter is wrong there, too."""
    for search in searches:
        filter_where(search.filter, timezone=search.timezone)
    return [[] for _ in searches]
