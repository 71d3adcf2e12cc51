"""`ManagedStore`: memories are changed and deleted; `ScopedStore`: those of one scope alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never, Unpack

import numpy as np

from recall_retrievers.core.awaited import awaited
from recall_retrievers.core.clock import TimeInput
from recall_retrievers.core.errors import MissingMemoryError, ScopeError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Filter
from recall_retrievers.core.scope import Scope, ScopeFields, ScopeInput, ScopeName
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.tracing import memory_operation
from recall_retrievers.store.adding_store import AddingStore
from recall_retrievers.store.bound_store import BoundStore
from recall_retrievers.store.changes import Changes, MemoryChanges
from recall_retrievers.store.chroma.index import Index
from recall_retrievers.store.chroma.prepare import distinct_ids
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.conditions import Conditions, RangeInput, TypeInput
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.listing import expired_in_chroma
from recall_retrievers.store.writing.row_writer import LOST
from recall_retrievers.timeline import parse_time


class ManagedStore(AddingStore):
    """What a `RecallStore` and its views can do alike: read, add, change and delete memories."""

    def update(
        self, id: str, *, scope: ScopeInput = None, **changes: Unpack[MemoryChanges]
    ) -> Memory:
        """Change fields of a stored memory, and return it as it is now. Other fields stay.

        The text is embedded again only if it has changed. Then the times that it names are read
        again, too. A turn of a conversation keeps the turn that it answers.

        Args:
            id: The id of the memory.
            scope: Whose memory it is: only one in this scope is changed.
            **changes: What to change: ``text``, ``metadata``, ``timestamp``, ``memory_type``,
                ``expires_at``, ``events``, ``author``, ``when_to_use``, ``quality``. In
                ``metadata``, names that are left out stay; the value None takes a name out.
                ``expires_at=None`` lets the memory stay for good.

        Raises:
            MissingMemoryError: When there is no memory with this id in the scope, or it has
                expired.
            SettingsError: When a change is none that a memory can have.
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the writing fails.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     [tea] = store.add([{"content": "Ann likes tea.", "metadata": {"cups": 1}}])
            ...     changed = store.update(tea, metadata={"cups": 2}, memory_type="profile")
            ...     changed.content, changed.memory_type, changed.metadata
            ('Ann likes tea.', 'profile', {'cups': 2})
        """
        owner, wanted = self._owner(scope), Changes.model_validate(changes)
        live = self._opened.to_change()
        if live is None:
            raise _missing(id, self.name)
        with (
            memory_operation("update_memory", self.name, record_id=id) as operation,
            live.writer.changing,
        ):
            now = self._clock()
            vectors: dict[str, Embedded] = {}
            while True:
                before = live.index.row(id)
                stored = before and live.index.candidate(before)
                if not (
                    before and stored and owner.holds(stored.scope) and not stored.expired(now)
                ):
                    raise _missing(id, self.name)
                memory = wanted.made_to(stored, now.tzinfo, read_events=self._event_times)
                [ready] = self._ready([memory])
                text = index_text(memory)
                embedded = vectors.get(text)
                if embedded is None and text == index_text(stored):
                    embedded = _vector_of(live.index, id)
                if embedded is not None:
                    break
                # That takes a while, in which another process may change it: it is read again.
                vectors[text] = self._opened.embedding.embed(text)
            live.writer.change(ready, before, embedded).result()
            operation.records([ready.memory])
        return ready.memory.memory()

    aupdate = awaited(update)
    """Change a stored memory as `update` does, without blocking the event loop."""

    def delete(  # noqa: PLR0913 - conditions, each by name
        self,
        ids: Sequence[str] | None = None,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        everything: bool = False,
    ) -> int:
        """Delete the memories that fulfil all conditions; `memories` lists the same ones.

        A scope alone is no condition: pass ``everything=True`` to delete all of its memories.

        Args:
            ids: Only memories with these ids; unknown ids are ignored. An empty list deletes
                nothing.
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it; see `memories`.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.
            everything: Delete all memories of the scope; without a scope, all of the store.

        Returns:
            How many were deleted.

        Raises:
            SettingsError: When there is neither a condition nor ``everything``, when there are
                both, or when a filter fits every memory.
            FilterError: When the filter cannot match anything.
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the deleting fails: then some of the memories may be deleted.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Ann likes tea.", "user_id": "ann"}
            ...     ids = store.add([tea, {"content": "Bob likes rum.", "user_id": "bob"}])
            ...     store.delete(scope={"user_id": "ann"}, everything=True), store.count()
            (1, 1)
        """
        wanted = None if ids is None else distinct_ids(ids)
        conditions = Conditions.of(self._owner(scope), time_range, filter, memory_type)
        conditions.check_deleting(wanted, everything)
        live = self._opened.to_change()
        if live is None:
            return 0
        [single] = wanted if wanted is not None and len(wanted) == 1 else [""]
        with (
            memory_operation("delete_memory", self.name, record_id=single) as operation,
            live.writer.changing,  # or an update could store again what is deleted meanwhile
        ):
            deleted = live.delete(wanted, conditions)
            operation.counted(deleted)
        return deleted

    adelete = awaited(delete)
    """Delete the memories that fulfil all conditions, without blocking the event loop."""

    def purge(self, *, scope: ScopeInput = None, timestamp: TimeInput | None = None) -> int:
        """Delete the memories that have expired, and return their number.

        No search finds them any more. Until the purge they take room, and a question with an
        earlier ``timestamp`` still finds them.

        Args:
            scope: Only memories in this scope.
            timestamp: Those that have expired by this moment. None = the clock.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the deleting fails.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     parcel = {"content": "A parcel comes.", "expires_at": "2024-03-06"}
            ...     ids = store.add([parcel, "Ann likes tea."])
            ...     store.count(), store.purge(), store.purge()
            (1, 1, 0)
        """
        owner = self._owner(scope)
        moment = self._clock() if timestamp is None else parse_time(timestamp)
        live = self._opened.to_change()
        if live is None:
            return 0
        with memory_operation("delete_memory", self.name) as operation, live.writer.changing:
            expired = expired_in_chroma(live.index, moment, owner)
            if expired:
                live.writer.delete(expired).result()
            operation.counted(len(expired))
        return len(expired)

    apurge = awaited(purge)
    """Delete the memories that have expired as `purge` does, without blocking the event loop."""

    def for_scope(self, **fields: Unpack[ScopeFields]) -> ScopedStore:
        """A view that reads, writes and deletes the memories of one scope, and no others.

        Give it to an agent, a tool or a server: it takes the place of a store there.

        Args:
            **fields: ``user_id``, ``agent_id``, ``session_id``, ``workspace``: at least one of
                them, and those of ``require_scope``.

        Raises:
            ScopeError: When no field is named, one is empty, or a required one is missing.

        Examples:
            >>> from recall_retrievers import RecallStore
            >>> with RecallStore() as store:
            ...     ann, bob = store.for_scope(user_id="ann"), store.for_scope(user_id="bob")
            ...     ids = ann.add(["I like tea."])
            ...     bob.get(ids), bob.delete(ids), ann.count()
            ([], 0, 1)
        """
        scope = Scope.model_validate(dict(fields))
        if not scope.fields():
            raise ScopeError(
                'for_scope must name the scope, as in for_scope(user_id="ann"); it got nothing, '
                "and a view of all memories is the store itself"
            )
        return ScopedStore(self, self._owner(scope))


class ScopedStore(ManagedStore):
    """The memories of one scope in a store; `RecallStore.for_scope` makes it.

    It has the methods of a store that read, write and delete. Each of them is limited to the scope:
    memories of others do not exist in it. What is added without a scope gets this one. A
    ``scope`` in a call can narrow it. It works as long as its store is open.

    Args:
        store: The store, or a wider view.
        scope: The scope.
    """

    def __init__(self, store: BoundStore, scope: Scope) -> None:
        super().__init__(
            store._opened,  # noqa: SLF001 - of the same base class
            store.clock,
            event_times=store._event_times,  # noqa: SLF001
            require_scope=store._require_scope,  # noqa: SLF001
            scope=scope,
        )

    @property
    def require_scope(self) -> tuple[ScopeName, ...]:
        """None: the scope of the view names what the store requires."""
        return ()

    @property
    def scope(self) -> Scope:
        """The scope of all its memories."""
        return self._scope

    def __repr__(self) -> str:
        return f"ScopedStore(name={self.name!r}, scope={self._scope.fields()})"

    def __reduce__(self) -> Never:
        raise TypeError("a ScopedStore can be neither pickled nor copied; make it where it is used")


def _vector_of(index: Index, row_id: str) -> Embedded | None:
    """The vector of a row; None if it has none."""
    try:
        vector = index.vectors([row_id]).get(row_id)
    except StoreError as error:
        if LOST not in str(error):
            raise
        return None
    return None if vector is None else Embedded(vector[np.newaxis])


def _missing(id: str, name: str) -> MissingMemoryError:
    return MissingMemoryError(
        f"there is no memory {got(id)} to update in collection {name!r}, or not in this scope, or "
        "it has expired; `get` and `memories` return those that are there"
    )
