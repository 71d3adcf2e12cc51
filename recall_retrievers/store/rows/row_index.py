"""The row index of one collection: its rows on disk or in memory, following Chroma."""

import logging
import shutil
import sqlite3
import threading
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path

from recall_retrievers.core.errors import StoreClosedError, StoreError
from recall_retrievers.core.system import make_private
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.rows.database import DAMAGED, FILE, FORMAT, LARGE, NOTE, note_files
from recall_retrievers.store.rows.follower import Follower
from recall_retrievers.store.rows.table import Change, Table

_log = logging.getLogger(__name__)

WAITED_FOR = 10_000  # rows: a question waits a second while so many are read
_COMPARED_AT_ONCE = 2_000  # rows: comparing their texts takes a tenth of a second
_QUIET_S = 1.0  # seconds after the first question until the texts of more are compared
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
        self._opening = threading.RLock()
        self._noted: tuple[str, bool] | None = None
        self._readings: dict[int, set[str]] = {}  # that are under way: what has changed meanwhile
        self._opened = False
        self._closed = threading.Event()
        self._built: Future[None] | None = None

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
            table = Table(self.index.candidate, root)
        except DAMAGED as error:
            _log.warning("the row index in %s is built again: %r", root, error)
            return False
        known = table.data.facts()
        if known.get("form") != self._form:
            table.close()
            return False
        self.table.close()
        self.table, self.ready = table, bool(known["whole"])
        self._noted = known["mark"], self.ready
        self.follower.go_on(known["mark"], len(self.table))
        return True

    def prepare(self, *, build: bool, patient: bool) -> None:
        """Follow the collection, before a question.

        If it needs all rows (``build``), and they are not known, a thread reads them. A ``patient``
        question waits for that, however long it takes. Rows that were kept while others may have
        written are compared by the thread; a question waits if they are few.
        """
        self.start()
        if not self._compared and (build or self.ready):
            few = len(self.table) <= _COMPARED_AT_ONCE
            if not self.ready:
                few = patient or self.follower.has_few(WAITED_FOR)
            built = self._start_building()
            if few:
                built.result()
        if self.ready:
            self._take_over(self.follower.changes(self.table))
            if build and not self.ready:  # the disk has failed
                self.prepare(build=build, patient=patient)

    @property
    def _compared(self) -> bool:
        return self.ready and self.follower.compared is not None

    def _begin(self) -> None:
        """Forget all rows, and follow the writes of this process from now on."""
        with self._lock:
            self.table.close()
            self.table, self._noted = self._new_table(), None
        self.ready = self.follower.begin()
        self.note()

    def _new_table(self) -> Table:
        try:
            if self._root is not None:
                with suppress(FileNotFoundError):
                    shutil.rmtree(self._root)
                make_private(self._root)
            return Table(self.index.candidate, self._root)
        except (OSError, sqlite3.Error) as error:
            return self._in_memory(error)

    def _in_memory(self, error: Exception) -> Table:
        _log.warning("the row index is kept in memory from now on: %r", error)
        self._root = None
        return Table(self.index.candidate)

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

    def _start_building(self) -> Future[None]:
        with self._opening:
            if self._built is None or (self._built.done() and not self._compared):
                built = Future[None]()
                threading.Thread(
                    target=self._build, args=[built], name="recall-build-rows", daemon=True
                ).start()
                self._built = built  # what is waited for has been started
            return self._built

    def _build(self, built: Future[None]) -> None:
        try:
            # A short program ends before many are compared.
            if self.ready and len(self.table) > _COMPARED_AT_ONCE:
                self._closed.wait(_QUIET_S)
            _log.info("reading the rows of the row index; it has %d", len(self.table))
            while not self._compared and not self._closed.is_set():
                table = self.table  # it is replaced when its disk fails
                self._take_over(self.follower.compare(table))
                if not self._closed.is_set():  # else not all was compared
                    self.ready = self.table is table
            self.note()
            _log.info("read: it has %d", len(self.table))
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
        self._readings[id(changed)] = changed
        try:
            for change in changes:
                if self._closed.is_set():
                    break
                self.take(change, changed)
        finally:
            del self._readings[id(changed)]

    def take(self, change: Change, changed: AbstractSet[str] | None = None) -> None:
        """Take over a change, of this process or with what has ``changed`` while it was read.

        All readings that are under way are told the ids. On a disk that fails, all rows are read
        into memory.
        """
        with self._lock:
            if not self._opened or self._closed.is_set():
                return
            if changed:
                current = [n for n, row in enumerate(change.rows) if row[0] not in changed]
                change = change.part(current, [x for x in change.gone if x not in changed])
            for others in [*self._readings.values()]:
                if others is not changed:
                    others.update(change.ids)
            try:
                self.table.take(change)
            except (OSError, sqlite3.Error) as error:
                if self._root is None:
                    raise
                self.table, self.ready = self._in_memory(error), False
                self.table.take(change)

    def note(self) -> None:
        """Keep how far the rows follow the collection: they may be newer than that, never older."""
        if self._root is None or self._noted == (noted := (self.follower.mark, self.ready)):
            return
        # If that fails, the next opening compares more.
        with suppress(StoreClosedError, sqlite3.Error, OSError):
            self.table.data.note(form=self._form, mark=noted[0], whole=noted[1])
            self._noted = noted

    def close(self) -> None:
        self._closed.set()
        mark = self.follower.mark
        with self._lock:
            self.ready = False
            self.table.close()
        wait([self._built] if self._built else [], _JOINED_S)
        if self._opened and self._root is not None and self._root.is_dir():
            note_files(self._root / NOTE, self._root, [FILE], mark)
