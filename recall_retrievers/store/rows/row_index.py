"""The row index of one collection: its rows on disk or in memory, following Chroma."""

import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreClosedError, StoreError
from recall_retrievers.core.system import make_private
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import Row
from recall_retrievers.store.embedding.local_model import Embedded
from recall_retrievers.store.rows.closing import LARGE, NOTE, changed_files, note_files
from recall_retrievers.store.rows.database import FILE, FORMAT
from recall_retrievers.store.rows.follower import Change, Follower, Page
from recall_retrievers.store.rows.table import Read, Table

_log = logging.getLogger(__name__)

WAITED_FOR = 10_000  # rows: a question waits a second while so many are read
_COMPARED_AT_ONCE = 2_000  # rows: comparing their texts takes a tenth of a second
_QUIET_S = 1.0  # seconds after the first question until the texts of more are compared
_MARK = "closed.mark"  # the mark of the follower when it was closed
_JOINED_S = 60.0  # seconds that closing waits for a call of Chroma's


class RowIndex:
    """The rows of one collection, for all stores of this process; without a ``root`` in memory."""

    def __init__(self, index: Collection, follower: Follower, root: Path | None) -> None:
        self.index, self.follower, self._root = index, follower, root
        model = (index.chroma.metadata or {}).get("embedding_model")
        self._form = repr((FORMAT, str(index.chroma.id), model, index.fields, follower.scope))
        self.table = Table(index.candidate)  # a question uses one from its beginning to its end
        self.ready = False  # whether all rows are known
        self._lock = threading.Lock()  # while rows change; no question and no reading waits for it
        self._telling = threading.Lock()  # for a moment
        self._opening = threading.RLock()
        self._noted: tuple[str, bool] | None = None
        self._compared = False  # whether its texts are those of the collection
        self._readings: dict[int, set[str]] = {}
        self._opened = False
        self._closed = threading.Event()
        self._built: Future[None] | None = None

    def __len__(self) -> int:
        return len(self.table)

    # -- opening ----------------------------------------------------------------------------------

    def start(self) -> None:
        """Open the rows on the disk, or begin with none; does nothing the second time."""
        with self._opening:
            if self._opened or self._closed.is_set():
                return
            if self._root is None or not self._go_on(self._root):
                self._begin()
            self._opened = True
            if not self.table.as_closed or self.table.vector_bytes <= LARGE:
                self._mend_vectors()

    def _go_on(self, root: Path) -> bool:
        """Go on with the rows on the disk; False where there are none to go on with."""
        if not root.is_dir():
            return False
        try:
            table = open_table(root, self.index.candidate)
        except DAMAGED as error:
            _log.warning("the row index in %s is built again: %r", root, error)
            return False
        known = table.data.facts()
        if known.get("form") != self._form:
            table.close()
            return False
        self.table.close()
        self.table, self.ready, mark = table, bool(known["whole"]), known["mark"]
        with suppress(OSError):  # if it was closed since the last write
            mark = (root / _MARK).read_text(encoding="utf-8")
        self._noted = mark, self.ready
        self._compared = self.follower.go_on(mark, len(self)) and self.ready
        return True

    def prepare(self, *, build: bool, patient: bool) -> None:
        """Follow the collection, before a question.

        If it needs all rows (``build``), and they are not known, a thread reads them. A ``patient``
        question waits for that, however long it takes. Rows that were kept while others may have
        written are compared by the thread; a question waits if they are few.
        """
        self.start()
        if not self._compared and (build or self.ready):
            few = self._few if self.ready else patient or self.follower.has_few(WAITED_FOR)
            built = self._start_building()
            if few:
                built.result()
        if self.ready:
            self._take_over(self.follower.changes(self.table))
            if build and not self.ready:  # the disk has failed
                self.prepare(build=build, patient=patient)

    @property
    def _few(self) -> bool:
        return len(self) <= _COMPARED_AT_ONCE

    def _begin(self) -> None:
        """Forget all rows, and follow the writes of this process from now on."""
        with self._lock:
            self.table.close()
            self.table, self._noted = self._new_table(), None
        self.ready = self._compared = self.follower.begin()
        self._note()

    def _new_table(self) -> Table:
        if self._root is not None:
            try:
                with suppress(FileNotFoundError):
                    shutil.rmtree(self._root)
                make_private(self._root)
                return Table(self.index.candidate, self._root)
            except (OSError, sqlite3.Error) as error:
                _log.warning("the row index is kept in memory: %s", error)
                self._root = None
        return Table(self.index.candidate)

    def _start_building(self) -> Future[None]:
        with self._opening:
            if self._built is None or (self._built.done() and not self._compared):
                built = Future[None]()
                threading.Thread(
                    target=self._build, args=[built], name="recall-build-rows", daemon=True
                ).start()
                self._built = built  # what is waited for has been started
            return self._built

    def _mend_vectors(self) -> None:
        try:
            torn = self.table.torn_vectors()
            if len(torn):
                _log.warning("%d torn vectors of the row index are read from Chroma", len(torn))
                ids = [*self.table.ids_at(torn.tolist()).values()]
                self._take_over(self.follower.read(ids))
        except (OSError, StoreError) as error:  # a bad sector, or Chroma's
            _log.warning("the row index in %s is built again: %r", self._root, error)
            self._begin()

    def _build(self, built: Future[None]) -> None:
        try:
            if self.ready and not self._few:  # a short program ends before that
                self._closed.wait(_QUIET_S)
            count = self.index.chroma.count()
            _log.info("reading %d rows for the row index; it has %d", count, len(self))
            while not self._compared and not self._closed.is_set():
                table = self.table  # it is replaced when its disk fails
                self._take_over(
                    self.follower.compare(table, texts=True, progress=count > WAITED_FOR)
                )
                if not self._closed.is_set():  # else not all was compared
                    self.ready = self._compared = self.table is table
            self._note()
            _log.info("read %d rows", len(self))
        except BaseException as error:  # noqa: BLE001 - it is raised where a question waits
            _log.debug("the row index is not built: %r", error)
            built.set_exception(error)
        else:
            built.set_result(None)

    # -- reading the collection -------------------------------------------------------------------

    def _take_over(self, changes: Iterable[Change]) -> None:
        """Take over what others have changed.

        Rows that change here while they are read stay: the version that was read may be old.
        """
        changed = set[str]()
        with self._telling:
            self._readings[id(changed)] = changed
        try:
            for change in changes:
                if self._closed.is_set():
                    break
                if isinstance(change, list):
                    self._forget(change, changed)
                else:
                    self.take(change, changed)
        finally:
            with self._telling:
                del self._readings[id(changed)]

    def take(self, page: Page, changed: AbstractSet[str]) -> None:
        rows: list[Row] = [*zip(page["ids"], page["documents"], page["metadatas"], strict=True)]
        memories = [self.index.candidate(row) for row in rows]
        vectors = page.get("embeddings")

        def put(table: Table) -> None:
            current = [n for n, row in enumerate(rows) if row[0] not in changed]
            read = None if vectors is None else Embedded(np.asarray(vectors, np.float32)[current])
            table.put([rows[n] for n in current], [memories[n] for n in current], read)

        self._change(put, page["ids"], changed)

    def _forget(self, ids: Iterable[str], changed: AbstractSet[str]) -> None:
        self._change(lambda table: table.drop(x for x in ids if x not in changed), (), changed)

    def _change(
        self,
        change: Callable[[Table], None],
        ids: Sequence[str],
        mine: AbstractSet[str] | None = None,
    ) -> None:
        """Change rows, unless they are closed; on a disk that fails, all are read into memory.

        All readings that are under way are told the ids, except the one that has read these rows.
        """
        with self._lock:
            if not self._opened or self._closed.is_set():
                return
            with self._telling:
                for changed in self._readings.values():
                    if changed is not mine:
                        changed.update(ids)
            try:
                change(self.table)
            except (OSError, sqlite3.Error) as error:
                if self._root is None:
                    raise
                _log.warning("the row index is kept in memory from now on: %r", error)
                self._root, self.ready, self._compared = None, False, False
                self.table = Table(self.index.candidate)
                change(self.table)

    def _note(self) -> None:
        """Keep how far the rows follow the collection: they may be newer than that, never older."""
        if self._root is None or self._noted == (noted := (self.follower.mark, self.ready)):
            return
        # If that fails, the next opening compares more.
        with suppress(StoreClosedError, sqlite3.Error, OSError):
            (self._root / _MARK).unlink(missing_ok=True)
            self.table.data.note(form=self._form, mark=noted[0], whole=noted[1])
            self._noted = noted

    # -- writes of this process -------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let this process write rows, in Chroma and then here."""
        with self.follower.writing():
            yield
        self._note()

    def put(self, rows: Sequence[Row], memories: Read, embedded: Embedded | None) -> None:
        self._change(lambda table: table.put(rows, memories, embedded), [row[0] for row in rows])

    def drop(self, ids: Sequence[str]) -> None:
        self._change(lambda table: table.drop(ids), ids)

    # -- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        self._closed.set()
        mark = self.follower.mark
        with self._lock:
            self.ready = False
            self.table.close()
        wait([self._built] if self._built else [], _JOINED_S)
        if self._opened and self._root is not None and self._root.is_dir():
            note_files(self._root / NOTE, self._root, [FILE])
            with suppress(OSError):  # then all texts are compared
                (self._root / _MARK).write_text(mark, encoding="utf-8")


# What is raised by files that hold other bytes than were written.
DAMAGED = (OSError, sqlite3.Error, ValueError, LookupError)


def open_table(root: Path, read: Callable[[Row], Candidate | None]) -> Table:
    """The rows on the disk. What a proper close has noted is compared; after a kill SQLite checks.

    Damaged files raise one of `DAMAGED`.
    """
    table = Table(read, root)
    try:
        if not table.as_closed:
            table.data.check()
        elif is_torn(root, large=False):
            raise ValueError("it is torn")  # noqa: TRY301 - closed below
    except BaseException:
        table.close()
        raise
    return table


def is_torn(root: Path, *, large: bool) -> bool:
    """Whether the database has other bytes than were noted; if it is large, or if it is small."""
    return bool(changed_files(root / NOTE, root, [FILE], large=large))
