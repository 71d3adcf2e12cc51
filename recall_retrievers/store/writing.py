"""Writing: one thread a collection writes for all callers, and only the rows that have changed.

A hundred rows take Chroma little more time than one, and a hundred texts an embedding model. So
calls that come in while the thread is busy wait, and are then written together.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Condition, Lock, Thread
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import RecallError, StoreClosedError, StoreError
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.errors import LOST
from recall_retrievers.store.chroma.fields import WRITTEN_AT, Row, to_milliseconds
from recall_retrievers.store.chroma.rows import Ready, id_is_taken
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.embedding.embedder import BoundedEmbedding, Outcome
from recall_retrievers.store.embedding.token_vectors import Embedded, TokenVectors
from recall_retrievers.store.rows.scoped_rows import ScopedRows, indexes_of
from recall_retrievers.store.rows.table import Change

_log = logging.getLogger(__name__)

# Rows a call: below every limit (Chroma Cloud takes 300, SQLite 5,461), and short enough that the
# interpreter, which Chroma holds while it writes, pauses for no more than 0.15 s.
BATCH = 250
CHROMA_S = 60.0  # that closing waits for a call of Chroma's: texts of 5 MB took it half of that
_LINGERS_S = 10.0  # a thread that is new to Chroma makes an add take half as long again


class ChangedError(Exception):
    """Others have changed a row since it was read."""


class _Shared:
    """What the stores of one process on one collection share when they write.

    Each of them has a writer of its own. Chroma would add the metadata of two writes of one row up,
    and a row index could hear of them in another order than Chroma.
    """

    def __init__(self) -> None:
        self.changing = Lock()  # held while a memory is read, changed and written again
        self.writes = 0  # how many have ended
        self._writing = Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold it until Chroma and the row indexes have taken over a write."""
        with self._writing:
            try:
                yield
            finally:
                self.writes += 1


_shared: WeakValueDictionary[str, _Shared] = WeakValueDictionary()  # by the id of the collection
_looking = Lock()


@dataclass(slots=True)
class _Job:
    rows: Sequence[Ready] = ()
    alone: Callable[[], None] | None = None  # None = the rows are stored together with others
    done: Future[None] = field(default_factory=Future)
    tried: bool = False  # whether Chroma failed while it stored its rows


_Present = Mapping[str, tuple[str | None, Mapping[str, Any]]]  # text and metadata, by id


@dataclass(frozen=True, slots=True)
class _Fresh:
    rows: Sequence[Ready]
    present: _Present  # the rows that they replace
    writes: int  # how often the collection had been written to before these were read


class Writer:
    """Writes to one collection, in a thread of its own.

    The thread ends when there was nothing to write for a while. It does not keep the process alive,
    as an embedding or a server may hang.
    """

    def __init__(
        self, collection: Collection, folder: Path | None, embedding: BoundedEmbedding
    ) -> None:
        self._collection = collection
        self._chroma: Any = collection.chroma
        self._folder = folder
        self._embedding = embedding
        with _looking:
            self._shared = _shared.setdefault(str(self._chroma.id), _Shared())
        self.changing = self._shared.changing
        self._changed = Condition()
        self._waiting: deque[_Job] = deque()
        self._alive = False  # the thread
        self._busy = False
        self._closed = False
        self._due: float | None = None  # when the present step of the thread must end; None = never

    def write(
        self, rows: Sequence[Ready], vectors: NDArray[np.float32] | None = None
    ) -> Future[None]:
        """Store some rows, at most `BATCH` of them; without vectors they are embedded.

        Rows that are stored already as they are stay. Rows of a future that is cancelled before its
        turn are not written. When the rows of one call fail, those of the others are stored. The
        error says which rows are stored.
        """
        alone = None if vectors is None else partial(self._write, rows, vectors)
        return self._take(_Job(rows, alone))

    def rewrite(
        self, rows: Sequence[Ready], before: Sequence[Row | None], vectors: Sequence[Embedded]
    ) -> Future[None]:
        """Write rows that were read before, with their vectors, in one call of Chroma.

        The error is `ChangedError` if others have changed one of them meanwhile: Chroma has no
        write on a condition. Then nothing is written: read them again.
        """
        return self._take(_Job(rows, partial(self._rewrite, rows, before, vectors)))

    def delete(self, ids: Sequence[str]) -> Future[None]:
        return self._take(_Job(alone=partial(self._delete, ids)))

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
        with self._changed:
            self._due = None if limit_s is None else monotonic() + limit_s
            self._changed.notify_all()

    def _write_together(self, jobs: Sequence[_Job]) -> bool:
        try:
            fresh = self._unstored([row for job in jobs for row in job.rows])
            [embedded] = self._embed([fresh])
            self._store(fresh, embedded, jobs)
        except BaseException as error:  # noqa: BLE001 - apart, it is raised where the caller waits
            _log.debug("%d adds are written apart: %s", len(jobs), type(error).__name__)
            return False
        for job in jobs:
            job.done.set_result(None)
        return True

    def _write_apart(self, jobs: Sequence[_Job]) -> None:
        """Write each alone, so that one that fails takes nothing from the others."""
        fresh: list[tuple[_Job, _Fresh]] = []
        for job in jobs:
            try:
                fresh.append((job, self._unstored(job.rows)))
            except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
                self._fail(job, error)
        try:
            outcomes = self._embed([rows for _, rows in fresh])
        except BaseException as error:  # noqa: BLE001 - as above; a model may raise SystemExit
            for job, _ in fresh:
                self._fail(job, error)
            return
        for (job, rows), embedded in zip(fresh, outcomes, strict=True):
            self._answer(job, partial(self._store, rows, embedded, [job]))

    def _answer(self, job: _Job, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
            self._fail(job, error)
        else:
            job.done.set_result(None)

    def _fail(self, job: _Job, error: BaseException) -> None:
        """End a job; its error says which rows are there: Chroma may raise, and store some."""
        if isinstance(error, RecallError) and job.rows:
            try:
                present = self._there([row.memory.id for row in job.rows])
                error.stored = tuple(_stored_in(present, job.rows))
            except RecallError:  # the same trouble once more; the first error is raised
                error.unsure = tuple(row.memory.id for row in job.rows) if job.tried else ()
        job.done.set_exception(error)

    # -- in Chroma, and in the row indexes of this process ----------------------------------------

    def _unstored(self, rows: Sequence[Ready]) -> _Fresh:
        writes, present = self._shared.writes, self._replaced(rows)
        stored = _stored_in(present, rows)
        if stored and not self._have_vectors(stored):
            stored = []
        return _Fresh([each for each in rows if each.memory.id not in stored], present, writes)

    def _embed(self, batches: Sequence[_Fresh]) -> list[Outcome]:
        timeout_s = self._embedding.timeout_s
        self._begin(None if timeout_s is None else timeout_s + CHROMA_S)
        texts = [[index_text(each.memory) for each in batch.rows] for batch in batches]
        return self._embedding.embed_batches(texts)

    def _write(self, rows: Sequence[Ready], vectors: NDArray[np.float32]) -> None:
        fresh = self._unstored(rows)
        wanted = {each.memory.id for each in fresh.rows}
        self._store(fresh, Embedded(vectors[[each.memory.id in wanted for each in rows]]))

    def _store(self, fresh: _Fresh, embedded: Outcome, jobs: Sequence[_Job] = ()) -> None:
        if isinstance(embedded, Exception):
            raise embedded
        if not fresh.rows:
            return
        self._collection.check_dimension(embedded.vectors)
        try:
            with self._shared.writing():
                as_read = self._shared.writes == fresh.writes
                present = fresh.present if as_read else self._replaced(fresh.rows)
                self._put(fresh.rows, present, embedded)
        except StoreError as error:
            for job in jobs:
                job.tried |= error.__cause__ is not None  # else Chroma was not called
            raise

    def _put(self, ready: Sequence[Ready], present: _Present, embedded: Embedded) -> None:
        """Write whole rows in one call of Chroma, and then in the row indexes."""
        now = {WRITTEN_AT: to_milliseconds(datetime.now(UTC))}
        rows = [(x.memory.id, x.memory.content, {**x.metadata, **now}) for x in ready]
        ids, texts, metadatas = zip(*rows, strict=True)
        # Chroma merges metadata, so what a row had before is set to None.
        had = (dict.fromkeys(present[row_id][1] if row_id in present else ()) for row_id in ids)
        with self._indexes() as indexes:
            self._chroma.upsert(
                ids=[*ids],
                embeddings=embedded.vectors,
                documents=[*texts],
                metadatas=[{**old, **new} for old, new in zip(had, metadatas, strict=True)],
            )
            for each in indexes:
                each.take(Change(rows, embedded))
            self._collection.learn_dimension(embedded.vectors)

    def _rewrite(
        self, rows: Sequence[Ready], before: Sequence[Row | None], vectors: Sequence[Embedded]
    ) -> None:
        self._collection.check_dimension(*(each.vectors for each in vectors))
        with self._shared.writing():
            present = self._replaced(rows)
            for ready, row in zip(rows, before, strict=True):
                if present.get(ready.memory.id) != (row and (row[1], row[2] or {})):
                    raise ChangedError
            self._put(rows, present, _together(vectors))

    def _delete(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), BATCH):
            part = list(ids[start : start + BATCH])
            with self._shared.writing(), self._indexes() as indexes:
                self._chroma.delete(ids=part)
                for each in indexes:  # at once: the next part may fail
                    each.take(Change(gone=part))

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
            if row.memory.id in present and not row.may_replace(present[row.memory.id][1]):
                raise id_is_taken(row.memory.id, row.guard)
        return present

    def _there(self, ids: Sequence[str]) -> _Present:
        if not ids:
            return {}
        self._begin(CHROMA_S)
        page = self._chroma.get(ids=list(ids), include=["documents", "metadatas"])
        rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        return {row_id: (document, metadata or {}) for row_id, document, metadata in rows}

    def _have_vectors(self, ids: list[str]) -> bool:
        """Whether the index of vectors has all of these rows.

        Chroma keeps texts apart from it; a server that was killed may have lost a part of it.
        """
        self._begin(CHROMA_S)
        try:
            self._chroma.get(ids=ids, include=["embeddings"])
        except StoreError as error:
            if LOST not in str(error):
                raise
            _log.warning("of %d rows some have no vector in Chroma: stored again", len(ids))
            return False
        return True


def _together(vectors: Iterable[Embedded]) -> Embedded:
    """The vectors of some rows; those that are read from Chroma come without their tokens."""
    nothing = TokenVectors([], np.empty((0, 0), dtype=np.float32))
    tokens = [nothing if each.tokens is None else each.tokens[0] for each in vectors]
    return Embedded(np.concatenate([each.vectors for each in vectors]), tokens)


def _stored_in(present: _Present, rows: Sequence[Ready]) -> list[str]:
    return [row.memory.id for row in rows if row.is_stored_as(*present.get(row.memory.id, ()))]


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
