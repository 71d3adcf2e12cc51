"""The collection: rows, where clauses, the embedding default, and `RecallStore` over them."""

from recall_retrievers.store.chroma.prepare import MemoryInput
from recall_retrievers.store.chroma.row_fields import Fields
from recall_retrievers.store.conditions import Position
from recall_retrievers.store.recall_store import RecallStore
from recall_retrievers.store.scoped_store import ScopedStore
from recall_retrievers.store.stats import ScopeCount, StoreStats

__all__ = [
    "Fields",
    "MemoryInput",
    "Position",
    "RecallStore",
    "ScopeCount",
    "ScopedStore",
    "StoreStats",
]
