"""The collection: rows, where clauses, the embedding default, and `RecallStore` over them."""

from recall_retrievers.store.chroma.fields import Fields
from recall_retrievers.store.chroma.rows import MemoryInput
from recall_retrievers.store.conditions import Position
from recall_retrievers.store.recall_store import RecallStore, ScopeCount
from recall_retrievers.store.store import ScopedStore

__all__ = [
    "Fields",
    "MemoryInput",
    "Position",
    "RecallStore",
    "ScopeCount",
    "ScopedStore",
]
