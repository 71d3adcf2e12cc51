"""Checks of a path: of each index before Chroma's engine reads it, and of all files on request.

A layout that is known and torn is an error. One that is not known, as of a newer Chroma, is left
alone: Chroma reads it without a check.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from recall_retrievers.core.errors import (
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.database import (
    Tables,
    UnknownLayoutError,
    close_client,
    open_database,
)
from recall_retrievers.store.chroma.errors import CURE, guarded
from recall_retrievers.store.chroma.place import HeldPath, check_database, hold, path_client
from recall_retrievers.store.chroma.watch import DATABASE
from recall_retrievers.store.doctor.index_files import (
    FILES,
    NAMES,
    DamagedIndexError,
    check_files,
    layout_of,
)
from recall_retrievers.store.rows.closing import changed_files, note_files, own_folder
from recall_retrievers.store.rows.row_index import DAMAGED, is_torn, open_table

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

_SAVING = 0.5  # seconds; a save of 100,000 rows takes 0.2


def examine(held: HeldPath | None, collection: Collection) -> None:
    """Check the index of a collection that is being opened, once for all stores of this process.

    Of files that have not changed since the path was closed, only the checksums are compared,
    which takes a tenth of the time.
    """
    if held is None or str(collection.id) in held.at_close:
        return
    path, seen = held.folder, None
    try:
        with closing(Tables(path, str(collection.id))) as tables:
            index = path / tables.index_folder
            while fault := fault_of(path, collection, tables, trusting=True):
                # A thread of this program may be saving it through a client of its own.
                before, seen = seen, [_changed(index / name) for name in FILES]
                if before == seen:
                    raise StoreDamagedError(
                        f"the index of collection {collection.name!r} in {path} is damaged: "
                        f"{fault}. Usually a process was killed while Chroma saved the index. The "
                        f"texts of all {len(tables.row_ids())} rows are intact. Close the path "
                        f"everywhere and run `recall repair {path}`, or "
                        f"RecallStore.repair({str(path)!r})"
                    )
                time.sleep(_SAVING)
        held.at_close[str(collection.id)] = partial(note_index, path, index.name)
    except UnknownLayoutError as unknown:
        _log.warning(
            "the index of collection %r in %s is not checked before Chroma reads it: %s",
            collection.name,
            path,
            unknown,
        )
        held.at_close[str(collection.id)] = lambda: None  # and nothing is noted of it


def _changed(file: Path) -> int:
    return file.stat().st_mtime_ns if file.exists() else 0


def fault_of(
    path: Path, collection: Collection, tables: Tables, *, trusting: bool = False
) -> str | None:
    """The fault of the index of a collection; None = there is none.

    If ``trusting``, files that are as they were when the path was closed are taken for whole.
    """
    folder = path / tables.index_folder
    layout = layout_of(folder, collection, tables)
    if layout is None:
        return None
    changed = changed_files(_note(path, tables.index_folder), folder)
    for name, by_others in (changed or {}).items():
        if not by_others:
            return f"{name} has other bytes than when the path was closed"
    if trusting and changed == {}:
        return None
    try:
        # Without its names Chroma takes an index for a new one, and makes it from the log.
        saved = check_files(folder, layout) if (folder / NAMES).exists() else set()
    except DamagedIndexError as error:
        return str(error)
    expected, there = tables.row_ids(), tables.indexed(saved)
    if lost := len(expected - there):
        return f"{lost} of {len(expected)} rows have no vector in it"
    deleted = len(there - expected)
    return f"it holds {deleted} rows that were deleted" if deleted else None


def note_index(path: Path, index_folder: str) -> None:
    """Note the bytes of an index that is whole, when its path has been closed."""
    note_files(_note(path, index_folder), path / index_folder, FILES)


def _note(path: Path, index_folder: str) -> Path:
    return own_folder(path) / f"{index_folder}.json"


# -- all files ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found in one collection, or in the database of all of them.

    Attributes:
        name: The collection; "chroma.sqlite3" for the database.
        rows: How many rows it holds; 0 where that cannot be read.
        faults: What is damaged, and what to do about it; empty = all is whole.
        unknown: Why Chroma's index was not checked: another version made it. None = it was.
    """

    name: str
    rows: int
    faults: tuple[str, ...] = ()
    unknown: str | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged."""
        return not self.faults

    def __str__(self) -> str:
        found = f"damaged: {'; '.join(self.faults)}" if self.faults else "whole"
        if self.unknown is not None:
            found += f"; Chroma's index was not checked: {self.unknown}"
        return f"{self.name}: {memories(self.rows)}, {found}"


def memories(count: int) -> str:
    """A number of memories in words.

    Examples:
        >>> memories(1), memories(2)
        ('1 memory', '2 memories')
    """
    return f"{count} {'memory' if count == 1 else 'memories'}"


def check_path(path: str | Path) -> list[Checked]:
    """Check every collection in a path; see `RecallStore.check`."""
    with alone(path, "check") as (folder, client):
        try:
            faults = _faults_of_database(folder)
        except StoreUnavailableError:  # a write was killed: Chroma takes it back
            close_client(client())
            faults = _faults_of_database(folder)
        if faults:
            return [Checked(DATABASE, 0, faults)]
        opened = client()
        try:
            return [_checked(folder, each) for each in opened.list_collections()]
        finally:
            close_client(opened)


@contextmanager
def alone(path: str | Path, task: str) -> Iterator[tuple[Path, Callable[[], ClientAPI]]]:
    """A path that nobody else has open, and what makes a client of it."""
    folder = Path(os.path.realpath(path))
    if not folder.is_dir():
        raise StoreError(f"there is no folder {path} to {task}")
    check_database(folder)
    if not (folder / DATABASE).exists():
        raise StoreError(f"{path} is no folder of Chroma: it has no {DATABASE}")
    held = hold(folder, str(folder))
    try:
        if not held.is_last:
            raise StoreLockedError(f"{path} is open in this program; close its stores first")
        yield folder, partial(path_client, folder, held.stuck)
    finally:
        held.close()


def _faults_of_database(path: Path) -> tuple[str, ...]:
    try:
        with closing(open_database(path)) as database:
            [[found]] = database.rows("PRAGMA quick_check(1)")
    except StoreDamagedError as error:
        return (str(error),)
    except UnknownLayoutError:
        return ()
    return () if found == "ok" else (f"{found}. {CURE}",)


def _checked(path: Path, collection: Collection) -> Checked:
    """The state of the files of one collection."""
    faults, unknown, rows = list[str](), None, 0
    try:
        with closing(Tables(path, str(collection.id))) as tables:
            rows = len(tables.row_ids())
            found = [fault_of(path, collection, tables)]
            if waiting := ", ".join(map(got, tables.too_large())):
                found.append(f"Chroma cannot store {waiting} of its log, nor what came after it")
            faults += [f"{fault}; run `recall repair {path}`" for fault in found if fault]
    except UnknownLayoutError as error:
        unknown = str(error)
    try:
        if not faults and unknown is None:
            guarded(collection, Event()).get(limit=1, include=[])
    except StoreError as error:
        faults.append(str(error))
    if any(map(torn, own_folder(path).glob(f"{collection.id}*"))):
        faults.append(
            "the row index has other bytes than were written; it is mended when the path is opened"
        )
    return Checked(collection.name, rows, tuple(faults), unknown)


def torn(root: Path) -> bool:
    """Whether files of a row index have other bytes than were written."""
    try:
        table = open_table(root, lambda _: None)
    except DAMAGED:
        return True
    with closing(table):
        return bool(len(table.torn_vectors())) or (table.as_closed and is_torn(root, large=True))
