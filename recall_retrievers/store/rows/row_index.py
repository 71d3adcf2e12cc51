"""The row index of a collection: its rows on disk or in memory, so that no question reads them.

The collection is the truth. The index is derived from it, follows it, and may be deleted while the
collection is closed. The first question that needs it builds it, in a thread of its own.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.store.chroma.index import Index
from recall_retrievers.store.chroma.row_fields import Row
from recall_retrievers.store.embedding.token_vectors import Embedded, unit
from recall_retrievers.store.rows.append_file import Mark, make_private
from recall_retrievers.store.rows.cache import Cache
from recall_retrievers.store.rows.columns import hashed
from recall_retrievers.store.rows.follower import Change, Follower, Page
from recall_retrievers.store.rows.state import Known, load, save, torn_files
from recall_retrievers.store.rows.table import GATHERED, Table
from recall_retrievers.store.rows.wanted import Places

_log = logging.getLogger(__name__)

WAITED_FOR = 10_000  # rows: a question waits a second while so many are read
_QUIET_S = 1.0  # seconds in which writes are gathered before they are committed
_FEW_DEAD = 1000  # old versions of rows that are not worth to write the others anew
_PAGE = 250  # vectors a call: below every limit
_COPIED = 1000  # rows at once
_JOINED_S = 60.0  # seconds that closing waits for a call of Chroma's


class RowIndex:
    """The rows of one collection, for all stores of this process that have it open.

    Args:
        index: The collection, and the form of its rows.
        follower: What follows the writes of others.
        root: The folder of the index. None = in memory.
        cache: The memory that it may take for what can be read again.

    Attributes:
        table: The rows; a question uses one table from its beginning to its end.
        ready: Whether all rows are known.
    """

    def __init__(self, index: Index, follower: Follower, root: Path | None, cache: Cache) -> None:
        self.index = index
        self.follower = follower
        self._cache = cache
        self.table = Table(index.candidate, cache=cache)
        self.ready = False
        self._root = root
        model = (index.collection.metadata or {}).get("embedding_model")
        self._form = repr(
            (str(index.collection.id), model, index.fields, index.unit, follower.scope)
        )
        self._lock = threading.Lock()  # held while rows change, never while Chroma is read
        self._opening = threading.Lock()
        self._saving = threading.Lock()
        self._readings: dict[int, set[str]] = {}
        self._opened = self._begun = False
        self._closed = threading.Event()
        self._built: Future[None] | None = None
        self._threads: dict[str, threading.Thread] = {}

    def __len__(self) -> int:
        return len(self.table)

    @property
    def knows_all(self) -> bool:
        """Whether its rows are those of the collection, up to a second ago."""
        return self.ready and self.follower.sees_all and not self.follower.doubtful

    # -- opening ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Load the index from the disk, or begin with no rows; does nothing the second time."""
        with self._opening:
            if self._opened or self._closed.is_set():
                return
            loaded = self._root and load(self._root, self._form, self.index.candidate, self._cache)
            if loaded:
                self.table, known, unread = loaded
                self._begun = self.follower.go_on(known.position)
                self.ready = self._begun and known.whole and self.table.has_words
                if unread:
                    self._start("compare", self._compare, unread)
            if not self._begun:
                self._begin()  # so that writes count while the rows are counted
                self.ready = self._begun = not self.index.collection.count()
            self._opened = True

    def prepare(self, *, build: bool, patient: bool) -> None:
        """Follow the collection, before a question.

        Args:
            build: Whether the question needs all rows. If they are not known, a thread reads them.
            patient: Whether to wait for that, however long it takes.
        """
        self.start()
        if build and not self.ready:
            built = self._start_building()
            if patient or self.follower.has_few(WAITED_FOR):
                built.result()
        if self.ready:
            self._take_over(self.follower.changes)

    def _begin(self) -> None:
        """Forget all rows, and follow the writes of this process from now on."""
        table = Table(self.index.candidate, self._new_folder(), cache=self._cache)
        with self._lock:
            self.table, self._begun = table, True
        self.follower.begin()

    def _compare(self, unread: AbstractSet[str]) -> None:
        """Compare the checksums of large files, a moment after the index was loaded."""
        if self._root is None or self._closed.wait(_QUIET_S):
            return
        if torn := torn_files(self._root, unread):
            _log.warning(
                "the row index in %s is built again: %s are torn", self._root, sorted(torn)
            )
            with self._saving, self._opening:
                self.ready = False
                self.table.retire()
                self._begin()

    def _new_folder(self) -> Path | None:
        if self._root is not None:
            try:
                with suppress(FileNotFoundError):
                    shutil.rmtree(self._root)
                make_private(self._root)
                folder = self._root / "0"
                folder.mkdir()
            except OSError as error:
                _log.warning("the row index is kept in memory: %s", error)
                self._root = None
            else:
                return folder
        return None

    def _start_building(self) -> Future[None]:
        with self._opening:
            if self._built is None or (self._built.done() and not self.ready):
                self._built = Future()
                self._start("build", self._build, self._built)
            return self._built

    def _build(self, built: Future[None]) -> None:
        try:
            count = self.index.collection.count()
            if not self._begun:
                self._begin()
            _log.info("reading %d rows for the row index; it has %d", count, len(self))
            self.table.read_words()
            self._take_over(partial(self.follower.compare, progress=count > WAITED_FOR))
            self.table.changed = True  # what was committed until now is not all
            self.ready = True
            _log.info("read %d rows", len(self))
        except BaseException as error:  # noqa: BLE001 - it is raised where a question waits
            _log.debug("the row index is not built: %r", error)
            built.set_exception(error)
        else:
            built.set_result(None)
            self._changed()

    # -- reading the collection -------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[AbstractSet[str]]:
        """Collect the ids of the rows that change here while rows are read from the collection.

        The version of such a row that was read may be old.
        """
        changed: set[str] = set()
        with self._lock:
            self._readings[id(changed)] = changed
        try:
            yield changed
        finally:
            with self._lock:
                del self._readings[id(changed)]

    def _take_over(self, changes: Callable[[Table], Iterable[Change]]) -> None:
        """Take over what others have changed, except rows that changed here meanwhile."""
        with self._reading() as changed:
            for change in changes(self.table):
                if isinstance(change, list):
                    self._forget(change, changed)
                else:
                    self.take(change, changed)
                self._changed()

    def take(self, page: Page, changed: AbstractSet[str]) -> None:
        """Take over rows that were read, except those that changed here meanwhile."""
        rows: list[Row] = [
            row
            for row in zip(page["ids"], page["documents"], page["metadatas"], strict=True)
            if row[0] not in changed
        ]
        memories = [self.index.candidate(row) for row in rows]
        with self._lock:
            current = [place for place, row in enumerate(rows) if row[0] not in changed]
            self._note([rows[place][0] for place in current], changed)
            new = [rows[place] for place in current], [memories[place] for place in current]
            self._change(lambda table: table.put(*new))

    def _forget(self, hashes: Iterable[int], changed: AbstractSet[str]) -> None:
        with self._lock:
            gone = set(hashes).difference(map(hashed, changed))
            self._change(lambda table: table.drop(gone))

    def _change(self, change: Callable[[Table], int]) -> int:
        """Change the rows; on a disk that fails, they go on in memory."""
        try:
            return change(self.table)
        except OSError as error:
            _log.warning("the row index is kept in memory from now on: %r", error)
            self._root = None
            table = Table(self.index.candidate, cache=self._cache)
            self.table.copy_to(table, 0, self.table.places)
            self.table = table
            return change(table)

    def _note(self, ids: Iterable[str], mine: AbstractSet[str] | None = None) -> None:
        """Note a change for all readings that are under way, except the one that has read it."""
        for changed in self._readings.values():
            if changed is not mine:
                changed.update(ids)

    # -- writes of this process -------------------------------------------------------------------

    def put(self, rows: Sequence[Row], memories: Sequence[Candidate], embedded: Embedded) -> None:
        """Take over rows that were just stored, with their memories and vectors."""
        with self._lock:
            if not self._begun:
                return
            self._note([row[0] for row in rows])
            self._change(lambda table: table.put(rows, memories, embedded))
        self.follower.wrote(len(rows))
        self._changed()

    def drop(self, ids: Sequence[str]) -> None:
        """Forget rows that were just deleted."""
        with self._lock:
            if not self._begun:
                return
            self._note(ids)
            hashes = [hashed(row_id) for row_id in ids]
            dropped = self._change(lambda table: table.drop(hashes))
        self.follower.wrote(dropped)
        self._changed()

    # -- vectors ----------------------------------------------------------------------------------

    def read_cosines(
        self, table: Table, places: Places, vector: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Read vectors that are missing from the collection, and keep them while there is room.

        Args:
            table: The rows.
            places: Their places.
            vector: A vector of length 1.

        Returns:
            The cosines of the rows to the vector; -2 for a row that is gone.
        """
        cosines = dict.fromkeys(places.tolist(), -2.0)
        collection: Any = self.index.collection
        ids = {table.texts.id_at(place): place for place in places.tolist()}
        names = list(ids)
        with self._reading() as changed:
            for start in range(0, len(names), _PAGE):
                page = collection.get(ids=names[start : start + _PAGE], include=["embeddings"])
                if page["ids"]:
                    vectors = unit(np.asarray(page["embeddings"], dtype=np.float32))
                    at = [ids[row_id] for row_id in page["ids"]]
                    cosines |= zip(at, (vectors @ vector).tolist(), strict=True)
                    current = [n for n, row_id in enumerate(page["ids"]) if row_id not in changed]
                    kept = np.array([at[n] for n in current], dtype=np.intp)
                    table.keep_vectors(kept, vectors[current])
        self._changed()
        return np.array([*cosines.values()], dtype=np.float32)

    # -- keeping it -------------------------------------------------------------------------------

    def _changed(self) -> None:
        """Commit what has changed a moment later, together with what comes until then."""
        if self.table.changed and not self._closed.is_set():
            self._start("save", self._save_later)

    def _start(self, name: str, work: Any, *values: object) -> None:
        running = self._threads.get(name)
        if running is None or not running.is_alive():
            thread = threading.Thread(
                target=work, args=values, name=f"recall-{name}-rows", daemon=True
            )
            self._threads[name] = thread
            thread.start()

    def _save_later(self) -> None:
        while not self._closed.wait(_QUIET_S) and self.table.changed:
            if self.ready or self.table.waiting > GATHERED:
                self._save()

    def _save(self) -> None:
        with self._saving:
            try:
                self._save_now()
            except StoreClosedError:
                _log.debug("the row index was closed while it was saved")
            except Exception as error:  # noqa: BLE001 - a full disk; tantivy raises ValueError
                if self._closed.is_set():  # its files may be closed; the next opening catches up
                    _log.info("the row index was not saved when it was closed: %r", error)
                    return
                _log.warning("the row index is kept in memory from now on: %r", error)
                self._root = None
                self._rewrite(None)

    def _save_now(self) -> None:
        # Read first: the rows may be newer than that, never older.
        whole, position, table = self.ready, self.follower.position, self.table
        useful = whole or (table.has_words and position > 0)  # a build can go on from there

        def note(marks: dict[str, Mark]) -> None:
            if useful and self._root is not None and table.folder is not None:
                for file in table.files.values():
                    file.sync()
                name = table.folder.name
                save(self._root, Known(self._form, position, name, table.dimension, whole), marks)

        table.commit(note)
        if table.places - len(table) > max(len(table), _FEW_DEAD):
            folder = None
            if self._root is not None and table.folder is not None:
                folder = self._root / str(int(table.folder.name) + 1)
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
            self._rewrite(folder)

    def _rewrite(self, folder: Path | None) -> None:
        """Write the living rows into a new table, and use it from now on."""
        old, new = self.table, Table(self.index.candidate, folder, cache=self._cache)
        end = old.places
        for first in range(0, end, _COPIED):
            old.copy_to(new, first, min(first + _COPIED, end))
        with self._lock:  # what has changed since
            new.drop(old.replaced(new.hashes(), end))
            old.copy_to(new, end, old.places)
            self.table = new
        old.retire()
        if old.folder is not None and self._root is not None:
            self._save_now()
            shutil.rmtree(old.folder, ignore_errors=True)

    # -- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Save what has changed, and let everything go: rows, files and threads."""
        self._closed.set()
        for name in ("save", "compare"):
            with suppress(KeyError):
                self._threads[name].join()
        if self._begun and self.table.changed and self._root is not None:
            self._save()
        with self._lock:
            self._begun = self.ready = False
            self.table.close()
        with suppress(KeyError):
            self._threads["build"].join(_JOINED_S)
        self.follower.close()
