"""Check of all files of a path, and repair of a damaged index.

A repair builds a new index in a folder of its own, from the vectors that are left and the texts.
It replaces the damaged one by two renames. The texts are never written. So a repair that is killed
loses nothing: run it again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import (
    EmbeddingMismatchError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.store.chroma.fields import OWN_FIELDS
from recall_retrievers.store.chroma.place import hold, path_client
from recall_retrievers.store.chroma.rows import to_candidate
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.disk.check import check_database, check_version, fault_of, layout_in
from recall_retrievers.store.disk.closing import index_folders, index_root, note_closing, own_folder
from recall_retrievers.store.disk.database import (
    CURE,
    DATABASE,
    Database,
    close_client,
    open_database,
)
from recall_retrievers.store.disk.index_files import check_files, readable_vectors
from recall_retrievers.store.disk.index_layout import DamagedIndexError, Layout, UnknownLayoutError
from recall_retrievers.store.disk.new_index import NewIndex
from recall_retrievers.store.disk.tables import Tables, note_indexed
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.rows.row_index import Part, kept_vectors, torn

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from tqdm import tqdm

_EMBEDDED = 250  # texts embedded at once


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did to one collection.

    Attributes:
        name: The collection.
        rows: How many rows it holds.
        fault: The fault of its index; None = there was none, and nothing was done.
        recovered: How many vectors came from the damaged files, Chroma's log and the row index.
        embedded: How many texts were embedded again.
    """

    name: str
    rows: int
    fault: str | None = None
    recovered: int = 0
    embedded: int = 0

    def __str__(self) -> str:
        if self.fault is None:
            return f"{self.name}: {self.rows} memories, nothing to repair"
        return (
            f"{self.name}: repaired; {self.rows} memories, {self.recovered} vectors recovered, "
            f"{self.embedded} embedded again. The damage: {self.fault}"
        )


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
        return f"{self.name}: {self.rows} memories, {found}"


def check_path(path: str | Path) -> list[Checked]:
    """Check every collection in a path; see `RecallStore.check`."""
    with _alone(path, "check") as (folder, client), closing(open_database(folder)) as database:
        try:
            faults = _faults_of_database(database)
        except StoreUnavailableError:  # a write was killed: Chroma takes it back
            close_client(client())
            faults = _faults_of_database(database)
        if faults:
            return [Checked(DATABASE, 0, faults)]
        opened = client()
        try:
            return [_checked(folder, each, database) for each in opened.list_collections()]
        finally:
            close_client(opened)


def repair_path(path: str | Path, embedding: Embedder, *, progress: bool) -> list[Repaired]:
    """Repair every collection in a path; see `RecallStore.repair`."""
    with _alone(path, "repair") as (folder, client):
        opened = client()
        indexed: dict[str, int] = {}
        try:
            repaired = [
                repair_collection(folder, each, embedding, indexed, progress=progress)
                for each in opened.list_collections()
            ]
        finally:
            close_client(opened)
            note_indexed(folder, indexed)
        note_closing(folder, [each.name for each in index_folders(folder)])  # all were checked
        return repaired


@contextmanager
def _alone(path: str | Path, task: str) -> Iterator[tuple[Path, Callable[[], ClientAPI]]]:
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


def _faults_of_database(database: Database) -> tuple[str, ...]:
    try:
        found = database.rows("PRAGMA quick_check(1)")
    except StoreDamagedError as error:
        return (str(error),)
    except UnknownLayoutError:
        return ()
    return () if found == [("ok",)] else (f"{found[0][0]}. {CURE}",)


def _checked(path: Path, collection: Collection, database: Database) -> Checked:
    """The state of the files of one collection."""
    name, faults, unknown, rows = collection.name, [], None, 0
    try:
        tables = Tables(database, str(collection.id))
        rows = len(tables.row_ids())
        check_version()
        layout = layout_in(path, collection, tables)
        fault = fault_of(path / tables.index_folder, tables, layout) if layout else None
        if fault is not None:
            faults.append(f"{fault}; run `recall repair {path}`")
    except UnknownLayoutError as error:
        unknown = str(error)
    if any(map(torn, index_root(path).glob(f"{collection.id}*"))):
        faults.append(
            "the row index has other bytes than were written; it is made again when the path is "
            "opened"
        )
    return Checked(name, rows, tuple(faults), unknown)


def repair_collection(
    path: Path,
    collection: Collection,
    embedding: Embedder,
    indexed: dict[str, int],
    *,
    progress: bool,
) -> Repaired:
    """Check one collection, and build a new index if its own is damaged.

    Args:
        path: The Chroma path.
        collection: Chroma's own object, before anything was read of it.
        embedding: The model for texts whose vectors are lost.
        indexed: How far the new index has followed the log is added to it; see `note_indexed`.
        progress: See `RecallStore.repair`.

    Raises:
        EmbeddingMismatchError: When texts have to be embedded, and another model made the vectors.
        StoreDamagedError: When the database is damaged, or the new index is not whole.
        StoreError: When another version of Chroma made the index.
    """
    try:
        with closing(open_database(path)) as database:
            tables = Tables(database, str(collection.id))
            rows = tables.row_ids()
            layout = layout_in(path, collection, tables)
            damaged = path / tables.index_folder
            fault = fault_of(damaged, tables, layout) if layout else None
            if layout is None or fault is None:
                _remove(_set_aside(damaged))  # of a repair that was killed at its very end
                return Repaired(collection.name, len(rows))
            rebuilding = _Rebuilding(collection, tables, layout, damaged, embedding)
            recovered = rebuilding.run(rows, progress=progress)
            # What Chroma took in again would be written again, and a vector that is written again
            # can lose all links that lead to it.
            indexed[tables.index_folder] = tables.texts_up_to
            still = fault_of(damaged, tables, layout)
    except UnknownLayoutError as error:
        raise StoreError(
            f"collection {collection.name!r} is left as it is: {error}. A newer version of "
            "recall-retrievers may know it"
        ) from error
    if still is not None:
        raise StoreDamagedError(f"collection {collection.name!r} could not be repaired: {still}")
    _remove(_set_aside(damaged))
    return Repaired(collection.name, len(rows), fault, recovered, len(rows) - recovered)


@dataclass(frozen=True, slots=True)
class _Rebuilding:
    """One damaged index, and the new one that replaces it."""

    _collection: Collection
    _tables: Tables
    _layout: Layout
    _damaged: Path
    _embedding: Embedder

    def run(self, rows: set[str], *, progress: bool) -> int:
        """Build the new index, swap it in, and return how many vectors were recovered."""
        work = own_folder(self._damaged.parent) / "repair"
        _remove(work)  # of a repair that was killed
        left = set(rows)
        name = self._collection.name
        with progress_bar(
            desc=f"repairing {name}", unit="memories", total=len(rows), wanted=progress
        ) as bar:
            settings = self._collection.configuration_json["hnsw"]
            with NewIndex(work, settings, self._layout, len(rows)) as new:
                self._add(new, self._recovered(left), left, bar)
                recovered = len(rows) - len(left)
                self._check_model(len(left))
                self._add(new, self._embedded(sorted(left)), left, bar)
        try:
            whole = not rows or check_files(new.folder, self._layout) == rows
        except DamagedIndexError as error:
            raise StoreDamagedError(f"the new index of {name!r} is damaged: {error}") from error
        if not whole:
            raise StoreDamagedError(f"the new index of {name!r} does not hold all of its rows")
        aside = _set_aside(self._damaged)
        if self._damaged.exists():
            _remove(aside)  # of an earlier repair, whose vectors are in the new index
            aside.parent.mkdir(parents=True, exist_ok=True)
            self._damaged.rename(aside)
        if rows:  # without any, Chroma makes its index when the first one comes
            new.folder.rename(self._damaged)
        _remove(work)
        return recovered

    def _add(self, new: NewIndex, parts: Iterator[Part], left: set[str], bar: tqdm[object]) -> None:
        for ids, vectors in parts:
            new.add(ids, vectors)
            left.difference_update(ids)
            bar.update(len(ids))

    def _recovered(self, left: set[str]) -> Iterator[Part]:
        """The newest vector of each row that has one.

        An operation in the log is newer than the index, or is in it.
        """
        logged = {
            each.row_id: each.vector for each in self._tables.logged() if each.vector is not None
        }
        yield from _wanted(list(logged), list(logged.values()), left)
        if left and self._layout.normalised:  # those of the row index have the length 1
            # They come first: each of their bytes was checked.
            root = index_root(self._damaged.parent) / str(self._collection.id)
            for ids, vectors in kept_vectors(root, self._tables.written_since):
                if vectors.shape[1:] == (self._layout.dimension,):
                    yield from _wanted(ids, vectors, left)
        for folder in (self._damaged, _set_aside(self._damaged)):
            for ids, vectors in readable_vectors(folder, self._layout):
                yield from _wanted(ids, vectors, left)

    def _embedded(self, ids: list[str]) -> Iterator[Part]:
        """The texts of rows, embedded again."""
        for start in range(0, len(ids), _EMBEDDED):
            part = ids[start : start + _EMBEDDED]
            texts = {
                row_id: "" if memory is None else index_text(memory)
                for row_id, document, metadata in self._tables.rows(part)
                for memory in [to_candidate(row_id, document, metadata, OWN_FIELDS, "milliseconds")]
            }
            yield list(texts), self._embedding.embed_documents(list(texts.values()))

    def _check_model(self, missing: int) -> None:
        """Refuse a model that did not make the other vectors."""
        made_by = (self._collection.metadata or {}).get("embedding_model")
        if missing and made_by != self._embedding.model_name:
            raise EmbeddingMismatchError(
                f"{missing} vectors of collection {self._collection.name!r} are lost and must be "
                f"made again by the model that filled it"
                + (f", {made_by!r}" if made_by else "")
                + f"; got {self._embedding.model_name!r}. Call RecallStore.repair(path, "
                "embedding=...) with that model",
                made_by,
            )


def _wanted(
    ids: list[str], vectors: list[NDArray[np.float32]] | NDArray[np.float32], left: set[str]
) -> Iterator[Part]:
    """The vectors of rows that still have none."""
    places = [place for place, row_id in enumerate(ids) if row_id in left]
    if places:
        yield [ids[place] for place in places], np.stack([vectors[place] for place in places])


def _set_aside(damaged: Path) -> Path:
    """The place of the damaged index until the new one has replaced it."""
    return own_folder(damaged.parent) / "damaged" / damaged.name


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
