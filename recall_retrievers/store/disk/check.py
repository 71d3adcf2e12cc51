"""Checks of the files of a path, before Chroma's engine reads them.

A layout that is known and torn is an error. One that is not known, as of a newer Chroma, is left
alone: Chroma reads it without a check.
"""

from __future__ import annotations

import logging
import re
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from recall_retrievers.core.errors import StoreDamagedError
from recall_retrievers.store.disk.closing import State, index_folders, is_as_closed, state
from recall_retrievers.store.disk.database import CURE, DATABASE, open_database
from recall_retrievers.store.disk.index_files import check_files
from recall_retrievers.store.disk.index_layout import (
    NAMES,
    DamagedIndexError,
    Layout,
    UnknownLayoutError,
    layout_of,
)
from recall_retrievers.store.disk.tables import Tables

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

_SAVING = 0.5  # seconds; a save of 100,000 rows takes 0.2
_TESTED = (1, 5)  # the newest minor version of chromadb whose files were tested
_MAGIC = b"SQLite format 3\x00"


def check_database(path: Path) -> None:
    """Check that a Chroma path with indexes has its database.

    Call it before Chroma opens the path: if there is no database, Chroma makes an empty one.

    Raises:
        StoreDamagedError: When the database is missing, or is something else.
    """
    if not path.is_dir():
        return
    try:
        with closing(open_database(path)) as database:
            # Read once: another store of this program may be making it.
            head = database.head(len(_MAGIC))
    except FileNotFoundError:
        head = b""
    if head != _MAGIC:
        if not head and not index_folders(path):
            return  # nothing was ever stored here
        raise StoreDamagedError(
            f"{path} held memories, but its {DATABASE} is {'no database' if head else 'empty'}. "
            f"{CURE}. To begin anew, move the folder away"
        )


def check_version() -> None:
    """Check that the files of this version of chromadb are known.

    Raises:
        UnknownLayoutError: When it is newer than what was tested.
    """
    import chromadb  # noqa: PLC0415 - a second to import

    version = tuple(map(int, re.findall(r"\d+", chromadb.__version__)[:2]))
    if version > _TESTED:
        raise UnknownLayoutError(
            f"chromadb {chromadb.__version__} is newer than {'.'.join(map(str, _TESTED))}, whose "
            "files are known"
        )


def check_collection(path: Path, collection: Collection) -> str:
    """Check that the index of a collection is whole, and has a vector for every row.

    Of files that have not changed since the path was closed, only the checksums are compared,
    which takes a tenth of the time.

    Args:
        path: The Chroma path.
        collection: Chroma's own object, before anything was read of it.

    Returns:
        The name of the folder of its index; empty = its layout is not known.

    Raises:
        StoreDamagedError: When the index is not whole, with the command that repairs it.
    """
    seen: State | None = None
    with closing(open_database(path)) as database:
        while True:
            try:
                check_version()
                tables = Tables(database, str(collection.id))
                layout = layout_in(path, collection, tables)
                folder = path / tables.index_folder
                now = state(folder)
                fault = None if layout is None else fault_of(folder, tables, layout, trusting=True)
            except UnknownLayoutError as unknown:
                _log.warning(
                    "the index of collection %r in %s is not checked before Chroma reads it: %s",
                    collection.name,
                    path,
                    unknown,
                )
                return ""
            if fault is None:
                return folder.name
            if seen == now:
                raise _damaged(path, collection.name, fault, len(tables.row_ids()))
            # A thread of this program may be saving it through a client of its own: look again.
            seen = now
            time.sleep(_SAVING)


def fault_of(folder: Path, tables: Tables, layout: Layout, *, trusting: bool = False) -> str | None:
    """The fault of the index of a collection; None = there is none.

    Args:
        folder: The folder of the index, which need not be there.
        tables: The collection in the SQLite file.
        layout: How rows lie in the index.
        trusting: Whether files that are as they were when the path was closed are taken for whole.
    """
    try:
        if is_as_closed(folder) and trusting:
            return None
        # Without its names Chroma takes an index for a new one, and makes it from the log.
        saved = check_files(folder, layout) if (folder / NAMES).exists() else set()
    except DamagedIndexError as error:
        return str(error)
    expected, there = tables.row_ids(), tables.indexed(saved)
    if lost := len(expected - there):
        return f"{lost} of {len(expected)} rows have no vector in it"
    deleted = len(there - expected)
    return f"it holds {deleted} rows that were deleted" if deleted else None


def layout_in(path: Path, collection: Collection, tables: Tables) -> Layout | None:
    """The layout of a collection's index; None where it has no vectors yet.

    Raises:
        UnknownLayoutError: When another version of Chroma made it.
    """
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
