"""Copying the memories of a store into another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_stages.core.errors import EmbeddingMismatchError
from recall_stages.store.bound_store import BoundStore
from recall_stages.store.copying import copy_collection

if TYPE_CHECKING:
    from recall_stages.store.recall_store import RecallStore


class CopiesMemories(BoundStore):
    """A store whose memories can be copied; a view cannot."""

    def copy_to(self, other: RecallStore, *, progress: bool = False) -> int:
        """Copy all memories into another store, with their vectors; nothing is embedded again.

        So a collection moves from a folder to a server, and from there to Chroma Cloud. Memories
        that the other store has already, without any change, are not written again: a copy that
        was interrupted goes on where it ended. What the other store has besides stays.

        Args:
            other: The store to copy to, with the same embedding model.
            progress: Show a progress bar on standard error if it is a terminal.

        Returns:
            The number of memories.

        Raises:
            EmbeddingMismatchError: When the other store has another embedding model.
            ForeignCollectionError: When somebody else made the other collection.
            MemoryFormatError: When a memory is too large for Chroma Cloud; then none is copied.
            StoreError: When reading or writing fails.

        Examples:
            >>> from recall_stages import RecallStore
            >>> with RecallStore() as store, RecallStore() as other:
            ...     ids = store.add(["The dentist is on Elm Street."])
            ...     store.copy_to(other), other.count()
            (1, 1)
        """
        if other.embedding_model != self.embedding_model:
            raise EmbeddingMismatchError(
                f"the vectors of {self.embedding_model!r} are of no use to a store that searches "
                f"with {other.embedding_model!r}; embed the memories again: "
                "store.reembed(embedding, name=...)"
            )
        live = self._opened.found()
        target = other._adder  # noqa: SLF001 - of the same base class
        return 0 if live is None else copy_collection(live, target, progress=progress)
