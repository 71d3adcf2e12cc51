"""Writing: one thread a collection writes for all callers, and only the rows that have changed.

A hundred rows take Chroma little more time than one, and a hundred texts an embedding model. So
calls that come in while the thread is busy wait, and are then written together.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import repeat
from pathlib import Path
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from recall_retrievers.core.errors import RecallError, StoreClosedError, StoreError
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import WRITTEN_AT, Row, to_milliseconds
from recall_retrievers.store.chroma.rows import ANY_ROW, Ready, id_is_taken
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.embedding.embedder import Embedder
from recall_retrievers.store.embedding.local_model import Embedded, TokenVectors
from recall_retrievers.store.rows.scoped_rows import ScopedRows, indexes_of

_log = logging.getLogger(__name__)

# Rows a call: below every limit (Chroma Cloud takes 300, SQLite 5,461), and short enough that the
# interpreter, which Chroma holds while it writes, pauses for no more than 0.15 s.
BATCH = 250
CHROMA_S = 60.0  # that closing waits for a call of Chroma's: texts of 5 MB took it half of that
_LINGERS_S = 10.0  # a thread that is new to Chroma makes an add take half as long again


class ChangedError(Exception):
    """Others have changed a row since it was read."""


class _Locks:
    """What the stores of one process on one collection share, each with a writer of its own.

    Chroma would add the metadata of two writes of one row up, and a row index could hear of them in
    another order than Chroma.
    """

    def __init__(self) -> None:
        self.changing = Lock()  # held while a memory is read, changed and written again
        self.writing = Lock()  # held until Chroma and the row indexes have taken over a write


_locks: WeakValueDictionary[str, _Locks] = WeakValueDictionary()  # by the id of the collection
_looking = Lock()


@dataclass(slots=True)
class _Job:
    rows: Sequence[Ready] = ()  # to store
    gone: Sequence[str] = ()  # else the ids to delete
    done: Future[None] = field(default_factory=Future)
    tried: bool = False  # whether Chroma failed while it stored its rows


_Present = dict[str, Row]  # by id


class Writer:
    """Writes to one collection, in a thread of its own.

    The thread ends when there was nothing to write for a while. It does not keep the process alive,
    as an embedding or a server may hang.
    """

    def __init__(self, collection: Collection, folder: Path | None, embedding: Embedder) -> None:
        self._collection = collection
        self._chroma: Any = collection.chroma
        self._folder = folder
        self._embedding = embedding
        with _looking:
            self._locks = _locks.setdefault(str(self._chroma.id), _Locks())
        self.changing = self._locks.changing
        self._changed = Condition()
        self._waiting: deque[_Job] = deque()
        self._alive = False  # the thread
        self._busy = False
        self._closed = False
        self._due: float | None = None  # when the present step of the thread must end; None = never

    def write(self, rows: Sequence[Ready]) -> Future[None]:
        """Store some rows, at most `BATCH` of them; those that are stored as they are stay.

        Those whose text is stored already, or whose vector is known, are not embedded.

        Rows of a future that is cancelled before its turn are not written. When the rows of one
        call fail, those of the others are stored. The error says which rows are stored.

        Rows with a ``before`` are written in one call of Chroma. The error is `ChangedError` if
        others have changed one of them since it was read: Chroma has no write on a condition. Then
        nothing is written: read them again.
        """
        return self._take(_Job(rows))

    def delete(self, ids: Sequence[str]) -> Future[None]:
        return self._take(_Job(gone=ids))

    def close(self) -> bool:
        """Finish the waiting writes, and take no more; False if a call of Chroma hangs."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            while self._busy or self._waiting:
                left = None if self._due is None else self._due - monotonic()
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            ended = not self._busy
            left_over = [*self._waiting]
            self._waiting.clear()
        for job in left_over:
            if job.done.set_running_or_notify_cancel():
                job.done.set_exception(
                    StoreClosedError("the store was closed while Chroma hung; nothing was stored")
                )
        return ended

    def _take(self, job: _Job) -> Future[None]:
        with self._changed:
            if self._closed:
                raise StoreClosedError("the store is closed; open it again with RecallStore")
            if not self._alive:
                Thread(target=self._work, name="recall-writer", daemon=True).start()
                self._alive = True
            self._waiting.append(job)
            self._changed.notify_all()
        return job.done

    # -- in the thread ----------------------------------------------------------------------------

    def _work(self) -> None:
        while jobs := self._next():
            wanted = [job for job in jobs if job.done.set_running_or_notify_cancel()]
            for together in _joined(wanted):
                if together[0].gone:
                    self._finish(together, partial(self._delete, together[0].gone))
                else:
                    self._write([together])

    def _next(self) -> list[_Job]:
        """The waiting jobs; empty when none came for a while, and the thread ends."""
        with self._changed:
            self._busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed, _LINGERS_S)
            jobs = [*self._waiting]
            self._waiting.clear()
            self._busy = self._alive = bool(jobs)
            self._due = None
        return jobs

    def _begin(self, limit_s: float | None) -> None:
        with self._changed:
            self._due = None if limit_s is None else monotonic() + limit_s
            self._changed.notify_all()

    def _write(self, groups: Sequence[Sequence[_Job]]) -> None:
        """Write the rows of each group of jobs in one call; the texts of all are embedded first."""
        fresh: list[tuple[Sequence[_Job], Sequence[Ready]]] = []
        for jobs in groups:
            try:
                fresh.append((jobs, self._unstored([row for job in jobs for row in job.rows])))
            except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
                self._fail(jobs, error)
        outcomes: Sequence[Embedded | BaseException]
        try:
            outcomes = self._embed([rows for _, rows in fresh])
        except BaseException as error:  # noqa: BLE001 - as above; a model may raise SystemExit
            outcomes = [error] * len(fresh)
        for (jobs, rows), embedded in zip(fresh, outcomes, strict=True):
            self._finish(jobs, partial(self._store, rows, embedded, jobs))

    def _finish(self, jobs: Sequence[_Job], work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
            self._fail(jobs, error)
        else:
            for job in jobs:
                job.done.set_result(None)

    def _fail(self, jobs: Sequence[_Job], error: BaseException) -> None:
        """End a job; its error says which rows are there: Chroma may raise, and store some.

        Of several each is written alone, so that one that fails takes nothing from the others.
        """
        if len(jobs) > 1:
            _log.debug("%d adds are written apart: %s", len(jobs), type(error).__name__)
            self._write([[job] for job in jobs])
            return
        [job] = jobs
        if isinstance(error, ChangedError) and all(row.before is ANY_ROW for row in job.rows):
            self._write([jobs])  # the vector of one may be that of another text by now
            return
        if isinstance(error, RecallError) and job.rows:
            try:
                present = self._there([row.memory.id for row in job.rows])
                error.stored = tuple(_stored_in(present, job.rows))
            except RecallError:  # the same trouble once more; the first error is raised
                error.unsure = tuple(row.memory.id for row in job.rows) if job.tried else ()
        job.done.set_exception(error)

    # -- in Chroma, and in the row indexes of this process ----------------------------------------

    def _unstored(self, rows: Sequence[Ready]) -> list[Ready]:
        """The rows to write, with the vectors that they keep because their text stays.

        Rows that were read before they were changed are not read again.
        """
        unread = [row for row in rows if row.before is ANY_ROW]
        present = {x.memory.id: x.before for x in rows if x.before} | self._replaced(unread)
        same = [x.memory.id for x in rows if self._has_its_text(x, present.get(x.memory.id))]
        self._begin(CHROMA_S)
        kept = self._collection.vectors(same)
        stored = kept.keys() & _stored_in(present, unread)
        rest = [(row, row.memory.id) for row in rows if row.memory.id not in stored]
        return [
            replace(row, before=present[row_id], vector=kept[row_id]) if row_id in kept else row
            for row, row_id in rest
        ]

    def _has_its_text(self, ready: Ready, row: Row | None) -> bool:
        old = None if row is None or row is ANY_ROW else self._collection.candidate(row)
        return old is not None and index_text(old) == index_text(ready.memory)

    def _embed(self, batches: Sequence[Sequence[Ready]]) -> list[Embedded | Exception]:
        timeout_s = self._embedding.timeout_s
        self._begin(None if timeout_s is None else timeout_s + CHROMA_S)
        return self._embedding.embed_batches(
            [[index_text(row.memory) for row in rows if row.vector is None] for rows in batches]
        )

    def _store(
        self, rows: Sequence[Ready], embedded: Embedded | BaseException, jobs: Sequence[_Job]
    ) -> None:
        if isinstance(embedded, BaseException):
            raise embedded
        if not rows:
            return
        known = [row.vector for row in rows if row.vector is not None]
        self._collection.check_dimension(*known, *embedded.vectors[:1])
        try:
            with self._locks.writing:
                self._put(rows, self._replaced(rows), _in_order(rows, embedded))
        except StoreError as error:
            for job in jobs:
                job.tried |= error.__cause__ is not None  # else Chroma was not called
            raise

    def _put(self, ready: Sequence[Ready], present: _Present, embedded: Embedded) -> None:
        """Write whole rows in one call of Chroma, and then in the row indexes."""
        now = {WRITTEN_AT: to_milliseconds(datetime.now(UTC))}
        memories = [each.memory for each in ready]
        rows = [(x.memory.id, x.memory.content, {**x.metadata, **now}) for x in ready]
        ids, texts, metadatas = zip(*rows, strict=True)
        # Chroma merges metadata, so what a row had before is set to None.
        had = (dict.fromkeys(present[x][2] or () if x in present else ()) for x in ids)
        with self._indexes() as indexes:
            self._chroma.upsert(
                ids=[*ids],
                embeddings=embedded.vectors,
                documents=[*texts],
                metadatas=[{**old, **new} for old, new in zip(had, metadatas, strict=True)],
            )
            for each in indexes:
                each.put(rows, memories, embedded)
            self._collection.learn_dimension(embedded.vectors)

    def _delete(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), BATCH):
            part = list(ids[start : start + BATCH])
            with self._locks.writing, self._indexes() as indexes:
                self._chroma.delete(ids=part)
                for each in indexes:  # at once: the next part may fail
                    each.drop(part)

    @contextmanager
    def _indexes(self) -> Iterator[Sequence[ScopedRows]]:
        """The row indexes that have to take over a write, which now begins."""
        indexes = indexes_of(self._chroma, self._folder)
        with ExitStack() as stack:
            for rows in indexes:
                stack.enter_context(rows.writing())
            self._begin(CHROMA_S)
            yield indexes

    def _replaced(self, rows: Sequence[Ready]) -> _Present:
        """The rows that are there under the ids of these, and that these may replace."""
        present = self._there([each.memory.id for each in rows if not each.is_new])
        for row in rows:
            there = present.get(row.memory.id)
            if row.before not in (ANY_ROW, there):
                raise ChangedError
            if there and not row.guard.fields().items() <= (there[2] or {}).items():
                raise id_is_taken(row.memory.id, row.guard)
        return present

    def _there(self, ids: Sequence[str]) -> _Present:
        self._begin(CHROMA_S)
        return self._collection.rows(ids)


def _in_order(rows: Sequence[Ready], embedded: Embedded) -> Embedded:
    """The vectors of rows: those that are known, which have no tokens, and those of their texts."""
    if all(row.vector is None for row in rows):
        return embedded
    nothing = TokenVectors([], np.empty((0, 0), dtype=np.float32))
    new = zip(embedded.vectors, embedded.tokens or repeat(nothing), strict=False)
    both = [next(new) if row.vector is None else (row.vector, nothing) for row in rows]
    vectors, tokens = zip(*both, strict=True)
    return Embedded(np.stack(vectors), tokens)


def _stored_in(present: _Present, rows: Sequence[Ready]) -> list[str]:
    return [x.memory.id for x in rows if x.is_stored_as(*present.get(x.memory.id, ())[1:])]


def _joined(jobs: Sequence[_Job]) -> Iterator[list[_Job]]:
    """Groups of jobs that fit into one batch; two writes of one row are never in one group."""
    together: list[_Job] = []
    ids: set[str] = set()
    for job in jobs:
        new = {row.memory.id for row in job.rows}
        alone = job.gone or (together and together[-1].gone)
        if together and (alone or ids & new or len(ids) + len(new) > BATCH):
            yield together
            together, ids = [], set()
        together.append(job)
        ids |= new
    if together:
        yield together
