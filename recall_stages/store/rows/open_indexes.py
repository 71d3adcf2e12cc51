"""The row indexes of this process: all stores on one collection share one."""

from __future__ import annotations

import logging
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from recall_stages.store.chroma.follower import Follower, PathFollower
from recall_stages.store.chroma.index import Index
from recall_stages.store.chroma.operations import Operations
from recall_stages.store.chroma.row_fields import OWN_FIELDS
from recall_stages.store.disk.closing import index_root
from recall_stages.store.rows.columns import hashed
from recall_stages.store.rows.row_index import RowIndex

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

_Key = tuple[str, str, str]

_open: dict[_Key, RowIndex] = {}
_holders: dict[_Key, int] = {}
_opening = threading.Lock()


class OpenIndex:
    """A row index that a store holds.

    Args:
        index: The collection, and the form of its rows.
        folder: The Chroma path; None = the collection is not in one.
        alone: Whether nobody else can write to the collection.
        shared: Whether other processes can write to it.

    Attributes:
        rows: The row index.
    """

    def __init__(self, index: Index, folder: Path | None, *, alone: bool, shared: bool) -> None:
        self._key = (str(folder or ""), str(index.collection.id), repr(index.fields))
        with _opening:
            if self._key not in _open:
                _open[self._key] = _made(index, folder, alone=alone, shared=shared)
                _holders[self._key] = 0
            _holders[self._key] += 1
            self.rows = _open[self._key]

    def close(self) -> None:
        """Let it go; the last store of this process closes it."""
        with _opening:
            _holders[self._key] -= 1
            last = not _holders[self._key]
            if last:
                del _open[self._key], _holders[self._key]
        if last:
            self.rows.close()


def indexes_of(collection: Collection, folder: Path | None) -> list[RowIndex]:
    """The row indexes that have to know what is written to a collection.

    Args:
        collection: The collection.
        folder: The Chroma path; None = not known.
    """
    with _opening:
        return [
            rows
            for (place, row_id, _), rows in _open.items()
            if row_id == str(collection.id) and (folder is None or place in ("", str(folder)))
        ]


def _made(index: Index, folder: Path | None, *, alone: bool, shared: bool) -> RowIndex:
    if folder is not None:
        try:
            operations = Operations(folder, str(index.collection.id))
        except (OSError, ValueError, sqlite3.Error) as error:
            _log.warning("the row index of %s is kept in memory: %r", folder, error)
        else:
            name = str(index.collection.id)
            if index.fields != OWN_FIELDS:
                name = f"{name}-{hashed(repr(index.fields)):016x}"
            return RowIndex(index, PathFollower(index, operations), index_root(folder) / name)
    return RowIndex(index, Follower(index, alone=alone, shared=shared), None)
