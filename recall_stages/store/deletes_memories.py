"""Deleting memories of a store: by their ids, their owner, their time, their metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from recall_stages.core.query import Filter
from recall_stages.core.scope import Scope, ScopeInput
from recall_stages.core.tracing import memory_operation
from recall_stages.store.bound_store import BoundStore
from recall_stages.store.chroma.prepare import distinct_ids
from recall_stages.store.conditions import Conditions, RangeInput, TypeInput


class DeletesMemories(BoundStore):
    """A store that deletes memories; in a scope, only those of that scope."""

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

        Args:
            ids: Only memories with these ids; unknown ids are ignored.
            scope: Only memories in this scope.
            time_range: Only memories that were recorded in it; see `memories`.
            filter: Conditions on metadata, as Chroma writes them.
            memory_type: Only memories of this type, or of one of these.
            everything: Delete all memories, where there is no condition, or a scope alone.

        Returns:
            How many were deleted.

        Raises:
            ValueError: When there is no condition, and ``everything`` is not set.
            FilterError: When the filter cannot match anything.
            ForeignCollectionError: When somebody else made the collection.
            ScopeError: When the scope lacks a field of ``require_scope``.
            StoreError: When the store was opened with ``read_only=True``, or the deleting fails:
                then some of the memories may be deleted.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store:
            ...     tea = {"content": "Ann likes tea.", "user_id": "ann"}
            ...     ids = store.add([tea, {"content": "Bob likes rum.", "user_id": "bob"}])
            ...     store.delete(scope={"user_id": "ann"}), store.count()
            (1, 1)
        """
        self._opened.check_writable()
        wanted = None if ids is None else distinct_ids(ids)
        conditions = Conditions.of(self._owner(scope), time_range, filter, memory_type)
        limited = wanted is not None or conditions.limited
        _check_deleting(limited, bool(Scope.model_validate(scope).fields()), everything)
        live = self._opened.found()
        if live is None:
            return 0
        live.identity.check_writable()
        [single] = wanted if wanted is not None and len(wanted) == 1 else [""]
        with (
            memory_operation("delete_memory", self.name, record_id=single) as operation,
            self._opened.changing,  # or an update could store again what is deleted meanwhile
        ):
            deleted = live.delete(wanted, conditions)
            operation.counted(deleted)
        return deleted

    async def adelete(  # noqa: PLR0913 - as above
        self,
        ids: Sequence[str] | None = None,
        *,
        scope: ScopeInput = None,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        everything: bool = False,
    ) -> int:
        """Delete the memories that fulfil all conditions, without blocking the event loop."""
        return await asyncio.to_thread(
            self.delete,
            ids,
            scope=scope,
            time_range=time_range,
            filter=filter,
            memory_type=memory_type,
            everything=everything,
        )


def _check_deleting(limited: bool, of_scope: bool, everything: bool) -> None:
    if everything and limited:
        raise ValueError(
            "everything=True deletes without conditions; leave it out, or leave out ids, "
            "time_range, filter and memory_type"
        )
    if not (everything or limited or of_scope):
        raise ValueError(
            "delete needs a condition: ids, scope, time_range, filter or memory_type. To delete "
            "all memories, pass everything=True"
        )
