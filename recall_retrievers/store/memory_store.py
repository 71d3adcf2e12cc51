"""Stores as settings, and a store of any kind limited to one scope."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.errors import IdLookupError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.pool import Arm
from recall_retrievers.core.requests import Listing, Search, Sessions, Spans
from recall_retrievers.core.scope import Scope, ScopeName
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.world import MemoryStore
from recall_retrievers.store.chroma.fields import event_bounds
from recall_retrievers.store.chroma.rows import filled_in, id_is_taken
from recall_retrievers.store.chroma.where import joined
from recall_retrievers.store.conditions import place_of
from recall_retrievers.store.recall_store import RecallStore
from recall_retrievers.store.store import ScopedStore, Store


def open_store(store: object) -> object:
    """Check that an object is an open store."""
    if isinstance(store, MemoryStore) and not isinstance(store, type):
        return store
    problem = f"must be an open store; got {got(store)}"
    if isinstance(store, str | Path):
        raise ValueError(  # noqa: TRY004 - pydantic gathers it among its errors
            f"{problem}. Open it: RecallStore({str(store)!r})"
        )
    if hasattr(store, "get_or_create_collection"):  # a client of Chroma's
        raise ValueError(f"{problem}. Open it: RecallStore(client, 'the name of the collection')")
    if hasattr(store, "upsert") and hasattr(store, "query"):
        raise ValueError(f"{problem}. Open it: RecallStore(collection)")
    raise ValueError(f"{problem}. Pass RecallStore(...), or AnyStore(source=...) for another store")


OpenStore = Annotated[MemoryStore, BeforeValidator(open_store)]
"""A store as a setting; anything else is refused with a hint."""


def within(store: object, scope: Scope) -> RecallStore | ScopedStore:
    """A store for a framework's adapter, limited to a scope."""
    if not isinstance(store, RecallStore | ScopedStore):
        raise TypeError(f"store must be an open RecallStore; got {got(store)}")
    return store.for_scope(**scope.fields()) if scope.fields() else store


def required_by(store: MemoryStore) -> tuple[ScopeName, ...]:
    """The fields of a scope that a store requires."""
    # Not by isinstance: that takes 20 microseconds for a protocol, and every question asks.
    required: tuple[ScopeName, ...] = getattr(store, "require_scope", ())
    return required


@dataclass(frozen=True, slots=True)
class NarrowedStore:
    """A store limited to one scope: all memories that it returns and stores are in the scope.

    ``unnamed`` is called where memories in the scope are of several users: by the count of a store
    of ours, and elsewhere as far as what is found shows.
    """

    store: MemoryStore
    scope: Scope
    required: tuple[ScopeName, ...] = ()  # what the scope of a memory must name
    unnamed: Callable[[], None] | None = None

    def find(self, searches: Sequence[Search]) -> Sequence[Sequence[Hit]]:
        """The memories for each search that lie in the scope."""
        found = self.store.find([self._narrowed(search) for search in searches])
        self._check_users(found)
        return found

    async def afind(self, searches: Sequence[Search]) -> Sequence[Sequence[Hit]]:
        """The same, without blocking the event loop."""
        found = await self.store.afind([self._narrowed(search) for search in searches])
        if self.unnamed is not None:
            await asyncio.to_thread(self._check_users, found)
        return found

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """The memories with these ids; memories outside the scope are left out."""
        return [each for each in self._stored(ids, self.scope) if self.scope.holds(each.scope)]

    def add(self, memories: Iterable[Memory]) -> list[str]:
        """Store memories in the scope; fields that a memory does not set are filled in.

        If a memory has another scope, or would replace one with another, none is stored.
        """
        mine = [filled_in(memory, self.scope) for memory in memories]
        by_owner: dict[Scope, list[str]] = defaultdict(list)
        for memory in mine:
            memory.scope.require(self.required)
            if memory.id and self.scope.fields():
                by_owner[memory.scope].append(memory.id)
        with suppress(IdLookupError):  # the store itself says whether it can be written
            for owner, ids in by_owner.items():
                for stored in self._stored(ids, owner):
                    if not self.scope.holds(stored.scope):
                        raise id_is_taken(stored.id, self.scope)
        return self.store.add(mine)

    def listed(self, listing: Listing | Sessions) -> list[Candidate] | Spans:
        """What a listing asks for; memories outside the scope are left out."""
        if not isinstance(self.store, Store):
            raise StoreError(
                f"{type(self.store).__name__} cannot list memories; ask a question, or use a "
                "RecallStore"
            )
        scope = self.scope.narrow(listing.scope)
        if isinstance(listing, Sessions):
            return self.store.sessions(scope, listing.moment)
        found = _listed(self.store, replace(listing, scope=scope))
        self._check_users()
        return found

    def _check_users(self, found: Sequence[Sequence[Hit]] = ()) -> None:
        if self.unnamed is None:
            return
        several = isinstance(self.store, Store) and self.store.several_users(self.scope)
        shown = {
            hit.memory.scope.user_id
            for hits in found
            if not isinstance(hits, Arm)  # which is of rows that were counted
            for hit in hits
        }
        if several or len(shown - {None}) > 1:
            self.unnamed()

    def _narrowed(self, search: Search) -> Search:
        if self.scope.holds(search.scope):
            return search
        return replace(search, scope=self.scope.narrow(search.scope))

    def _stored(self, ids: Sequence[str], owner: Scope) -> list[Memory]:
        """The memories with these ids, of the owner as far as the store requires one."""
        if not isinstance(self.store, Store):
            return self.store.get(ids)
        fields = owner.fields().items()
        names = self.store.require_scope
        return self.store.get(ids, scope={name: x for name, x in fields if name in names})


def _listed(store: Store, listing: Listing) -> list[Candidate]:
    """The memories that a listing asks for, in its order, by recorded time.

    A memory is of a time if it was recorded in it, or names an event in it.
    """
    found: dict[str, Candidate] = {}
    for memories in _found(store, listing):
        living = filter(listing.standing.counts, memories)
        found |= {each.id: Candidate.of(each) for each in islice(living, listing.limit)}
    ordered = sorted(found.values(), key=place_of, reverse=listing.order == "newest")
    return ordered[: listing.limit]


def _found(store: Store, listing: Listing) -> Iterator[Iterator[Memory]]:
    wanted, standing = listing.filter, listing.standing
    as_of = standing.moment if standing.as_it_stood else None
    memories = partial(
        store.memories,
        scope=listing.scope,
        order=listing.order,
        as_of=as_of,
        include_superseded=standing.include_superseded,
    )
    if not listing.within:
        yield memories(filter=wanted)
    for during in listing.within:
        yield memories(filter=wanted, time_range=during)
        first, last = event_bounds(during)  # of the rows that name a time
        names = {"event_start": {"$lte": last}, "event_end": {"$gte": first}}
        about = memories(filter=joined(wanted, names))
        yield (memory for memory in about if memory.matches(during) == "event")
