"""Writing: one thread writes for all who call, and joins what several of them brought at once.

Chroma takes a hundred rows in little more time than one, and an embedding model a hundred texts.
So calls that come in while the thread is busy wait side by side and are then written together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from recall_stages.store.embedding import Embedder
from recall_stages.store.identity import Identity
from recall_stages.store.intake import Ready
from recall_stages.store.mirror import mirrors_of
from recall_stages.store.moments import to_milliseconds
from recall_stages.store.rows import WRITTEN_AT, index_text

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

# Rows a call: below every limit (Cloud takes 300, SQLite 5,461), and short enough that the
# interpreter, which Chroma holds while it writes, pauses for no more than 0.15 s.
BATCH = 250


@dataclass(frozen=True, slots=True)
class _Job:
    """What one caller wants written, and how he learns that it was."""

    rows: Sequence[Ready]
    done: Future[None] = field(default_factory=Future)


class Writer:
    """Writes to one collection.

    Args:
        collection: Chroma's own object.
        embedding: What makes the vectors.
        identity: Whose collection it is.
    """

    def __init__(self, collection: Collection, embedding: Embedder, identity: Identity) -> None:
        self._collection = collection
        self._embedding = embedding
        self._identity = identity
        self._waiting: deque[_Job] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recall-writer")

    def write(self, rows: Sequence[Ready]) -> Future[None]:
        """Store some rows, at most `BATCH` of them; the future is done when they are stored.

        A future that is cancelled before its turn is not written. What one caller brought may fail
        without touching what the others brought.
        """
        job = _Job(rows)
        self._waiting.append(job)
        self._thread.submit(self._write_waiting)
        return job.done

    def delete(self, ids: Sequence[str]) -> Future[None]:
        """Delete rows, after all that was to be written before."""
        return self._thread.submit(self._delete, ids)

    def close(self) -> None:
        """Write what is waiting, then end the thread."""
        self._thread.shutdown()

    # -- in the thread ----------------------------------------------------------------------------

    def _delete(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), BATCH):
            self._collection.delete(ids=list(ids[start : start + BATCH]))
        for mirror in mirrors_of(self._collection):
            mirror.drop(ids)

    def _write_waiting(self) -> None:
        jobs: list[_Job] = []
        while self._waiting:
            job = self._waiting.popleft()
            if job.done.set_running_or_notify_cancel():
                jobs.append(job)
        for together in _joined(jobs):
            if len(together) > 1 and self._succeeds(together):
                continue
            for job in together:  # alone, so that each learns what became of its own
                _answer(job, partial(self._store, job.rows))

    def _succeeds(self, jobs: Sequence[_Job]) -> bool:
        try:
            self._store([row for job in jobs for row in job.rows])
        except Exception:  # noqa: BLE001 - each is written alone then, and that error is raised
            return False
        for job in jobs:
            job.done.set_result(None)
        return True

    def _store(self, batch: Sequence[Ready]) -> None:
        """Embed and write rows, but for those that are there already as they are."""
        present = self._present(batch)
        batch = [each for each in batch if not each.is_stored_as(*present.get(each.memory.id, ()))]
        if not batch:
            return
        vectors = self._embedding.embed_documents([index_text(each.memory) for each in batch])
        self._identity.check_dimension(vectors)
        written = to_milliseconds(datetime.now(UTC))
        rows = [
            (each.memory.id, each.memory.content, {**each.metadata, WRITTEN_AT: written})
            for each in batch
        ]
        # Chroma merges metadata and does not replace it: what a row had before is set to None.
        metadatas: Any = [
            {**dict.fromkeys(present[row_id][1] if row_id in present else ()), **metadata}
            for row_id, _, metadata in rows
        ]
        self._collection.upsert(
            ids=[row_id for row_id, _, _ in rows],
            embeddings=vectors,
            documents=[text for _, text, _ in rows],
            metadatas=metadatas,
        )
        for mirror in mirrors_of(self._collection):
            mirror.put(rows, written, vectors)
        self._identity.learn_dimension(vectors)

    def _present(self, batch: Sequence[Ready]) -> dict[str, tuple[str | None, dict[str, Any]]]:
        """Text and metadata of the rows that are there already, by id."""
        ids = [each.memory.id for each in batch if not each.is_new]
        if not ids:
            return {}
        page: Any = self._collection.get(ids=ids, include=["documents", "metadatas"])
        rows = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        return {row_id: (document, metadata or {}) for row_id, document, metadata in rows}


def _joined(jobs: Sequence[_Job]) -> Iterator[list[_Job]]:
    """Jobs that fit into one batch; of two that write one row, the later comes later."""
    together: list[_Job] = []
    ids: set[str] = set()
    for job in jobs:
        new = {row.memory.id for row in job.rows}
        if together and (ids & new or len(ids) + len(new) > BATCH):
            yield together
            together, ids = [], set()
        together.append(job)
        ids |= new
    if together:
        yield together


def _answer(job: _Job, work: Callable[[], None]) -> None:
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
        job.done.set_exception(error)
    else:
        job.done.set_result(None)
