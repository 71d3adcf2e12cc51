"""The number of the last operation on a collection in a path, read from Chroma's SQLite file.

Chroma numbers every operation, and notes the last one of a collection and of each row: whoever
writes, and whether a row is added, replaced, updated or deleted. The file's own change counter says
in a microsecond whether anything was written at all.
"""

from __future__ import annotations

from pathlib import Path

from recall_retrievers.store.disk.database import open_database
from recall_retrievers.store.disk.tables import Tables, number


class Operations:
    """Reads the numbers of operations on one collection.

    Args:
        folder: The Chroma path.
        collection_id: Chroma's own id of the collection.

    Raises:
        OSError: When there is no such file.
        UnknownLayoutError: When Chroma keeps the collection in another way.
        StoreError: When the file is damaged, or cannot be read at this moment.
    """

    def __init__(self, folder: Path, collection_id: str) -> None:
        self._database = open_database(folder)
        self._collection_id = collection_id
        try:
            self._segment = Tables(self._database, collection_id).texts
        except BaseException:
            self.close()
            raise

    def counter(self) -> int:
        """A number that changes with every transaction on the file."""
        return self._database.counter()

    def position(self) -> int:
        """The number of the last operation on the collection."""
        rows = self._database.rows(
            "SELECT seq_id FROM max_seq_id WHERE segment_id = ?", self._segment
        )
        return number(rows[0][0]) if rows else 0

    def wait_in_the_queue(self) -> bool:
        """Whether operations were taken on that are not done yet, as after a kill between the two.

        Chroma does them when the collection is next read.
        """
        query = "SELECT 1 FROM embeddings_queue WHERE seq_id > ? AND topic LIKE ? LIMIT 1"
        return bool(self._database.rows(query, self.position(), f"%{self._collection_id}"))

    def since(self, position: int) -> list[str]:
        """The ids of the rows that were written after an operation, in that order."""
        rows = self._database.rows(
            "SELECT embedding_id FROM embeddings WHERE segment_id = ? "
            "AND typeof(seq_id) = 'integer' AND seq_id > ? ORDER BY seq_id",
            self._segment,
            position,
        )
        return [str(row_id) for (row_id,) in rows]

    def count(self) -> int:
        """How many rows the collection has."""
        [[count]] = self._database.rows(
            "SELECT count(*) FROM embeddings WHERE segment_id = ?", self._segment
        )
        return int(count)

    def close(self) -> None:
        """Let the file go."""
        self._database.close()
