"""What a `RecallStore` and its views share: an open collection, and the scope they are bound to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from recall_stages.core.scope import Scope, ScopeInput, ScopeName
from recall_stages.store.adding import Adder
from recall_stages.store.embedding.bounded import BoundedEmbedding
from recall_stages.store.named_collection import NamedCollection
from recall_stages.store.no_graph_store import NoGraphStore


class BoundStore(NoGraphStore):
    """A collection within a scope; the scope of a whole store is empty.

    Args:
        opened: The collection.
        embedding: The model that makes its vectors.
        adder: What adds to it, within the same scope.
        scope: The scope that holds in every call.
        require_scope: The fields that the scope of every call must name.
    """

    def __init__(
        self,
        opened: NamedCollection,
        embedding: BoundedEmbedding,
        adder: Adder,
        scope: Scope,
        require_scope: tuple[ScopeName, ...],
    ) -> None:
        self._opened = opened
        self._embedding = embedding
        self._adder = adder
        self._scope = scope
        self._require_scope = require_scope

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._opened.name

    @property
    def embedding_model(self) -> str:
        """The name of the model that makes its vectors."""
        return self._embedding.model_name

    @property
    def require_scope(self) -> tuple[ScopeName, ...]:
        """The fields that the scope of a call must name here."""
        return self._require_scope

    def _owner(self, scope: ScopeInput) -> Scope:
        """The scope of a call, within the one of this store, checked for what it must name."""
        self._opened.check_open()
        owner = self._scope.narrow(Scope.model_validate(scope))
        owner.require(self._require_scope)
        return owner

    def _now(self) -> datetime:
        clock: Callable[[], datetime] = self._adder.clock
        return clock()
