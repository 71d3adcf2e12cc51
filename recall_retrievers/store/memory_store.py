"""Stores as settings, and a store of any kind limited to one scope."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import IdLookupError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.requests import Listing, Search, Sessions, Spans
from recall_retrievers.core.scope import Scope, ScopeName
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.world import MemoryStore
from recall_retrievers.store.chroma.rows import filled_in, id_is_taken
from recall_retrievers.store.recall_store import RecallStore
from recall_retrievers.store.store import ScopedStore, Store


def open_store(store: object) -> object:
    if isinstance(store, MemoryStore) and not isinstance(store, type):
        return store
    if isinstance(store, str | Path):
        hint = f"Open it: RecallStore({str(store)!r})"
    elif hasattr(store, "get_or_create_collection"):  # a client of Chroma's
        hint = "Open it: RecallStore(client, 'the name of the collection')"
    elif hasattr(store, "upsert") and hasattr(store, "query"):
        hint = "Open it: RecallStore(collection)"
    else:
        hint = "Pass RecallStore(...), or AnyStore(source=...) for another store"
    raise ValueError(f"must be an open store; got {got(store)}. {hint}")


OpenStore = Annotated[MemoryStore, BeforeValidator(open_store)]
"""A store as a setting; anything else is refused with a hint."""


def within(store: object, scope: Scope) -> RecallStore | ScopedStore:
    if not isinstance(store, RecallStore | ScopedStore):
        raise TypeError(f"store must be an open RecallStore; got {got(store)}")
    return store.for_scope(**scope.fields()) if scope.fields() else store


@dataclass(frozen=True, slots=True)
class NarrowedStore:
    """A store limited to one scope: all memories that it returns and stores are in the scope.

    A store of ours is called itself, not a view of it: a subclass may do more in its methods.
    """

    store: MemoryStore
    scope: Scope
    required: tuple[ScopeName, ...] = ()  # what the scope of a memory must name
    unnamed: Callable[[], None] | None = None  # called where they are of several users

    def find(self, searches: Sequence[Search]) -> Sequence[Sequence[Hit]]:
        found = self.store.find(self._narrowed(searches))
        self._check_users(found)
        return found

    async def afind(self, searches: Sequence[Search]) -> Sequence[Sequence[Hit]]:
        found = await self.store.afind(self._narrowed(searches))
        if self.unnamed is not None:
            await asyncio.to_thread(self._check_users, found)
        return found

    def get(self, ids: Sequence[str]) -> list[Memory]:
        stored = self._stored(ids, self.scope)
        return [memory for memory in stored if self.scope.holds(memory.scope)]

    def add(self, memories: Iterable[Memory]) -> list[str]:
        """Store memories in the scope; all of them, or none."""
        mine = [filled_in(memory, self.scope) for memory in memories]
        for memory in mine:
            memory.scope.require(self.required)
        known = [memory for memory in mine if memory.id and self.scope.fields()]
        with suppress(IdLookupError):  # the store itself says whether it can be written
            for owner in {memory.scope for memory in known}:
                ids = [memory.id for memory in known if memory.scope == owner]
                for stored in self._stored(ids, owner):
                    if not self.scope.holds(stored.scope):
                        raise id_is_taken(stored.id, self.scope)
        return self.store.add(mine)

    def listed(self, listing: Listing | Sessions) -> Sequence[Candidate] | Spans:
        if not isinstance(self.store, Store):
            name = type(self.store).__name__
            raise StoreError(f"{name} cannot list memories; ask a question, or use a RecallStore")
        found = self.store.listed(replace(listing, scope=self.scope.narrow(listing.scope)))
        self._check_users()
        return found

    def _check_users(self, found: Sequence[Sequence[Hit]] = ()) -> None:
        if self.unnamed is None:
            return
        if isinstance(self.store, Store):  # which makes no memories of its rows for that
            several = self.store.several_users(self.scope)
        else:
            users = {hit.memory.scope.user_id for hits in found for hit in hits} - {None}
            several = len(users) > 1
        if several:
            self.unnamed()

    def _narrowed(self, searches: Sequence[Search]) -> list[Search]:
        own = self.scope
        return [x if own == x.scope else replace(x, scope=own.narrow(x.scope)) for x in searches]

    def _stored(self, ids: Sequence[str], owner: Scope) -> list[Memory]:
        """The memories with these ids, of the owner as far as the store requires one."""
        if not isinstance(self.store, Store):
            return self.store.get(ids)
        fields, required = owner.fields(), self.store.require_scope
        named: dict[str, str] = {name: fields[name] for name in required if name in fields}
        return self.store.get(ids, scope=named)
