"""The collection: rows, where clauses, the embedding default, and `RecallStore` over them."""

from recall_stages.store.intake import MemoryInput
from recall_stages.store.recall_store import RecallStore
from recall_stages.store.rows import Fields

__all__ = ["Fields", "MemoryInput", "RecallStore"]
