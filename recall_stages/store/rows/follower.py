"""Keeping a row index in step with its collection, whoever writes to it.

The stores of this process pass their writes on to the index. Writes of others are looked for before
a question. Nobody waits on a lock of the index while Chroma is read.

In a path Chroma's own numbers of operations say what has changed; see `operations`. For a server
see `scope_follower`. For a collection in memory:

- Deleted rows are noticed by the number of rows, which are counted once a second. Then all ids are
  listed, but for no more than a tenth of the time. Until it is known which rows are gone, memories
  are read from the collection instead of the index. Up to 5,000 rows are counted before each
  question.
- Rows of a collection that somebody else made have no time of writing. There the last ids are
  compared. New rows come last, so one row swapped for another is seen as well. A row that is
  replaced in place is not noticed: open the collection again.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from recall_stages.core.progress import progress_bar
from recall_stages.core.scope import Scope
from recall_stages.store.chroma.index import Index, pages
from recall_stages.store.chroma.where import Where
from recall_stages.store.disk.operations import Operations
from recall_stages.store.rows.columns import hashed
from recall_stages.store.rows.differences import appended, stored_anew

if TYPE_CHECKING:
    from recall_stages.store.rows.row_index import RowIndex

POLL_S = 1.0  # seconds between two looks
COUNTED_AT_ONCE = 5000  # rows; up to here counting them is quick enough to do for each question
RARELY = 10  # times as long as it took, until something costly is done again
NOW_AND_THEN = 200  # likewise, until all ids are compared without a reason
TAIL = 250  # the last ids, which are compared at each look
_PAGE = 1000  # rows with their texts a call: with 250 it takes half as long again
_MOST_IDS = 500_000  # a call


class Follower:
    """Keeps one row index in step with its collection; threads may use it side by side.

    Args:
        index: The collection.
        alone: Whether nobody else can write to it while it is open.

    Attributes:
        position: How far the collection was followed, as this follower counts; 0 = not known.
        sees_all: Whether every change of a row is noticed.
        doubtful: Whether rows may have been deleted, and it is not known yet which.
        scope: The scope whose rows it follows; an empty one = all rows.
        most_vectors: How many vectors a question may read.
    """

    most_vectors = sys.maxsize

    def __init__(self, index: Index, *, alone: bool) -> None:
        self._index = index
        self._collection: Any = index.collection
        self._alone = alone
        self._looking = threading.Lock()
        self._looked = -POLL_S  # the clock counts from 0
        self._list_at = self._compare_at = 0.0
        self.position = 0
        self.sees_all = not index.foreign
        self.doubtful = False
        self.scope = Scope()

    @property
    def scoped(self) -> bool:
        """Whether it follows only some of the rows."""
        return bool(self.scope.fields())

    def begin(self) -> None:
        """Follow the collection from this moment on."""

    def go_on(self, position: int) -> bool:
        """Follow the collection from an operation on; False where it never came so far."""
        self.position = position
        return True

    def wrote(self, operations: int) -> None:
        """Take note of operations of this process, which the index has taken over."""

    def refresh(self, rows: RowIndex) -> None:
        """Take over what others have written up to a second ago.

        A question that needs it waits while another one looks.
        """
        now = time.monotonic()
        if self._may_be_behind(rows, now):
            with self._looking:
                if self._may_be_behind(rows, now):
                    self._look(rows)

    def close(self) -> None:
        """Let everything go."""

    def _may_be_behind(self, rows: RowIndex, now: float) -> bool:
        if self._alone:
            return False
        if self._looked < now - POLL_S:
            return True
        known = self._count_of(rows)
        return known <= COUNTED_AT_ONCE and self._collection.count() != known

    def _count_of(self, rows: RowIndex) -> int:
        """How many rows the collection had at the last look."""
        return len(rows)

    def _look(self, rows: RowIndex) -> None:
        started = time.monotonic()
        in_step = self._by_order(rows) if self._index.foreign else self._by_number(rows)
        if not in_step or started >= self._compare_at:
            self.compare(rows)
        self._looked = started

    # -- what has changed -------------------------------------------------------------------------

    def _by_order(self, rows: RowIndex) -> bool:
        """Take what was stored last; False where all ids have to be compared."""
        known = rows.table.hashes().tolist()
        start = max(0, len(known) - TAIL)
        with rows.reading() as changed:
            ids = self._ids(start)
            new = appended(known[start:], [hashed(row_id) for row_id in ids])
            if new:
                self._fetch(rows, ids[len(ids) - len(new) :], changed)
        return new is not None

    def _by_number(self, rows: RowIndex) -> bool:
        """Count the rows; False where all ids have to be compared."""
        count = self._collection.count()
        self.doubtful |= len(rows) > count
        overdue = self.doubtful and time.monotonic() >= self._list_at
        return len(rows) >= count and not overdue

    def has_few(self, most: int) -> bool:
        """Whether it follows no more rows than that."""
        return bool(self._collection.count() <= most)

    def compare(self, rows: RowIndex, *, progress: bool = False) -> list[int]:
        """Compare all ids: forget what is gone, take what is new.

        Returns:
            The hashes of all ids, in the order in which their rows were stored.
        """
        clock = time.monotonic()
        with rows.reading() as changed:
            there = self._ids(0)
            took = time.monotonic() - clock
            known = rows.table.hashes()
            before: list[int] = known.tolist()
            hashes = [hashed(each) for each in there]
            rows.forget(np.setdiff1d(known, np.array(hashes, dtype=np.uint64)).tolist(), changed)
            if self.sees_all:  # the order of what this process wrote is not known
                old = set(before)
                new = [row_id for row_id, x in zip(there, hashes, strict=True) if x not in old]
            else:
                new = there[len(there) - len(stored_anew(before, hashes)) :]
            self._fetch(rows, new, changed, progress=progress)
        self.doubtful = False
        self._looked = clock
        self._list_at = clock + RARELY * took
        self._compare_at = clock + NOW_AND_THEN * took
        return hashes

    # -- reading ----------------------------------------------------------------------------------

    def _ids(self, start: int) -> list[str]:
        """The ids in the collection, in order, from a place on.

        All at once: in pages it takes five times as long, because Chroma sorts anew for each.
        """
        return [each for page in self._pages(_MOST_IDS, [], start=start) for each in page["ids"]]

    def _fetch(
        self,
        rows: RowIndex,
        ids: Sequence[str],
        changed: AbstractSet[str],
        *,
        progress: bool = False,
    ) -> None:
        parts = [list(ids[start : start + _PAGE]) for start in range(0, len(ids), _PAGE)]
        pages = progress_bar(
            self._read(parts), desc="indexing", unit="pages", total=len(parts), wanted=progress
        )
        for page in pages:
            rows.take(page, changed)

    def _read(self, parts: Iterable[list[str]]) -> Iterator[Mapping[str, Any]]:
        """Pages of rows; Chroma reads one while the page before is taken over."""
        with ThreadPoolExecutor(1, thread_name_prefix="recall-read") as thread:
            ahead: Future[Any] | None = None
            for part in parts:
                this = thread.submit(
                    self._collection.get, ids=part, include=["documents", "metadatas"]
                )
                if ahead is not None:
                    yield ahead.result()
                ahead = this
            if ahead is not None:
                yield ahead.result()

    def _pages(
        self, most: int, include: Sequence[str], where: Where | None = None, start: int = 0
    ) -> Iterator[Mapping[str, Any]]:
        return pages(self._collection, include, most=most, where=where, start=start)


class PathFollower(Follower):
    """Keeps a row index in step with a collection in a path, by Chroma's numbers of operations."""

    def __init__(self, index: Index, operations: Operations) -> None:
        super().__init__(index, alone=False)
        self._operations = operations
        self._counter = -1  # of the database, when it was last looked at
        self.sees_all = True

    def begin(self) -> None:
        """Follow the collection from this moment on."""
        self.go_on(self._operations.position())

    def go_on(self, position: int) -> bool:
        """Follow the collection from an operation on; False where it never came so far."""
        if self._operations.wait_in_the_queue():
            self._collection.count()  # any reading does them
        counter, last = self._operations.counter(), self._operations.position()
        self.position = position
        if position == last:  # nothing has happened since: at a million rows a look takes 5 s
            self._counter = counter
        return position <= last

    def wrote(self, operations: int) -> None:
        """Take note of operations of this process, which the index has taken over."""
        counter, position = self._operations.counter(), self._operations.position()
        if position == self.position + operations:  # else somebody has written as well
            self.position, self._counter = position, counter

    def refresh(self, rows: RowIndex) -> None:
        """Take over what others have written."""
        if self._operations.counter() != self._counter:
            with self._looking:
                counter, position = self._operations.counter(), self._operations.position()
                if position != self.position:
                    self._catch_up(rows)
                self.position, self._counter = position, counter

    def close(self) -> None:
        """Close the database."""
        self._operations.close()

    def _catch_up(self, rows: RowIndex) -> None:
        with rows.reading() as changed:
            self._fetch(rows, self._operations.since(self.position), changed)
        if self._operations.count() != len(rows):
            self.compare(rows)
