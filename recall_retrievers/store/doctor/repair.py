"""Repair of a damaged index.

A new index is built in a folder of its own, from the vectors of the row index, from those that are
left in the damaged one where the row index lacks some, and from the texts where both do. It
replaces the damaged one by two renames. The texts are never written. So a repair that is killed
loses nothing: run it again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import EmbeddingMismatchError, StoreDamagedError, StoreError
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.system import make_private
from recall_retrievers.store.chroma.database import (
    Tables,
    UnknownLayoutError,
    close_client,
    take_out_too_large,
)
from recall_retrievers.store.chroma.fields import OWN_FIELDS
from recall_retrievers.store.chroma.rows import to_candidate
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.doctor.check import alone, fault_of, memories, note_index
from recall_retrievers.store.doctor.index_files import (
    HEADER,
    DamagedIndexError,
    Layout,
    check_files,
    layout_of,
    readable_vectors,
)
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.rows.closing import own_folder
from recall_retrievers.store.rows.row_index import DAMAGED, is_torn, open_table

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

Part = tuple[list[str], NDArray[np.float32]]
"""The ids of rows, and their vectors."""

_BATCH = 250  # rows a call, and texts embedded at once
_SAVED = 10_000  # rows between two saves; Chroma reads the log of what is not saved at each call


@dataclass(frozen=True, slots=True)
class Repaired:
    """What a repair did to one collection.

    Attributes:
        name: The collection.
        rows: How many rows it holds.
        fault: The fault of its index; None = there was none, and nothing was done.
        recovered: How many vectors were still there: in the row index, the index or Chroma's log.
        embedded: How many texts were embedded again.
        taken_out: The ids of memories in Chroma's log that it could not store, and nothing after
            them. They have too many values of metadata; whoever added them got an error.
    """

    name: str
    rows: int
    fault: str | None = None
    recovered: int = 0
    embedded: int = 0
    taken_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        done = f"{memories(self.rows)}, nothing to repair"
        if self.fault is not None:
            done = (
                f"repaired; {memories(self.rows)}, {self.recovered} vectors recovered, "
                f"{self.embedded} embedded again. The damage: {self.fault}"
            )
        if self.taken_out:
            ids = ", ".join(map(got, self.taken_out))
            done = f"taken out of Chroma's log, as it cannot store it: {ids}; then {done}"
        return f"{self.name}: {done}"


def repair_path(path: str | Path, embedding: Embedder, *, progress: bool) -> list[Repaired]:
    """Repair every collection in a path; see `RecallStore.repair`."""
    repaired: dict[str, Repaired] = {}
    with alone(path, "repair") as (folder, client):
        taken_out = take_out_too_large(folder)
        opened = client()
        try:
            for collection in opened.list_collections():
                with closing(Tables(folder, str(collection.id))) as tables:
                    repairing = _Repairing(folder, collection, tables, embedding)
                    done = repairing.run(progress=progress)
                    mine = [x for topic, x in taken_out if topic.endswith(str(collection.id))]
                    repaired[tables.index_folder] = replace(done, taken_out=tuple(mine))
        except UnknownLayoutError as error:
            raise StoreError(
                f"collection {collection.name!r} is left as it is: {error}. A newer version of "
                "recall-retrievers may know it"
            ) from error
        finally:
            close_client(opened)
        for index_folder in repaired:
            note_index(folder, index_folder)
    return [*repaired.values()]


@dataclass(frozen=True, slots=True)
class _Repairing:
    """The repair of one collection. Nothing of it was read before."""

    _path: Path
    _collection: Collection
    _tables: Tables
    _embedding: Embedder

    @property
    def _index(self) -> Path:
        return self._path / self._tables.index_folder

    @property
    def _aside(self) -> Path:
        return own_folder(self._path) / "damaged" / self._tables.index_folder

    def run(self, *, progress: bool) -> Repaired:
        """Check the index, and build a new one if it is damaged."""
        name, rows = self._collection.name, self._tables.row_ids()
        fault = fault_of(self._path, self._collection, self._tables)
        layout = layout_of(self._index, self._collection, self._tables)
        if fault is None or layout is None:
            _remove(self._aside)  # of a repair that was killed at its very end
            return Repaired(name, len(rows))
        # What is in Chroma's log, Chroma takes into the new index when it is next opened.
        wanted = rows - self._tables.indexed(set())
        work = own_folder(self._path) / "repair"
        _remove(work)  # of a repair that was killed
        make_private(work)
        left = set(wanted)
        with progress_bar(
            desc=f"repairing {name}", unit="memories", total=len(wanted), wanted=progress
        ) as bar:
            settings = self._collection.configuration_json["hnsw"]
            settings = {**settings, "max_neighbors": layout.neighbours}
            parts = self._parts(left, layout)
            new = _built(work, settings, len(wanted), parts, bar.update) if wanted else None
        if new is not None:
            self._check_whole(new, layout, wanted)
        if self._index.exists():
            _remove(self._aside)  # of an earlier repair, whose vectors are in the new index
            make_private(self._aside.parent)
            self._index.rename(self._aside)
        if new is not None:  # else Chroma makes its index when the first row comes
            new.rename(self._index)
        _remove(work)
        _remove(self._aside)
        return Repaired(name, len(rows), fault, len(rows) - len(left), len(left))

    def _parts(self, left: set[str], layout: Layout) -> Iterator[Part]:
        """The vector of each row that is left; in the end those are left that were embedded."""
        for ids, vectors in self._recovered(left, layout):
            left.difference_update(ids)
            yield ids, vectors
        yield from self._embedded(sorted(left))

    def _recovered(self, left: set[str], layout: Layout) -> Iterator[Part]:
        """The vectors of the rows that are left, as far as there are some."""
        if layout.normalised:  # those of the row index have the length 1
            # They come first: each has a checksum.
            for root in own_folder(self._path).glob(f"{self._collection.id}*"):
                with suppress(*DAMAGED), closing(open_table(root, lambda _: None)) as table:
                    if table.as_closed and is_torn(root, large=True):
                        continue
                    unknown = self._unknown(table.data.facts().get("position", 0))
                    for ids, vectors in table.vectors():
                        if vectors.shape[1:] == (layout.dimension,):
                            yield from _wanted(ids, vectors, left, unknown)
        for folder in (self._index, self._aside):
            if left:
                for ids, vectors in readable_vectors(folder, layout):
                    yield from _wanted(ids, vectors, left, set())

    def _unknown(self, position: int) -> set[str]:
        """The rows whose vectors may have changed since the row index has followed Chroma."""
        if position > self._tables.position():  # the database was put back
            return self._tables.row_ids()
        if position >= self._tables.indexed_up_to():  # Chroma does what came after it once more
            return set()
        logged = {row_id for row_id, _ in self._tables.logged(position)}
        return logged.union(self._tables.since(position))

    def _embedded(self, ids: list[str]) -> Iterator[Part]:
        """The texts of rows, embedded again by the model that made the other vectors."""
        made_by = (self._collection.metadata or {}).get("embedding_model")
        if ids and made_by != self._embedding.model_name:
            raise EmbeddingMismatchError(
                f"{len(ids)} vectors of collection {self._collection.name!r} are lost and must be "
                f"made again by the model that filled it"
                + (f", {made_by!r}" if made_by else "")
                + f"; got {self._embedding.model_name!r}. Call RecallStore.repair(path, "
                "embedding=...) with that model",
                made_by,
            )
        for start in range(0, len(ids), _BATCH):
            texts = {
                row[0]: "" if memory is None else index_text(memory)
                for row in self._tables.rows(ids[start : start + _BATCH])
                for memory in [to_candidate(*row, OWN_FIELDS, "milliseconds")]
            }
            yield list(texts), self._embedding.embed_documents(list(texts.values()))

    def _check_whole(self, new: Path, layout: Layout, wanted: set[str]) -> None:
        try:
            if wanted != check_files(new, layout):
                raise DamagedIndexError("rows are missing")  # noqa: TRY301 - one error for both
        except DamagedIndexError as error:
            raise StoreDamagedError(
                f"the new index of {self._collection.name!r} is damaged: {error}"
            ) from error


def _built(
    work: Path,
    settings: dict[str, Any],
    rows: int,
    parts: Iterator[Part],
    note: Callable[[int], object],
) -> Path:
    """The folder of an index that Chroma itself has built and saved, in an empty folder.

    ``note`` is called with the number of vectors that were added.
    """
    import chromadb  # noqa: PLC0415 - a second to import, so only once a store is repaired

    names = ("space", "ef_construction", "ef_search", "max_neighbors")
    saved_each = max(2, min(rows, _SAVED))
    configuration: Any = {
        "hnsw": {**{name: settings[name] for name in names}, "sync_threshold": saved_each}
    }
    client = chromadb.PersistentClient(str(work))
    try:
        collection: Any = client.create_collection(
            "new-index", configuration=configuration, embedding_function=None
        )
        unsaved, part = 0, list[str]()
        for ids, vectors in parts:
            for start in range(0, len(ids), _BATCH):
                part = ids[start : start + _BATCH]
                collection.add(ids=part, embeddings=vectors[start : start + _BATCH])
                note(len(part))
                unsaved += len(part)
                if unsaved >= saved_each:
                    unsaved = 0
        while unsaved:
            # It has no call for saving. Updates of metadata count, and leave the index as it is.
            part = part[: saved_each - unsaved]
            collection.update(ids=part, metadatas=[{"saved": unsaved}] * len(part))
            unsaved = (unsaved + len(part)) % saved_each
    finally:
        close_client(client)
    [header] = work.glob(f"*/{HEADER}")
    return header.parent


def _wanted(
    ids: list[str], vectors: NDArray[np.float32], left: set[str], unknown: set[str]
) -> Iterator[Part]:
    """The vectors of rows that still have none, where these are known."""
    places = [n for n, row_id in enumerate(ids) if row_id in left and row_id not in unknown]
    if places:
        yield [ids[place] for place in places], vectors[places]


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
