"""The row indexes of this process: all stores on one collection share one."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recall_stages.core.scope import Scope
from recall_stages.core.stage import Search
from recall_stages.store.chroma.index import Index
from recall_stages.store.disk.closing import index_root
from recall_stages.store.disk.operations import Operations
from recall_stages.store.rows.cache import Cache
from recall_stages.store.rows.columns import hashed
from recall_stages.store.rows.follower import Follower, PathFollower
from recall_stages.store.rows.row_index import RowIndex
from recall_stages.store.rows.scoped_rows import ScopedRows, ServerRows

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

Rows = RowIndex | ScopedRows
"""The row index of a collection, or those of its scopes."""

_Key = tuple[str, str, str, str]

_open: dict[_Key, Rows] = {}
_holders: dict[_Key, int] = {}
_opening = threading.Lock()


class OpenIndex:
    """The row index that a store holds; of a collection on a server, one for each scope.

    Args:
        index: The collection, and the form of its rows.
        folder: The Chroma path; None = the collection is not in one.
        alone: Whether nobody else can write to the collection.
        kept: What is kept of it here.
        shared: Whether other processes can write to it.
    """

    def __init__(
        self, index: Index, folder: Path | None, kept: ServerRows, *, alone: bool, shared: bool
    ) -> None:
        server = kept if shared else None
        known_as = (str(folder or ""), str(index.collection.id))
        self._key = (*known_as, repr((index.fields, index.foreign)), repr(server))
        with _opening:
            if self._key not in _open:
                _open[self._key] = _made(index, folder, kept, alone=alone, shared=shared)
                _holders[self._key] = 0
            _holders[self._key] += 1
            self._rows = _open[self._key]

    @property
    def by_scope(self) -> bool:
        """Whether each scope has a row index of its own, and the whole collection none."""
        return isinstance(self._rows, ScopedRows)

    def parts(self, searches: Sequence[Search]) -> list[Scope]:
        """The scopes to which searches belong, of those that have a row index of their own."""
        if isinstance(self._rows, ScopedRows):
            return list(dict.fromkeys(search.scope for search in searches))
        return [Scope()]

    @contextmanager
    def using(self, scope: Scope) -> Iterator[RowIndex]:
        """The row index of a scope, for one question."""
        if isinstance(self._rows, ScopedRows):
            with self._rows.using(scope) as rows:
                yield rows
        else:
            yield self._rows

    def close(self) -> None:
        """Let it go; the last store of this process closes it."""
        with _opening:
            _holders[self._key] -= 1
            last = not _holders[self._key]
            if last:
                del _open[self._key], _holders[self._key]
        if last:
            self._rows.close()


def indexes_of(collection: Collection, folder: Path | None) -> list[Rows]:
    """The row indexes that have to know what is written to a collection.

    Args:
        collection: The collection.
        folder: The Chroma path; None = not known.
    """
    with _opening:
        return [
            rows
            for (place, row_id, *_), rows in _open.items()
            if row_id == str(collection.id) and (folder is None or place in ("", str(folder)))
        ]


def _made(
    index: Index, folder: Path | None, kept: ServerRows, *, alone: bool, shared: bool
) -> Rows:
    if folder is not None:
        try:
            operations = Operations(folder, str(index.collection.id))
        except (OSError, ValueError, sqlite3.Error) as error:
            _log.warning("the row index of %s is kept in memory: %r", folder, error)
        else:
            root = index_root(folder) / _name(index)
            return RowIndex(index, PathFollower(index, operations), root, Cache(kept.cache))
    if shared:
        return ScopedRows(index, kept, _name(index))
    follower = Follower(index, alone=alone)
    return RowIndex(index, follower, None, Cache(kept.cache))


def _name(index: Index) -> str:
    name = str(index.collection.id)
    return f"{name}-{hashed(repr(index.fields)):016x}" if index.foreign else name
