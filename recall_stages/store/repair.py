"""Repair of a damaged index: a new one is built from its vectors and the texts.

The new index is built in a folder of its own, and replaces the damaged one by two renames. The
texts are never written. So a repair that is killed loses nothing: run it again.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.errors import (
    EmbeddingMismatchError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)
from recall_stages.core.progress import progress_bar
from recall_stages.store.chroma.client import path_client
from recall_stages.store.chroma.path_lock import hold
from recall_stages.store.chroma.row_fields import OWN_FIELDS
from recall_stages.store.chroma.rows import to_candidate
from recall_stages.store.chroma.search_text import index_text
from recall_stages.store.disk.check import check_database, fault_of, layout_in, unreadable
from recall_stages.store.disk.closing import FOLDER, index_root, note_closing
from recall_stages.store.disk.index_files import check_files, readable_vectors
from recall_stages.store.disk.index_layout import DamagedIndexError, Layout
from recall_stages.store.disk.new_index import NewIndex
from recall_stages.store.disk.tables import Tables, note_indexed, open_tables
from recall_stages.store.embedding.embedder import Embedder
from recall_stages.store.rows.state import Part, kept_vectors

if TYPE_CHECKING:
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


def repair_path(path: str | Path, embedding: Embedder, *, progress: bool) -> list[Repaired]:
    """Repair every collection in a path; see `RecallStore.repair`."""
    folder = Path(os.path.realpath(path))
    if not folder.is_dir():
        raise StoreError(f"there is no folder {path} to repair")
    check_database(folder)
    held = hold(folder, str(folder))
    try:
        if not held.is_last:
            raise StoreLockedError(f"{path} is open in this program; close its stores first")
        client = path_client(folder, held.stuck)
        indexed: dict[str, int] = {}
        try:
            repaired = [
                repair_collection(folder, each, embedding, indexed, progress=progress)
                for each in client.list_collections()
            ]
        finally:
            client.close()  # type: ignore[attr-defined]  # its interface lags behind
            note_indexed(folder, indexed)
        note_closing(folder)
        return repaired
    finally:
        held.close()


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
        StoreDamagedError: When the database cannot be read, or the new index is not whole.
    """
    try:
        with open_tables(path) as connection:
            tables = Tables(connection, str(collection.id))
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
    except sqlite3.Error as error:
        raise unreadable(path, error) from error
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
        work = self._damaged.parent / FOLDER / "repair"
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
        for folder in (self._damaged, _set_aside(self._damaged)):
            for ids, vectors in readable_vectors(folder, self._layout):
                yield from _wanted(ids, vectors, left)
        if left and self._layout.normalised:  # those of the row index have the length 1
            root = index_root(self._damaged.parent) / str(self._collection.id)
            for ids, vectors in kept_vectors(root, self._tables.written_since):
                if vectors.shape[1:] == (self._layout.dimension,):
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
    return damaged.parent / FOLDER / "damaged" / damaged.name


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
