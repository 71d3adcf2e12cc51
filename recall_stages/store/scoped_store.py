"""`ScopedStore`: the memories of one scope, for agents, tools and servers."""

from __future__ import annotations

from dataclasses import replace
from typing import Never, Unpack

from recall_stages.core.errors import ScopeError
from recall_stages.core.scope import Scope, ScopeFields
from recall_stages.store.adds_memories import AddsMemories
from recall_stages.store.bound_store import BoundStore
from recall_stages.store.deletes_memories import DeletesMemories
from recall_stages.store.lists_memories import ListsMemories
from recall_stages.store.updates_memories import UpdatesMemories


class ManagedStore(AddsMemories, ListsMemories, UpdatesMemories, DeletesMemories):
    """What a `RecallStore` and its views can do alike."""

    def for_scope(self, **fields: Unpack[ScopeFields]) -> ScopedStore:
        """A view that reads, writes and deletes the memories of one scope, and no others.

        Give it to an agent, a tool or a server: it takes the place of a store there.

        Args:
            **fields: ``user_id``, ``agent_id``, ``session_id``, ``workspace``: at least one of
                them, and those of ``require_scope``.

        Raises:
            ScopeError: When no field is named, one is empty, or a required one is missing.

        Examples:
            >>> from recall_stages import RecallStore
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
    memories of others are as good as not there. What is added without a scope gets this one. A
    ``scope`` in a call can narrow it. It works as long as its store is open.

    Args:
        store: The store, or a wider view.
        scope: The scope.
    """

    def __init__(self, store: BoundStore, scope: Scope) -> None:
        super().__init__(
            store._opened,  # noqa: SLF001 - of the same base class
            store._embedding,  # noqa: SLF001
            replace(store._adder, within=scope),  # noqa: SLF001
            scope,
            (),  # the scope names what the store requires
        )

    @property
    def scope(self) -> Scope:
        """The scope of all its memories."""
        return self._scope

    def __repr__(self) -> str:
        return f"ScopedStore(name={self.name!r}, scope={self._scope.fields()})"

    def __reduce__(self) -> Never:
        raise TypeError("a ScopedStore can be neither pickled nor copied; make it where it is used")
