"""Changing single memories of a store, and purging those that have expired."""

from __future__ import annotations

import asyncio
from typing import Unpack

import numpy as np

from recall_stages.core.clock import TimeInput
from recall_stages.core.errors import MissingMemoryError
from recall_stages.core.memory import Memory
from recall_stages.core.scope import ScopeInput
from recall_stages.core.tracing import memory_operation
from recall_stages.store.bound_store import BoundStore
from recall_stages.store.changes import Changes, MemoryChanges
from recall_stages.store.chroma.search_text import index_text
from recall_stages.store.chroma.stored_rows import expired_ids, stored_vector
from recall_stages.timeline import parse_time


class UpdatesMemories(BoundStore):
    """A store whose memories can be changed; in a scope, only those of that scope."""

    def update(
        self, id: str, *, scope: ScopeInput = None, **changes: Unpack[MemoryChanges]
    ) -> Memory:
        """Change a stored memory, and return it as it is now; what is not named stays.

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
            StoreError: When the store was opened with ``read_only=True``, or the writing fails.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     [tea] = store.add([{"content": "Ann likes tea.", "metadata": {"cups": 1}}])
            ...     changed = store.update(tea, metadata={"cups": 2}, memory_type="profile")
            ...     changed.content, changed.memory_type, changed.metadata
            ('Ann likes tea.', 'profile', {'cups': 2})
        """
        self._opened.check_writable()
        owner = self._owner(scope)
        wanted = Changes.model_validate(changes)
        live = self._opened.found()
        if live is None:
            raise _missing(id, self.name)
        live.identity.check_writable()
        with (
            memory_operation("update_memory", self.name, record_id=id) as operation,
            self._opened.changing,
        ):
            now = self._now()
            stored = live.index.read([id], None).get(id)
            if stored is None or not owner.holds(stored.scope) or stored.expired(now):
                raise _missing(id, self.name)
            read_events = self._adder.event_times
            memory = wanted.made_to(stored, now.tzinfo, read_events=read_events)
            [ready] = self._adder.ready([memory], progress=False)
            vector = (
                stored_vector(live.index, id) if index_text(memory) == index_text(stored) else None
            )
            if vector is None:
                live.writer.write([ready]).result()
            else:
                live.writer.copy([ready], vector[np.newaxis]).result()
            operation.records([ready.memory])
        return ready.memory.memory()

    async def aupdate(
        self, id: str, *, scope: ScopeInput = None, **changes: Unpack[MemoryChanges]
    ) -> Memory:
        """Change a stored memory as `update` does, without blocking the event loop."""
        return await asyncio.to_thread(self.update, id, scope=scope, **changes)

    def purge(self, *, scope: ScopeInput = None, timestamp: TimeInput | None = None) -> int:
        """Delete the memories that have expired, and return their number.

        Nobody finds them any more, but until then they take room, and a question that is asked
        with an earlier ``timestamp`` still finds them.

        Args:
            scope: Only memories in this scope.
            timestamp: Those that have expired by this moment. None = the clock.

        Raises:
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the store was opened with ``read_only=True``, or the deleting fails.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     parcel = {"content": "A parcel comes.", "expires_at": "2024-03-06"}
            ...     ids = store.add([parcel, "Ann likes tea."])
            ...     store.count(), store.purge(), store.purge()
            (1, 1, 0)
        """
        self._opened.check_writable()
        owner = self._owner(scope)
        moment = self._now() if timestamp is None else parse_time(timestamp)
        live = self._opened.found()
        if live is None:
            return 0
        live.identity.check_writable()
        with memory_operation("delete_memory", self.name) as operation, self._opened.changing:
            expired = expired_ids(live.index, moment, owner)
            if expired:
                live.writer.delete(expired).result()
            operation.counted(len(expired))
        return len(expired)

    async def apurge(self, *, scope: ScopeInput = None, timestamp: TimeInput | None = None) -> int:
        """Delete the memories that have expired as `purge` does, without blocking the loop."""
        return await asyncio.to_thread(self.purge, scope=scope, timestamp=timestamp)


def _missing(id: str, name: str) -> MissingMemoryError:
    return MissingMemoryError(
        f"there is no memory {id!r} to update in collection {name!r}, or not in this scope, or it "
        "has expired; `get` and `memories` return those that are there"
    )
