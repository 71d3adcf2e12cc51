"""The collection: rows, where clauses, the embedding default, and `RecallStore` over them."""

from recall_stages.store.chroma.prepare import MemoryInput
from recall_stages.store.chroma.row_fields import Fields
from recall_stages.store.conditions import Position
from recall_stages.store.recall_store import RecallStore
from recall_stages.store.scoped_store import ScopedStore
from recall_stages.store.stats import ScopeCount, StoreStats

__all__ = [
    "Fields",
    "MemoryInput",
    "Position",
    "RecallStore",
    "ScopeCount",
    "ScopedStore",
    "StoreStats",
]
