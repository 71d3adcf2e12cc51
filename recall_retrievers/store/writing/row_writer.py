"""Rows written into a collection: only those that changed, each with its vector."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import MissingMemoryError, StoreError
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.epoch import to_milliseconds
from recall_retrievers.store.chroma.open_collection import Opened
from recall_retrievers.store.chroma.ownership import Identity
from recall_retrievers.store.chroma.prepare import Ready, id_is_taken
from recall_retrievers.store.chroma.row_fields import KEYWORD_VECTOR, WRITTEN_AT, Row
from recall_retrievers.store.chroma.rows import to_candidate
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.cloud.keyword_vector import keyword_vector
from recall_retrievers.store.embedding.bounded import BoundedEmbedding, Outcome
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.rows.scoped_rows import ScopedRows, indexes_of
from recall_retrievers.store.writing.write_lock import write_lock_of

_log = logging.getLogger(__name__)

# Rows a call: below every limit (Cloud takes 300, SQLite 5,461), and short enough that the
# interpreter, which Chroma holds while it writes, pauses for no more than 0.15 s.
BATCH = 250

# Seconds that closing waits for a call of Chroma's. Texts of 5 MB took it half of that.
CHROMA_S = 60.0

LOST = "Error finding id"  # what Chroma says of a row that has no vector

_Rows = dict[str, tuple[str | None, dict[str, Any]]]
"""Text and metadata of rows, by id."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """Rows that are not stored yet as they are.

    Attributes:
        rows: The rows.
        present: Those that they replace.
        writes: How often the collection had been written to before these were read.
    """

    rows: Sequence[Ready]
    present: _Rows
    writes: int

    @property
    def texts(self) -> list[str]:
        """What has to be embedded."""
        return [index_text(each.memory) for each in self.rows]


class RowWriter:
    """Writes the rows of one collection, for one thread at a time.

    Args:
        opened: The collection.
        embedding: What makes the vectors.
        identity: Whose collection it is.
        begin: Called before each step with the seconds that it may take; None = no limit.

    Attributes:
        lock: What it shares with the writers of other stores.
    """

    def __init__(
        self,
        opened: Opened,
        embedding: BoundedEmbedding,
        identity: Identity,
        begin: Callable[[float | None], None],
    ) -> None:
        self._collection = opened.collection
        self._folder = opened.folder
        self.lock = write_lock_of(opened.collection)
        self._words = opened.cloud and identity.with_words
        self._embedding = embedding
        self._identity = identity
        self._begin = begin

    def fresh(self, rows: Sequence[Ready]) -> Fresh:
        """The rows that are not stored yet as they are."""
        writes = self.lock.writes
        present = self._replaced(rows)
        stored = {x.memory.id for x in rows if x.is_stored_as(*present.get(x.memory.id, ()))}
        if stored and not self._have_vectors(list(stored)):
            stored = set()
        return Fresh([each for each in rows if each.memory.id not in stored], present, writes)

    def embed(self, batches: Sequence[Fresh]) -> list[Outcome]:
        """The vectors of each batch, or the error that the model raised."""
        timeout_s = self._embedding.timeout_s
        self._begin(None if timeout_s is None else timeout_s + CHROMA_S)
        return self._embedding.embed_batches([each.texts for each in batches])

    def store(self, fresh: Fresh, embedded: Embedded) -> None:
        """Store rows, also in all row indexes of the collection in this process."""
        if not fresh.rows:
            return
        self._identity.check_dimension(embedded.vectors)
        with self.lock.writing():
            as_read = self.lock.writes == fresh.writes
            present = fresh.present if as_read else self._replaced(fresh.rows)
            self._store(fresh.rows, present, embedded)
        self._identity.learn_dimension(embedded.vectors)

    def _store(self, ready: Sequence[Ready], present: _Rows, embedded: Embedded) -> None:
        written = to_milliseconds(datetime.now(UTC))
        memories = [each.memory for each in ready]
        # Chroma merges metadata and does not replace it: what a row had before is set to None.
        metadatas: Any = [
            {
                **dict.fromkeys(present[each.memory.id][1] if each.memory.id in present else ()),
                **each.metadata,
                **self._word_vector(each.memory),
                WRITTEN_AT: written,
            }
            for each in ready
        ]
        new: list[Row] = [
            (x.memory.id, x.memory.content, {**x.metadata, WRITTEN_AT: written}) for x in ready
        ]
        self._begin(CHROMA_S)
        indexes = self._indexes()
        self._collection.upsert(
            ids=[memory.id for memory in memories],
            embeddings=embedded.vectors,
            documents=[memory.content for memory in memories],
            metadatas=metadatas,
        )
        for rows in indexes:
            rows.put(new, memories, embedded)

    def copy(self, rows: Sequence[Ready], vectors: NDArray[np.float32]) -> None:
        """Store rows with their vectors; rows that are stored already as they are stay."""
        fresh = self.fresh(rows)
        wanted = {each.memory.id for each in fresh.rows}
        self.store(fresh, Embedded(vectors[[each.memory.id in wanted for each in rows]]))

    def change(self, ready: Ready, before: Row, embedded: Embedded) -> None:
        """Write what is different in a row, and nothing else: another process may change the rest.

        Chroma has no write on a condition. A row that is gone meanwhile is not stored again.

        Args:
            ready: The row with its changes.
            before: The row as it was read.
            embedded: Its vector.
        """
        row_id, document, metadata = before
        new, old, text = ready.metadata, metadata or {}, index_text(ready.memory)
        changed: Any = {
            name: new.get(name) for name in {*old, *new} if old.get(name) != new.get(name)
        }
        changed |= {
            **self._word_vector(ready.memory),
            WRITTEN_AT: to_milliseconds(datetime.now(UTC)),
        }
        known = to_candidate(*before)
        retold = document != ready.memory.content
        reworded = retold or known is None or index_text(known) != text
        self._identity.check_dimension(embedded.vectors)
        self._begin(CHROMA_S)
        indexes = self._indexes()
        with self.lock.writing():
            if row_id not in self._replaced([ready]):
                raise MissingMemoryError(f"memory {got(row_id)} was deleted while it was changed")
            self._collection.update(
                ids=[row_id],
                metadatas=[changed],
                documents=[ready.memory.content] if retold else None,
                embeddings=embedded.vectors if reworded else None,
            )
            # As others have left it. Where its text is theirs, the row indexes find that later.
            now = self._present([row_id]).get(row_id)
            memory = None if now is None else to_candidate(row_id, *now)
            if now is not None and memory is not None and index_text(memory) == text:
                for rows in indexes:
                    rows.put([(row_id, *now)], [memory], embedded)

    def _word_vector(self, memory: Candidate) -> dict[str, object]:
        vector = keyword_vector(memory) if self._words else None
        return {} if vector is None else {KEYWORD_VECTOR: vector}

    def delete(self, ids: Sequence[str]) -> None:
        """Delete rows; ids that are not there are passed over."""
        indexes = self._indexes()
        for start in range(0, len(ids), BATCH):
            part = list(ids[start : start + BATCH])
            self._begin(CHROMA_S)
            with self.lock.writing():
                self._collection.delete(ids=part)
                for rows in indexes:  # at once: the next part may fail
                    rows.drop(part)

    def _indexes(self) -> Sequence[ScopedRows]:
        """The row indexes that have to know of a write, opened before it."""
        indexes = indexes_of(self._collection, self._folder)
        for rows in indexes:
            rows.start()
        return indexes

    def stored(self, rows: Sequence[Ready]) -> tuple[str, ...]:
        """The ids of those rows that are stored as they are."""
        present = self._present([row.memory.id for row in rows])
        return tuple(
            row.memory.id for row in rows if row.is_stored_as(*present.get(row.memory.id, ()))
        )

    def _replaced(self, rows: Sequence[Ready]) -> _Rows:
        """The rows that are there under the ids of these, and that these may replace."""
        present = self._present([each.memory.id for each in rows if not each.is_new])
        for row in rows:
            if row.memory.id in present and not row.may_replace(present[row.memory.id][1]):
                raise id_is_taken(row.memory.id, row.guard)
        return present

    def _present(self, ids: Sequence[str]) -> _Rows:
        """The rows of these that are there already."""
        if not ids:
            return {}
        self._begin(CHROMA_S)
        page: Any = self._collection.get(ids=list(ids), include=["documents", "metadatas"])
        rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        return {row_id: (document, metadata or {}) for row_id, document, metadata in rows}

    def _have_vectors(self, ids: list[str]) -> bool:
        """Whether the index of vectors has all of these rows.

        Chroma keeps texts apart from it; a server that was killed may have lost a part of it.
        """
        self._begin(CHROMA_S)
        try:
            self._collection.get(ids=ids, include=["embeddings"])
        except StoreError as error:
            if LOST not in str(error):
                raise
            _log.warning("of %d rows some have no vector in Chroma: stored again", len(ids))
            return False
        return True
