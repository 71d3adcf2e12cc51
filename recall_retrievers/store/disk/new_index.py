"""An index built by Chroma itself, in a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.disk.database import close_client, open_database
from recall_retrievers.store.disk.index_files import unlinked_rows
from recall_retrievers.store.disk.index_layout import Layout
from recall_retrievers.store.disk.tables import Tables

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_BATCH = 250  # rows a call
_SAVED = 10_000  # rows between two saves; Chroma reads the log of what is not saved at each call
_TRIES = 5  # at linking a row to which no other leads; one nearly always does
_NAME = "new-index"


class NewIndex:
    """An index that Chroma writes; it is saved as a whole at the end of the ``with`` block.

    Args:
        path: An empty folder to work in.
        settings: Chroma's settings of the index: its space, its neighbours and so on.
        layout: The layout of the index.
        rows: How many vectors will be added.

    Attributes:
        folder: The files of the index, after the ``with`` block.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], layout: Layout, rows: int) -> None:
        self._path = path
        self._layout = layout
        self._saved_each = max(2, min(rows, _SAVED))
        self._settings = {
            "space": settings["space"],
            "ef_construction": settings["ef_construction"],
            "ef_search": settings["ef_search"],
            "max_neighbors": layout.neighbours,
            "sync_threshold": self._saved_each,
        }
        self._unsaved = 0  # operations since Chroma has saved
        self._last: list[str] = []  # the ids that were added last
        self.folder = path

    def __enter__(self) -> Self:
        self._client = _client(self._path)
        configuration: Any = {"hnsw": self._settings}
        self._collection = self._client.create_collection(
            _NAME, configuration=configuration, embedding_function=None
        )
        return self

    def add(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add vectors under new ids."""
        for start in range(0, len(ids), _BATCH):
            part = list(ids[start : start + _BATCH])
            self._collection.add(ids=part, embeddings=vectors[start : start + _BATCH])
            self._last = [*self._last, *part][-_SAVED:]
            self._count(len(part))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None and self._last:
                self._finish()
        finally:
            close_client(self._client)

    def _finish(self) -> None:
        """Save, and add rows again to which no other row links."""
        self._save()
        with closing(open_database(self._path)) as database:
            tables = Tables(database, str(self._collection.id))
            self.folder = self._path / tables.index_folder
        for _ in range(_TRIES):
            if not (unlinked := unlinked_rows(self.folder, self._layout)):
                break
            self._add_anew(unlinked)
            self._save()

    def _add_anew(self, ids: list[str]) -> None:
        """Take rows out and add them one by one."""
        for row_id in ids:
            vectors = self._collection.get(ids=[row_id], include=["embeddings"])["embeddings"]
            self._collection.delete(ids=[row_id])
            self._count(1)
            self._collection.add(ids=[row_id], embeddings=vectors)
            self._count(1)

    def _save(self) -> None:
        """Make Chroma save what is in its memory and its log.

        It has no call for that, but saves after a number of operations. Updates of metadata count
        as well, and leave the index as it is.
        """
        while self._unsaved:
            ids = self._last[: min(_BATCH, self._saved_each - self._unsaved)]
            self._collection.update(ids=ids, metadatas=[{"saved": self._unsaved}] * len(ids))
            self._count(len(ids))

    def _count(self, operations: int) -> None:
        self._unsaved += operations
        if self._unsaved >= self._saved_each:
            self._unsaved = 0


def _client(path: Path) -> ClientAPI:
    import chromadb  # noqa: PLC0415 - a second to import, so only once a store is repaired

    return chromadb.PersistentClient(str(path))
