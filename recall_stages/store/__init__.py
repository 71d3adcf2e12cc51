"""The collection: rows, where clauses, the embedding default, and `RecallStore` over them."""

from recall_stages.store.chroma.prepare import MemoryInput
from recall_stages.store.chroma.row_fields import Fields
from recall_stages.store.recall_store import RecallStore

__all__ = ["Fields", "MemoryInput", "RecallStore"]
