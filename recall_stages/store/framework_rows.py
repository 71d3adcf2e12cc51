"""Memories that came from a framework's documents or nodes: what else a row of theirs holds.

A vector store returns the metadata that was put into it. A memory has more: the store gives it a
time and a type, and reads events from its text. So the memory notes which of its fields were in the
metadata of its document. All of this is flat metadata, which either framework can read.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

from recall_stages.core.candidate import Candidate
from recall_stages.core.flat_metadata import DOCUMENT_FIELDS, is_bookkeeping, to_flat
from recall_stages.core.memory import Memory
from recall_stages.core.scope import Scope
from recall_stages.core.settings_messages import got
from recall_stages.store.recall_store import RecallStore
from recall_stages.store.scoped_store import ScopedStore


def within(store: object, scope: Scope) -> RecallStore | ScopedStore:
    """A store for a framework's adapter, limited to a scope.

    Raises:
        TypeError: When it is no open `RecallStore`, nor a view of one.
    """
    if not isinstance(store, RecallStore | ScopedStore):
        raise TypeError(f"store must be an open RecallStore; got {got(store)}")
    return store.for_scope(**scope.fields()) if scope.fields() else store


def with_its_fields(memory: Memory, metadata: Mapping[str, object]) -> Memory:
    """A memory that notes which of its fields the metadata of its document named.

    Args:
        memory: The memory, read from the document.
        metadata: The metadata of the document.

    Examples:
        >>> tea = Memory(content="Tea.", created_at=0, metadata={"topic": "drinks"})
        >>> with_its_fields(tea, {"topic": "drinks", "created_at": 0}).metadata
        {'topic': 'drinks', 'document_fields': 'created_at'}
    """
    own = {name: value for name, value in memory.metadata.items() if not is_bookkeeping(name)}
    read = to_flat(Candidate.of(memory), UTC).keys() - own.keys()
    named = " ".join(sorted(read & metadata.keys()))
    return memory.model_copy(update={"metadata": {**own, DOCUMENT_FIELDS: named}})


def document_metadata(memory: Candidate | Memory) -> dict[str, object]:
    """The metadata of a memory as its document had it; times in ISO 8601, UTC.

    A memory that did not come from a document shows all its fields.

    Examples:
        >>> tea = Memory(content="Tea.", created_at=0, metadata={"topic": "drinks"})
        >>> document_metadata(with_its_fields(tea, tea.metadata))
        {'topic': 'drinks'}
        >>> document_metadata(tea)["created_at"]
        '1970-01-01T00:00:00+00:00'
    """
    candidate = memory if isinstance(memory, Candidate) else Candidate.of(memory)
    flat = to_flat(candidate, UTC)
    own = {name: value for name, value in flat.items() if not is_bookkeeping(name)}
    named = flat.get(DOCUMENT_FIELDS)
    if not isinstance(named, str):
        return own
    shown = {*named.split(), *candidate.metadata}
    return {name: value for name, value in own.items() if name in shown}
