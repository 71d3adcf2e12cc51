"""The queue of writes: one thread writes for all callers, and joins waiting calls.

A hundred rows take Chroma little more time than one, and a hundred texts an embedding model. So
calls that come in while the thread is busy wait, and are then written together.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from threading import Condition, Lock, Thread
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import RecallError, StoreClosedError, StoreError
from recall_retrievers.store.chroma.open_collection import Opened
from recall_retrievers.store.chroma.ownership import Identity
from recall_retrievers.store.chroma.prepare import Ready
from recall_retrievers.store.chroma.row_fields import Row
from recall_retrievers.store.embedding.bounded import BoundedEmbedding, Outcome
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.writing.row_writer import BATCH, Fresh, RowWriter

_log = logging.getLogger(__name__)

# Seconds. A thread that is new to Chroma makes an add take half as long again.
_LINGERS_S = 10.0


@dataclass(slots=True)
class _Job:
    """The work of one call, and its future."""

    rows: Sequence[Ready] = ()
    alone: Callable[[], None] | None = None  # None = the rows are stored together with others
    done: Future[None] = field(default_factory=Future)
    tried: bool = False  # whether Chroma failed while it stored its rows


class Writer:
    """Writes to one collection, in a thread of its own.

    The thread ends when there was nothing to write for a while. It does not keep the process alive,
    as an embedding or a server may hang.

    Args:
        opened: The collection.
        embedding: What makes the vectors.
        identity: Whose collection it is.
    """

    def __init__(self, opened: Opened, embedding: BoundedEmbedding, identity: Identity) -> None:
        self._rows = RowWriter(opened, embedding, identity, self._begin)
        self._changed = Condition()
        self._waiting: deque[_Job] = deque()
        self._alive = False  # the thread
        self._busy = False
        self._closed = False
        self._due: float | None = None  # when the present step of the thread must end; None = never

    def write(self, rows: Sequence[Ready]) -> Future[None]:
        """Store some rows, at most `BATCH` of them; the future is done when they are stored.

        Rows of a future that is cancelled before its turn are not written. When the rows of one
        call fail, those of the others are stored. The error says which rows are stored.
        """
        return self._take(_Job(rows=rows))

    def copy(self, rows: Sequence[Ready], vectors: NDArray[np.float32]) -> Future[None]:
        """Store some rows with their vectors, at most `BATCH` of them, after all earlier writes."""
        return self._take(_Job(rows, partial(self._rows.copy, rows, vectors)))

    def change(self, row: Ready, before: Row, embedded: Embedded) -> Future[None]:
        """Write what is different in a row, after all earlier writes; see `RowWriter.change`."""
        return self._take(_Job([row], partial(self._rows.change, row, before, embedded)))

    def delete(self, ids: Sequence[str]) -> Future[None]:
        """Delete rows, after all earlier writes."""
        return self._take(_Job(alone=partial(self._rows.delete, ids)))

    @property
    def changing(self) -> Lock:
        """Held while a memory is read, changed and written again."""
        return self._rows.lock.changing

    def close(self) -> bool:
        """Finish the waiting writes, and take no more.

        Returns:
            Whether all are finished; False if a call of Chroma hangs.
        """
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
                if together[0].alone is not None:
                    self._answer(together[0], together[0].alone)
                elif len(together) == 1 or not self._write_together(together):
                    self._write_apart(together)

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
        """Note how long the next step may take."""
        with self._changed:
            self._due = None if limit_s is None else monotonic() + limit_s
            self._changed.notify_all()

    def _write_together(self, jobs: Sequence[_Job]) -> bool:
        try:
            fresh = self._rows.fresh([row for job in jobs for row in job.rows])
            [embedded] = self._rows.embed([fresh])
            self._store(fresh, embedded, jobs)
        except BaseException as error:  # noqa: BLE001 - apart, it is raised where the caller waits
            _log.debug("%d adds are written apart: %s", len(jobs), type(error).__name__)
            return False
        for job in jobs:
            job.done.set_result(None)
        return True

    def _write_apart(self, jobs: Sequence[_Job]) -> None:
        """Write each alone, so that one that fails takes nothing from the others."""
        fresh: list[tuple[_Job, Fresh]] = []
        for job in jobs:
            try:
                fresh.append((job, self._rows.fresh(job.rows)))
            except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
                self._fail(job, error)
        try:
            outcomes = self._rows.embed([rows for _, rows in fresh])
        except BaseException as error:  # noqa: BLE001 - as above; a model may raise SystemExit
            for job, _ in fresh:
                self._fail(job, error)
            return
        for (job, rows), embedded in zip(fresh, outcomes, strict=True):
            self._answer(job, partial(self._store, rows, embedded, [job]))

    def _store(self, fresh: Fresh, embedded: Outcome, jobs: Sequence[_Job]) -> None:
        if isinstance(embedded, Exception):
            raise embedded
        try:
            self._rows.store(fresh, embedded)
        except StoreError as error:
            for job in jobs:
                job.tried |= error.__cause__ is not None  # else Chroma was not called
            raise

    # -- how it ended -----------------------------------------------------------------------------

    def _answer(self, job: _Job, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
            self._fail(job, error)
        else:
            job.done.set_result(None)

    def _fail(self, job: _Job, error: BaseException) -> None:
        if isinstance(error, RecallError) and job.rows:
            self._look(job, error)
        job.done.set_exception(error)

    def _look(self, job: _Job, error: RecallError) -> None:
        """Note with an error which of a job's rows are there: Chroma may raise, and store some."""
        try:
            error.stored = self._rows.stored(job.rows)
        except RecallError:  # the same trouble once more; the first error is the one that is raised
            error.unsure = tuple(row.memory.id for row in job.rows) if job.tried else ()


def _joined(jobs: Sequence[_Job]) -> Iterator[list[_Job]]:
    """Groups of jobs that fit into one batch; two writes of one row are never in one group."""
    together: list[_Job] = []
    ids: set[str] = set()
    for job in jobs:
        new = {row.memory.id for row in job.rows}
        alone = job.alone or (together and together[-1].alone)
        if together and (alone or ids & new or len(ids) + len(new) > BATCH):
            yield together
            together, ids = [], set()
        together.append(job)
        ids |= new
    if together:
        yield together
