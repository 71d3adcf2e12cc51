"""A collection in Chroma's SQLite file, read without its engine.

Chroma (1.5.9) writes an operation to a log first, then to the tables of texts, then to the index of
vectors. It notes how far each of the two has come, and purges the log up to there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.store.disk.database import DATABASE, Database
from recall_retrievers.store.disk.index_layout import UnknownLayoutError

_DELETE = 3  # Chroma's number for the operation; 0 = add, 1 = update, 2 = upsert
_UPDATE = 1
_DOCUMENT = "chroma:document"
_PAGE = 500  # rows a statement


@dataclass(frozen=True, slots=True)
class Logged:
    """An operation of the log.

    Attributes:
        row_id: The row that it changes.
        operation: Chroma's number for it.
        vector: The new vector, if there is one.
    """

    row_id: str
    operation: int
    vector: NDArray[np.float32] | None


class Tables:
    """One collection in the SQLite file.

    Args:
        database: The open file.
        collection_id: Chroma's own id of the collection.

    Attributes:
        index_folder: The name of the folder of its index.
        texts: Chroma's id of the part that has its texts and metadata.
        texts_up_to: The number of the last operation in that part.

    Raises:
        UnknownLayoutError: When Chroma keeps the collection in other tables; later calls as well.
    """

    def __init__(self, database: Database, collection_id: str) -> None:
        self._database = database
        self._collection_id = collection_id
        kinds: dict[str, str] = dict(
            database.rows("SELECT scope, id FROM segments WHERE collection = ?", collection_id)
        )
        if kinds.keys() != {"VECTOR", "METADATA"}:
            raise UnknownLayoutError(f"the collection has the parts {sorted(kinds)}")
        self.index_folder, self.texts = kinds["VECTOR"], kinds["METADATA"]
        seen = dict(database.rows("SELECT segment_id, seq_id FROM max_seq_id"))
        self.texts_up_to = number(seen.get(self.texts))
        self._index_up_to = number(seen.get(self.index_folder))

    @property
    def dimension(self) -> int | None:
        """The length of its vectors; None before the first was stored."""
        [(dimension,)] = self._database.rows(
            "SELECT dimension FROM collections WHERE id = ?", self._collection_id
        )
        return None if dimension is None else int(dimension)

    def row_ids(self) -> set[str]:
        """The ids of its rows."""
        stored = self._database.rows(
            "SELECT embedding_id FROM embeddings WHERE segment_id = ?", self.texts
        )
        return self._followed({row_id for (row_id,) in stored}, self.texts_up_to)

    def written_since(self, position: int) -> set[str]:
        """The ids of the rows that were written after an operation."""
        rows = self._database.rows(
            "SELECT embedding_id FROM embeddings WHERE segment_id = ? "
            "AND typeof(seq_id) = 'integer' AND seq_id > ?",
            self.texts,
            position,
        )
        return {row_id for (row_id,) in rows} | {each.row_id for each in self.logged(position)}

    def indexed(self, saved: set[str]) -> set[str]:
        """The ids of the rows in its index after Chroma has followed the log.

        Args:
            saved: The ids of the rows in the files of the index.
        """
        return self._followed(saved, self._index_up_to)

    def logged(self, after: int = 0) -> Iterator[Logged]:
        """The operations that are still in the log, the oldest first."""
        log = self._database.rows(
            "SELECT id, operation, vector, encoding FROM embeddings_queue "
            "WHERE seq_id > ? AND topic LIKE '%/' || ? ORDER BY seq_id",
            after,
            self._collection_id,
        )
        for row_id, operation, vector, encoding in log:
            yield Logged(row_id, operation, _vector(vector, encoding))

    def rows(
        self, ids: Sequence[str]
    ) -> Iterator[tuple[str, str | None, dict[str, MetadataValue]]]:
        """Id, text and metadata of rows; lists in metadata are left out."""
        for start in range(0, len(ids), _PAGE):
            part = ids[start : start + _PAGE]
            cells = self._database.rows(
                "SELECT e.embedding_id, m.key, m.string_value, m.int_value, m.float_value, "
                "m.bool_value FROM embeddings e LEFT JOIN embedding_metadata m ON m.id = e.id "
                "WHERE e.segment_id = ? "
                "AND e.embedding_id IN (SELECT value FROM json_each(?))",
                self.texts,
                json.dumps(part),
            )
            rows: dict[str, dict[str, MetadataValue]] = {row_id: {} for row_id in part}
            for row_id, key, *values in cells:
                value = next((each for each in values if each is not None), None)
                if value is not None:
                    rows[row_id][key] = bool(value) if values[3] is not None else value
            for row_id, metadata in rows.items():
                document = metadata.pop(_DOCUMENT, None)
                yield row_id, document if isinstance(document, str) else None, metadata

    def _followed(self, ids: set[str], after: int) -> set[str]:
        """The ids after the operations of the log."""
        followed = set(ids)
        for each in self.logged(after):
            if each.operation == _DELETE:
                followed.discard(each.row_id)
            elif each.operation != _UPDATE:
                followed.add(each.row_id)
        return followed


def note_indexed(folder: Path, up_to: Mapping[str, int]) -> None:
    """Note how far indexes have followed the log, so that Chroma does not read it again.

    Nobody may have the path open.

    Args:
        folder: The Chroma path.
        up_to: The number of the last operation of each index, by the name of its folder.
    """
    with closing(sqlite3.connect(folder / DATABASE)) as connection, connection:
        connection.executemany(
            "INSERT INTO max_seq_id (segment_id, seq_id) VALUES (?, ?) "
            "ON CONFLICT (segment_id) DO UPDATE SET seq_id = max(seq_id, excluded.seq_id)",
            list(up_to.items()),
        )


def number(value: int | bytes | None) -> int:
    """The number of an operation."""
    # Versions of Chroma before 1.0 wrote bytes.
    return int.from_bytes(value, "big") if isinstance(value, bytes) else int(value or 0)


def _vector(value: bytes | None, encoding: str | None) -> NDArray[np.float32] | None:
    if value is None:
        return None
    return np.frombuffer(value, dtype="<i4" if encoding == "INT32" else "<f4").astype(np.float32)
