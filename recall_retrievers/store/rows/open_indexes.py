"""The row indexes of this process: all stores on one collection share one."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from recall_retrievers.core.errors import StoreUnavailableError
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.disk.closing import index_root
from recall_retrievers.store.disk.index_layout import UnknownLayoutError
from recall_retrievers.store.disk.operations import Operations
from recall_retrievers.store.rows.cache import Cache
from recall_retrievers.store.rows.database import hashed
from recall_retrievers.store.rows.follower import Follower, PathFollower
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.scope_follower import ScopeFollower
from recall_retrievers.store.rows.scoped_rows import ScopedRows, ServerRows, folder_of, held

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as ChromaCollection

_log = logging.getLogger(__name__)

_Key = tuple[str, str, str, str]

_open: dict[_Key, ScopedRows] = {}
_opening = threading.Lock()


def open_rows(
    index: Collection, folder: Path | None, kept: ServerRows, *, alone: bool, shared: bool
) -> ScopedRows:
    """The row indexes of a collection, for one more store; see `let_go`.

    Args:
        index: The collection, and the form of its rows.
        folder: The Chroma path; None = the collection is not in one.
        kept: What is kept of it here.
        alone: Whether nobody else can write to the collection.
        shared: Whether other processes can write to it.
    """
    form = repr((index.fields, index.foreign))
    key = str(folder or ""), str(index.chroma.id), form, repr(kept if shared else None)
    with _opening:
        if key not in _open:
            _open[key] = _made(index, folder, kept, alone=alone, shared=shared)
        _open[key].holders += 1
        return _open[key]


def let_go(rows: ScopedRows) -> None:
    """Let row indexes go; for the last store of this process they are closed."""
    with _opening:
        rows.holders -= 1
        last = not rows.holders
        for key in [key for key, each in _open.items() if last and each is rows]:
            del _open[key]
    if last:
        rows.close()


def indexes_of(collection: ChromaCollection, folder: Path | None) -> list[ScopedRows]:
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
    index: Collection, folder: Path | None, kept: ServerRows, *, alone: bool, shared: bool
) -> ScopedRows:
    cache = Cache(round(1e6 * kept.cache_mb))
    if folder is not None:
        try:
            operations = Operations(folder, str(index.chroma.id))
        except (OSError, UnknownLayoutError, StoreUnavailableError) as error:
            _log.warning("the row index of %s is kept in memory: %r", folder, error)
        else:
            follower, root = PathFollower(index, operations), index_root(folder) / _name(index)
            return ScopedRows(lambda _: RowIndex(index, follower, root, cache))
    if not shared:
        return ScopedRows(lambda _: RowIndex(index, Follower(index, alone=alone), None, cache))
    server, lock = held(kept.index_dir / _name(index)) if kept.index_dir else (None, None)

    def made(scope: Scope) -> RowIndex:
        return RowIndex(index, ScopeFollower(index, scope), folder_of(server, scope), cache)

    return ScopedRows(made, kept.index_rows, lock)


def _name(index: Collection) -> str:
    name = str(index.chroma.id)
    return f"{name}-{hashed(repr(index.fields)):016x}" if index.foreign else name
