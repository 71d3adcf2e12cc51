"""Checks of the files of a path, before Chroma's engine reads them."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING

from recall_stages.core.errors import StoreDamagedError
from recall_stages.store.disk.closing import State, index_folders, is_as_closed, state
from recall_stages.store.disk.index_files import check_files
from recall_stages.store.disk.index_layout import NAMES, DamagedIndexError, Layout, layout_of
from recall_stages.store.disk.tables import DATABASE, MAGIC, Tables, database_head, open_tables

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_SAVING = 0.5  # seconds; a save of 100,000 rows takes 0.2


def check_database(path: Path) -> None:
    """Check that a Chroma path with indexes has its database.

    Call it before Chroma opens the path: if there is no database, Chroma makes an empty one.

    Raises:
        StoreDamagedError: When the database is missing, or is something else.
    """
    if not path.is_dir():
        return
    head = database_head(path)  # read once: another store of this program may be making it
    if head != MAGIC:
        if not head and not index_folders(path):
            return  # nothing was ever stored here
        raise StoreDamagedError(
            f"{path} held memories, but its {DATABASE} is {'no database' if head else 'empty'}. "
            f"Chroma keeps all texts in that file: put it back from a backup. To begin anew, "
            f"move the folder away"
        )


def check_collection(path: Path, collection: Collection) -> None:
    """Check that the index of a collection is whole, and has a vector for every row.

    Files that have not changed since the path was closed are not checked again. At 100,000 rows a
    check takes half a second.

    Args:
        path: The Chroma path.
        collection: Chroma's own object, before anything was read of it.

    Raises:
        StoreDamagedError: When the index is not whole, with the command that repairs it.
    """
    seen: State | None = None
    while True:
        try:
            with open_tables(path) as connection:
                tables = Tables(connection, str(collection.id))
                folder = path / tables.index_folder
                layout = layout_in(path, collection, tables)
                if layout is None or is_as_closed(folder):
                    return
                now = state(folder)
                fault = fault_of(folder, tables, layout)
                if fault is None:
                    return
                if seen == now:
                    raise _damaged(path, collection.name, fault, len(tables.row_ids()))
        except sqlite3.Error as error:
            raise unreadable(path, error) from error
        # A thread of this program may be saving it through a client of its own: look again.
        seen = now
        time.sleep(_SAVING)


def fault_of(folder: Path, tables: Tables, layout: Layout) -> str | None:
    """The fault of the index of a collection; None = there is none.

    Args:
        folder: The folder of the index, which need not be there.
        tables: The collection in the SQLite file.
        layout: How rows lie in the index.
    """
    expected = tables.row_ids()
    saved: set[str] = set()
    # Without its names Chroma takes an index for a new one, and makes it from the log.
    if (folder / NAMES).exists():
        try:
            saved = check_files(folder, layout)
        except DamagedIndexError as error:
            return str(error)
    there = tables.indexed(saved)
    if lost := len(expected - there):
        return f"{lost} of {len(expected)} rows have no vector in it"
    deleted = len(there - expected)
    return f"it holds {deleted} rows that were deleted" if deleted else None


def layout_in(path: Path, collection: Collection, tables: Tables) -> Layout | None:
    """The layout of a collection's index; None where it has no vectors yet."""
    dimension = tables.dimension
    settings = collection.configuration_json.get("hnsw")
    if dimension is None or settings is None:
        return None
    return layout_of(
        path / tables.index_folder,
        dimension,
        neighbours=settings["max_neighbors"],
        normalised=settings["space"] == "cosine",
    )


def _damaged(path: Path, name: str, fault: str, rows: int) -> StoreDamagedError:
    return StoreDamagedError(
        f"the index of collection {name!r} in {path} is damaged: {fault}. Usually a process was "
        f"killed while Chroma saved the index. The texts of all {rows} rows are intact. Close the "
        f"path everywhere and run `recall repair {path}`, or RecallStore.repair({str(path)!r})"
    )


def unreadable(path: Path, error: Exception) -> StoreDamagedError:
    """The error for a database that SQLite cannot read."""
    return StoreDamagedError(
        f"{path / DATABASE} cannot be read: {error}. Chroma keeps all texts in that file: put it "
        "back from a backup, or try the command `.recover` of SQLite on a copy of it"
    )
