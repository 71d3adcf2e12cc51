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
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.collection import Collection, pages
from recall_retrievers.store.chroma.where import Where
from recall_retrievers.store.disk.operations import Operations
from recall_retrievers.store.rows.differences import stored_anew
from recall_retrievers.store.rows.table import Table

POLL_S = 1.0  # seconds between two looks
COUNTED_AT_ONCE = 5000  # rows; up to here counting them is quick enough to do for each question
RARELY = 10  # times as long as it took, until something costly is done again
NOW_AND_THEN = 200  # likewise, until all ids are compared without a reason
TAIL = 250  # the last ids, which are compared at each look
_PAGE = 1000  # rows with their texts a call: with 250 it takes half as long again
_MOST_IDS = 500_000  # a call

Page = Mapping[str, Any]
"""Rows as Chroma returns them."""

Change = Page | list[str]
"""Rows that are new or were replaced, or the ids of rows that are gone."""


class Follower:
    """Finds what others change in a collection; threads may use it side by side.

    Its methods yield changes, and go on when the row index has taken them over.

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

    def __init__(self, index: Collection, *, alone: bool) -> None:
        self._index = index
        self._collection: Any = index.chroma
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

    def changes(self, table: Table) -> Iterator[Change]:
        """What others have written up to a second ago.

        A question that needs it waits while another one looks.

        Args:
            table: The rows that are known.
        """
        now = time.monotonic()
        if self._may_be_behind(table, now):
            with self._looking:
                if self._may_be_behind(table, now):
                    yield from self._look(table)

    def close(self) -> None:
        """Let everything go."""

    def _may_be_behind(self, table: Table, now: float) -> bool:
        if self._alone:
            return False
        if self._looked < now - POLL_S:
            return True
        known = self._count_of(table)
        return known <= COUNTED_AT_ONCE and self._collection.count() != known

    def _count_of(self, table: Table) -> int:
        """How many rows the collection had at the last look."""
        return len(table)

    def _look(self, table: Table) -> Iterator[Change]:
        started = time.monotonic()
        if self._index.foreign:
            in_step = yield from self._by_order(table)
        else:
            in_step = self._by_number(table)
        if not in_step or started >= self._compare_at:
            yield from self.compare(table)
        self._looked = started

    # -- what has changed -------------------------------------------------------------------------

    def _by_order(self, table: Table) -> Generator[Change, None, bool]:
        """Take what was stored last; False where all ids have to be compared."""
        known = table.ids()
        start = max(0, len(known) - TAIL)
        ids = self._ids(start)
        last = known[start:]
        if ids[: len(last)] != last:
            return False
        yield from self._read(ids[len(last) :])
        return True

    def _by_number(self, table: Table) -> bool:
        """Count the rows; False where all ids have to be compared."""
        count = self._collection.count()
        self.doubtful |= len(table) > count
        overdue = self.doubtful and time.monotonic() >= self._list_at
        return len(table) >= count and not overdue

    def has_few(self, most: int) -> bool:
        """Whether it follows no more rows than that."""
        return bool(self._collection.count() <= most)

    def compare(
        self, table: Table, *, progress: bool = False
    ) -> Generator[Change, None, Sequence[str]]:
        """Compare all ids: what is gone, and what is new.

        Returns:
            All ids, in the order in which their rows were stored.
        """
        clock = time.monotonic()
        there = self._ids(0)
        took = time.monotonic() - clock
        known = table.ids()
        if self.sees_all:  # the order of what this process wrote is not known
            old = set(known)
            new: Sequence[str] = [row_id for row_id in there if row_id not in old]
        else:
            new = stored_anew(known, there)
        yield [*set(known).difference(there)]
        yield from self._read(new, progress=progress)
        self.doubtful = False
        self._looked = clock
        self._list_at = clock + RARELY * took
        self._compare_at = clock + NOW_AND_THEN * took
        return there

    # -- reading ----------------------------------------------------------------------------------

    def _ids(self, start: int) -> list[str]:
        """The ids in the collection, in order, from a place on.

        All at once: in pages it takes five times as long, because Chroma sorts anew for each.
        """
        return [each for page in self._pages(_MOST_IDS, [], start=start) for each in page["ids"]]

    def _read(self, ids: Sequence[str], *, progress: bool = False) -> Iterator[Page]:
        """Pages of rows; Chroma reads one while the page before is taken over."""
        parts = [list(ids[start : start + _PAGE]) for start in range(0, len(ids), _PAGE)]
        bar = progress_bar(parts, desc="indexing", unit="pages", total=len(parts), wanted=progress)
        with ThreadPoolExecutor(1, thread_name_prefix="recall-read") as thread:
            ahead: Future[Any] | None = None
            for part in bar:
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
    ) -> Iterator[Page]:
        return pages(self._collection, include, most=most, where=where, start=start)


class PathFollower(Follower):
    """Keeps a row index in step with a collection in a path, by Chroma's numbers of operations."""

    def __init__(self, index: Collection, operations: Operations) -> None:
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

    def changes(self, table: Table) -> Iterator[Change]:
        """What others have written."""
        if self._operations.counter() != self._counter:
            with self._looking:
                counter, position = self._operations.counter(), self._operations.position()
                if position != self.position:
                    yield from self._read(self._operations.since(self.position))
                    if self._operations.count() != len(table):
                        yield from self.compare(table)
                self.position, self._counter = position, counter

    def close(self) -> None:
        """Close the database."""
        self._operations.close()
