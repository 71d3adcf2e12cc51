"""The number of the last operation on a collection in a path, read from Chroma's SQLite file.

Chroma numbers every operation, and notes the last one of a collection and of each row: whoever
writes, and whether a row is added, replaced, updated or deleted. The file's own change counter says
in a microsecond whether anything was written at all.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from recall_stages.store.disk.tables import DATABASE, number

_COUNTER = 24  # where SQLite's header has the change counter
_JOURNAL = 18  # and how changes are written; 1 = with a rollback journal
_TRIES = 200
_PAUSE = 0.005  # seconds: a commit takes a few milliseconds


class Operations:
    """Reads the numbers of operations on one collection.

    Chroma has a copy of SQLite of its own, whose locks this one does not see. So nothing is read
    while a transaction is being written: its journal is there, or the counter changes.

    Args:
        folder: The Chroma path.
        collection_id: Chroma's own id of the collection.

    Raises:
        sqlite3.Error: When the file cannot be read like this.
    """

    def __init__(self, folder: Path, collection_id: str) -> None:
        self._file = (folder / DATABASE).open("rb", buffering=0)
        self._journal = folder / f"{DATABASE}-journal"
        self._lock = threading.Lock()
        uri = (folder / DATABASE).resolve().as_uri() + "?mode=ro"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            segment = self._found(collection_id)
        except BaseException:
            self.close()
            raise
        self._segment = segment
        self._collection_id = collection_id

    def counter(self) -> int:
        """A number that changes with every transaction on the file."""
        with self._lock:
            return self._header(_COUNTER, 4)

    def position(self) -> int:
        """The number of the last operation on the collection."""
        rows = self._read("SELECT seq_id FROM max_seq_id WHERE segment_id = ?", self._segment)
        return number(rows[0][0]) if rows else 0

    def wait_in_the_queue(self) -> bool:
        """Whether operations were taken on that are not done yet, as after a kill between the two.

        Chroma does them when the collection is next read.
        """
        query = "SELECT 1 FROM embeddings_queue WHERE seq_id > ? AND topic LIKE ? LIMIT 1"
        return bool(self._read(query, self.position(), f"%{self._collection_id}"))

    def since(self, position: int) -> list[str]:
        """The ids of the rows that were written after an operation, in that order."""
        rows = self._read(
            "SELECT embedding_id FROM embeddings WHERE segment_id = ? "
            "AND typeof(seq_id) = 'integer' AND seq_id > ? ORDER BY seq_id",
            self._segment,
            position,
        )
        return [str(row_id) for (row_id,) in rows]

    def count(self) -> int:
        """How many rows the collection has."""
        [[count]] = self._read(
            "SELECT count(*) FROM embeddings WHERE segment_id = ?", self._segment
        )
        return int(count)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self._file.close()

    def _found(self, collection_id: str) -> str:
        if self._header(_JOURNAL, 1) != 1:
            raise sqlite3.NotSupportedError("the file has no rollback journal")
        [[segment]] = self._read(
            "SELECT id FROM segments WHERE collection = ? AND scope = 'METADATA'", collection_id
        )
        return str(segment)

    def _read(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        with self._lock:
            for _ in range(_TRIES):
                before = self._header(_COUNTER, 4)
                with suppress(sqlite3.OperationalError):
                    rows = self._connection.execute(query, values).fetchall()
                    if not self._journal.exists() and self._header(_COUNTER, 4) == before:
                        return rows
                time.sleep(_PAUSE)
            return self._connection.execute(query, values).fetchall()

    def _header(self, start: int, length: int) -> int:
        self._file.seek(start, os.SEEK_SET)
        return int.from_bytes(self._file.read(length), "big")
