"""What a `RecallStore` and its views share: an open collection, and the scope they are bound to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Never

from recall_retrievers.core.scope import Scope, ScopeInput, ScopeName
from recall_retrievers.store.named_collection import NamedCollection

# The methods of LangGraph's store that ours has not.
_OF_LANGGRAPH = {each + name for name in ("put", "search", "list_namespaces") for each in ("", "a")}


class BoundStore:
    """A collection within a scope; the scope of a whole store is empty.

    Args:
        opened: The collection.
        clock: Gives the time of a memory that comes without one.
        event_times: Whether to read the times that a text names.
        require_scope: The fields that the scope of every call, and of every memory, must name.
        scope: The scope that holds in every call; it names what must be named.
    """

    def __init__(
        self,
        opened: NamedCollection,
        clock: Callable[[], datetime],
        *,
        event_times: bool,
        require_scope: tuple[ScopeName, ...],
        scope: Scope,
    ) -> None:
        self._opened = opened
        self._clock = clock
        self._event_times = event_times
        self._require_scope = require_scope
        self._scope = scope

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._opened.name

    @property
    def embedding_model(self) -> str:
        """The name of the model that makes its vectors."""
        return self._opened.embedding.model_name

    @property
    def embeds_words(self) -> bool:
        """Whether that model has vectors of single words, as the default has."""
        return self._opened.embedding.embeds_words

    @property
    def clock(self) -> Callable[[], datetime]:
        """What gives the time: of memories that come without one, and of what has expired."""
        return self._clock

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

    if not TYPE_CHECKING:  # checkers would take any name for an attribute

        def __getattr__(self, name: str) -> Never:
            # LangGraph takes any object as its ``store``, checks nothing, and calls these later.
            hint = (
                f": {type(self).__name__} is no store of LangGraph; pass RecallGraphStore(store), "
                "which is imported from langchain_recall"
            )
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
                f"{hint if name in _OF_LANGGRAPH else ''}",
                name=name,
                obj=self,
            )
