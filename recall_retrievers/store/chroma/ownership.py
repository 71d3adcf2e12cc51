"""Who made a collection, and with which embedding model: checked before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import EmbeddingMismatchError, ForeignCollectionError, StoreError
from recall_retrievers.store.chroma.open_collection import FORMAT, MARK, WITH_WORDS
from recall_retrievers.store.chroma.row_fields import OWN_FIELDS, Fields
from recall_retrievers.store.embedding.bounded import BoundedEmbedding

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection


class Identity:
    """The maker and the embedding model of a collection, checked against those of a store.

    Raises:
        EmbeddingMismatchError: When another model filled the collection.
        ForeignCollectionError: When it is ours, and has other fields.
        StoreError: When a newer version made it.
    """

    def __init__(self, collection: Collection, embedding: BoundedEmbedding, fields: Fields) -> None:
        self._collection = collection
        self._model = embedding.model_name
        known = collection.metadata or {}
        self.foreign = MARK not in known
        self.with_words = known.get(MARK) == WITH_WORDS
        # That of one of ours is noted after the first write. While that is under way, Chroma
        # cannot read vectors.
        self._dimension: int | None = known.get("embedding_dimension")
        if self.foreign:
            self._dimension = self._stored_dimension()
        if not self.foreign:
            self._check_own(known, fields)
        if embedding.dimension is not None:  # without a call, which may cost money
            self._check_length(embedding.dimension)

    def check_writable(self) -> None:
        """Refuse to write to a collection that somebody else made."""
        if self.foreign:
            raise ForeignCollectionError(
                f"collection {self._collection.name!r} was not made by RecallStore: it is "
                "searched, never written. Add memories to one of its own: RecallStore(client, "
                "'memories')"
            )

    def check_dimension(self, *vectors: NDArray[np.float32]) -> None:
        """Refuse vectors of another length than the collection holds."""
        for each in vectors:
            self._check_length(each.shape[-1])

    def learn_dimension(self, vectors: NDArray[np.float32]) -> None:
        """Note the length of vectors in the collection, after the first are stored."""
        if self._dimension is None:
            self._dimension = int(vectors.shape[1])
            self._note({"embedding_dimension": self._dimension})

    def adopt_if_empty(self, fields: Fields) -> bool:
        """Mark a collection of the caller as one of RecallStore if it is empty."""
        if not self.foreign or fields != OWN_FIELDS or self._collection.count():
            return False
        self._note({MARK: FORMAT, "embedding_model": self._model})
        return True

    def _check_own(self, known: Mapping[str, object], fields: Fields) -> None:
        name = self._collection.name
        if known[MARK] not in (FORMAT, WITH_WORDS):
            raise StoreError(
                f"collection {name!r} was made by a newer version of this library (format "
                f"{known[MARK]}; this one knows {FORMAT} and {WITH_WORDS}); update it"
            )
        if fields != OWN_FIELDS:
            raise ForeignCollectionError(
                f"collection {name!r} was made by RecallStore, which knows its fields; leave "
                "`fields` out"
            )
        made_by = known.get("embedding_model")
        if made_by != self._model:
            raise EmbeddingMismatchError(
                f"collection {name!r} holds vectors of {made_by!r}; it cannot be searched with "
                f"{self._model!r}. Open it with that model, or add its memories to a new "
                "collection",
                made_by,
            )

    def _check_length(self, dimension: int) -> None:
        if self._dimension is not None and dimension != self._dimension:
            raise EmbeddingMismatchError(
                f"collection {self._collection.name!r} holds vectors of {self._dimension} "
                f"numbers; {self._model!r} makes {dimension}. Open it with the model that filled "
                "it: RecallStore(..., embedding=...)"
            )

    def _stored_dimension(self) -> int | None:
        head = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        return len(head[0]) if head is not None and len(head) else None

    def _note(self, facts: Mapping[str, str | int]) -> None:
        """Add facts to the metadata of the collection; its space cannot be written again."""
        old = {k: v for k, v in (self._collection.metadata or {}).items() if k[:5] != "hnsw:"}
        self._collection.modify(metadata={**old, **facts})
