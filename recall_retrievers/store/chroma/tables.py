"""A collection in Chroma's SQLite file, read without its engine.

Chroma (1.5.9) writes an operation to a log first, then to the tables of texts, then to the index of
vectors. It numbers every operation, whoever writes, and whether a row is added, replaced, updated
or deleted. It notes the last one of each row and of both parts, and purges the log up to there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.store.chroma.database import UnknownLayoutError, open_database
from recall_retrievers.store.chroma.fields import Row

_DELETE = 3  # Chroma's number for the operation; 0 = add, 1 = update, 2 = upsert
_UPDATE = 1
_DOCUMENT = "chroma:document"
_PAGE = 500  # rows a statement


class Tables:
    """One collection in the SQLite file, until it is closed.

    Args:
        folder: The Chroma path.
        collection_id: Chroma's own id of the collection.

    Attributes:
        index_folder: The name of the folder of its index.

    Raises:
        OSError: When there is no such file.
        UnknownLayoutError: When Chroma keeps the collection in other tables; later calls as well.
        StoreError: When the file is damaged, or cannot be read at this moment; later calls as well.
    """

    def __init__(self, folder: Path, collection_id: str) -> None:
        self._database = open_database(folder)
        self._collection_id = collection_id
        try:
            query = "SELECT scope, id FROM segments WHERE collection = ?"
            parts: dict[str, str] = dict(self._database.rows(query, collection_id))
            if parts.keys() != {"VECTOR", "METADATA"}:
                raise UnknownLayoutError(f"the collection has the parts {sorted(parts)}")  # noqa: TRY301 - closed below
        except BaseException:
            self.close()
            raise
        self.index_folder, self._texts = parts["VECTOR"], parts["METADATA"]

    def counter(self) -> int:
        """A number that changes with every transaction on the file; it takes a microsecond."""
        return self._database.counter()

    def position(self) -> int:
        """The number of the last operation that the texts have followed."""
        return self._up_to(self._texts)

    def indexed_up_to(self) -> int:
        """The number of the last operation that the files of the index have followed."""
        return self._up_to(self.index_folder)

    def _up_to(self, part: str) -> int:
        rows = self._database.rows("SELECT seq_id FROM max_seq_id WHERE segment_id = ?", part)
        value = rows[0][0] if rows else 0
        # Versions of Chroma before 1.0 wrote bytes.
        return int.from_bytes(value, "big") if isinstance(value, bytes) else int(value or 0)

    def dimension(self) -> int | None:
        """The length of its vectors; None before the first was stored."""
        query = "SELECT dimension FROM collections WHERE id = ?"
        [[dimension]] = self._database.rows(query, self._collection_id)
        return None if dimension is None else int(dimension)

    def count(self) -> int:
        """How many rows have a text."""
        query = "SELECT count(*) FROM embeddings WHERE segment_id = ?"
        return int(self._database.rows(query, self._texts)[0][0])

    def row_ids(self) -> set[str]:
        """The ids of its rows after Chroma has followed the log."""
        query = "SELECT embedding_id FROM embeddings WHERE segment_id = ?"
        stored = {row_id for (row_id,) in self._database.rows(query, self._texts)}
        return self._followed(stored, self.position())

    def indexed(self, saved: set[str]) -> set[str]:
        """The ids of the rows in its index after Chroma has followed the log.

        Args:
            saved: The ids of the rows in the files of the index.
        """
        return self._followed(saved, self.indexed_up_to())

    def since(self, position: int) -> list[str]:
        """The ids of the rows whose texts were written after an operation, in that order."""
        rows = self._database.rows(
            "SELECT embedding_id FROM embeddings WHERE segment_id = ? "
            "AND typeof(seq_id) = 'integer' AND seq_id > ? ORDER BY seq_id",
            self._texts,
            position,
        )
        return [str(row_id) for (row_id,) in rows]

    def logged(self, after: int) -> list[tuple[str, int]]:
        """The row and the kind of each operation that is still in the log, the oldest first.

        Those after `position` are not done yet, as after a kill. Chroma does them when the
        collection is next read.
        """
        return self._database.rows(
            "SELECT id, operation FROM embeddings_queue "
            "WHERE seq_id > ? AND topic LIKE '%/' || ? ORDER BY seq_id",
            after,
            self._collection_id,
        )

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        """Rows by their id; lists in metadata are left out."""
        for start in range(0, len(ids), _PAGE):
            part = ids[start : start + _PAGE]
            cells = self._database.rows(
                "SELECT e.embedding_id, m.key, m.string_value, m.int_value, m.float_value, "
                "m.bool_value FROM embeddings e LEFT JOIN embedding_metadata m ON m.id = e.id "
                "WHERE e.segment_id = ? AND e.embedding_id IN (SELECT value FROM json_each(?))",
                self._texts,
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

    def close(self) -> None:
        """Let the file go."""
        self._database.close()

    def _followed(self, ids: set[str], after: int) -> set[str]:
        """The ids after the operations of the log."""
        followed = set(ids)
        for row_id, operation in self.logged(after):
            if operation == _DELETE:
                followed.discard(row_id)
            elif operation != _UPDATE:
                followed.add(row_id)
        return followed
