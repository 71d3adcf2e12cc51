"""Keeping a row index in step with its collection, whoever writes to it.

The stores of this process pass their writes on to the index. Writes of others are looked for before
a question. Nobody waits on a lock of the index while Chroma is read.

In a path Chroma's own numbers of operations say what has changed; see `chroma/database.py`. On a
server, and in memory, the collection is asked for two things, once a second:

- on a server, which rows `RecallStore` has written since the last look, by their time of writing;
- the ids from the last known row on. Chroma returns rows in the order in which they were stored. So
  if nothing was deleted, the first one is the last known row, and all others are new.

Where that does not fit, all ids are compared. Up to 5,000 rows are counted before each question.

Rows of a collection that somebody else made have no time of writing. A row of these that is
replaced in place is not noticed: open the collection again.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.database import Tables
from recall_retrievers.store.chroma.fields import WRITTEN_AT, to_milliseconds
from recall_retrievers.store.chroma.where import all_of, scope_where
from recall_retrievers.store.rows.table import Table

POLL_S = 1.0  # seconds between two looks
COUNTED_AT_ONCE = 5000  # rows; up to here counting them is quick enough to do for each question
RARELY = 10  # times as long as it took, until something costly is done again
NOW_AND_THEN = 200  # likewise, until all ids are compared without a reason
_ROWS = 5_000  # of a scope a call
_PAGE = 1000  # rows with their texts a call: with 250 it takes half as long again
_MOST_TIMES = 30_000  # a call: SQLite takes 32,766 variables
_DELAY = 2_000  # milliseconds from the time that a row carries until Chroma has stored it
_SKEW = 60_000  # milliseconds by which another machine's clock may be late

Page = Mapping[str, Any]
"""Rows as Chroma returns them."""

Change = Page | list[str]
"""Rows that are new or were replaced, or the ids of rows that are gone."""


class Follower:
    """Finds what others change in a collection; threads may use it side by side.

    Its methods yield changes, and go on when the row index has taken them over. ``alone``: nobody
    else can write to the collection while it is open; ``shared``: other processes can.

    Attributes:
        scope: The scope whose rows are followed; an empty one = all rows.
        position: How far the collection was followed, as this follower counts; 0 = not known.
        sees_all: Whether every change of a row is noticed.
    """

    def __init__(
        self,
        index: Collection,
        scope: Scope = ANYBODY,
        *,
        alone: bool = False,
        shared: bool = False,
    ) -> None:
        self._index = index
        self._collection: Any = index.chroma
        self._where = scope_where(scope, index.fields)
        # A vector takes 4.6 KB on its way, so a server compares them.
        self._include = ["documents", "metadatas", *["embeddings"] * (not shared)]
        self._alone, self._shared = alone, shared
        self._looking = threading.Lock()
        self._looked = -POLL_S  # the clock counts from 0
        self._compare_at = self._far_at = 0.0
        self._seen = self._far_seen = 0  # when times of writing were last compared
        self._place, self._last = 0, ""  # how many rows there were at the last look, and the last
        self._counted = 0
        self.position = 0
        self.sees_all = not index.foreign
        self.scope = scope

    @property
    def scoped(self) -> bool:
        """Whether it follows only some of the rows."""
        return bool(self.scope.fields())

    def begin(self) -> None:
        """Follow the collection from this moment on."""
        self._seen = self._far_seen = to_milliseconds(datetime.now(UTC))

    def go_on(self, position: int) -> bool:
        """Follow the collection from a position on; False where it never came so far."""
        self._seen = self._far_seen = self.position = position
        return True

    @contextmanager
    def writing(self, _: Sequence[str]) -> Iterator[None]:
        """Let this process write rows, in Chroma and then in the table: they are not read."""
        yield

    def has_few(self, most: int) -> bool:
        """Whether it follows no more rows than that."""
        return not self._collection.get(where=self._where, include=[], limit=1, offset=most)["ids"]

    def changes(self, table: Table) -> Iterator[Change]:
        """What others have written up to a second ago, other than the rows that are known.

        A question that needs it waits while another one looks.
        """
        now = time.monotonic()
        if self._may_be_behind(table, now):
            with self._looking:
                if self._may_be_behind(table, now):
                    yield from self._look(table)

    def compare(self, table: Table, *, progress: bool = False) -> Iterator[Change]:
        """Compare all ids: what is gone, and what is new."""
        clock = time.monotonic()
        self._counted = self._collection.count()
        if self.scoped and not len(table):  # one call instead of three
            there, took = list[str](), 0.0
            for page in self._index.pages(
                ["documents", "metadatas"], most=_ROWS, where=self._where
            ):
                there += page["ids"]
                yield page
        else:
            there = self._index.ids(self._where)
            took = time.monotonic() - clock
            known, old = set(table.ids()), len(there)
            # What came after the last row may have the id of an old one.
            if (self._shared or not self.sees_all) and self._last in there:
                old = there.index(self._last) + 1
            elif not self.sees_all:
                old = 0
            yield [*known.difference(there)]
            new = [row_id for row_id in there[:old] if row_id not in known] + there[old:]
            yield from self.read(new, progress=progress)
        self._place, self._last = len(there), there[-1] if there else ""
        self._looked, self.position = clock, max(self.position, self._seen)
        self._compare_at = clock + NOW_AND_THEN * took

    def close(self) -> None:
        """Let everything go."""

    # -- a look -----------------------------------------------------------------------------------

    def _may_be_behind(self, table: Table, now: float) -> bool:
        if self._alone:
            return False
        if self._looked < now - POLL_S:
            return True
        known = self._counted if self.scoped else len(table)
        return known <= COUNTED_AT_ONCE and self._collection.count() != known

    def _look(self, table: Table) -> Iterator[Change]:
        started = time.monotonic()
        if self.scoped and self._counted <= COUNTED_AT_ONCE:  # else it is not asked for
            self._counted = self._collection.count()
        if self._shared and not self._index.foreign:
            yield from self._by_time(table)
        start = max(0, min(self._place, len(table)) - 1)  # fewer: this process has deleted some
        there = self._index.ids(self._where, start)
        unknown = table.slots_of(there) < 0
        new = [row_id for row_id, is_new in zip(there, unknown.tolist(), strict=True) if is_new]
        is_last = start + 1 != self._place or there[:1] == [self._last]
        in_step = is_last and len(table) + len(new) == start + len(there)
        if in_step and (self.sees_all or started < self._compare_at):
            yield from self.read(new)
            self._place, self._last = start + len(there), there[-1] if there else ""
        else:
            yield from self.compare(table)
        self._looked, self.position = started, self._seen

    def _by_time(self, table: Table) -> Iterator[Change]:
        """Take the rows that others have written since the last look.

        Another machine's clock may be late by a minute. To read the rows of a minute at each look
        takes long if there are many. Then only those of the last seconds are read.
        """
        clock, now = time.monotonic(), to_milliseconds(datetime.now(UTC))
        far = clock >= self._far_at
        since = self._far_seen - _SKEW if far else self._seen - _DELAY
        written: dict[str, int] = {}
        where = all_of([{WRITTEN_AT: {"$gte": since}}, self._where])
        for page in self._index.pages(["metadatas"], most=_MOST_TIMES, where=where):
            times = [row[WRITTEN_AT] for row in page["metadatas"]]
            written |= zip(page["ids"], times, strict=True)
        took = time.monotonic() - clock
        known = table.written(list(written))
        yield from self.read([x for x, at in written.items() if known.get(x) != at])
        self._seen = now
        if far:
            self._far_seen, self._far_at = now, clock + RARELY * took

    # -- reading ----------------------------------------------------------------------------------

    def read(self, ids: Sequence[str], *, progress: bool = False) -> Iterator[Page]:
        """Pages of rows; Chroma reads one while the page before is taken over."""
        most = min(_PAGE, self._index.most_rows)
        parts = [list(ids[start : start + most]) for start in range(0, len(ids), most)]
        bar = progress_bar(parts, desc="indexing", unit="pages", total=len(parts), wanted=progress)
        with ThreadPoolExecutor(1, thread_name_prefix="recall-read") as thread:
            ahead: Future[Any] | None = None
            for part in bar:
                this = thread.submit(self._collection.get, ids=part, include=self._include)
                if ahead is not None:
                    yield ahead.result()
                ahead = this
            if ahead is not None:
                yield ahead.result()


class PathFollower(Follower):
    """Keeps a row index in step with a collection in a path, by Chroma's numbers of operations.

    All up to ``position`` are in the table. Of the rows after it, those that this process writes
    now or has written are known before Chroma has them, so that no question takes them for others'.
    """

    def __init__(self, index: Collection, tables: Tables) -> None:
        super().__init__(index)
        self._tables = tables
        self._counter = -1  # of the database, when it was last looked at
        self._known: dict[str, int] = {}  # rows after the position that are in the table
        self._written: set[str] = set()  # the rows that are being written
        self._noting = threading.Lock()  # while Chroma's numbers are compared with these
        self.sees_all = True

    def begin(self) -> None:
        """Follow the collection from this moment on."""
        self.go_on(self._tables.position())

    def go_on(self, position: int) -> bool:
        """Follow the collection from an operation on; False where it never came so far."""
        if self._tables.logged(self._tables.position()):
            self._collection.count()  # any reading does them
        counter, last = self._tables.counter(), self._tables.position()
        self.position = position
        if position == last:  # nothing has happened since: at a million rows a look takes 5 s
            self._counter = counter
        return position <= last

    @contextmanager
    def writing(self, ids: Sequence[str]) -> Iterator[None]:
        """Let this process write rows; see `Follower.writing`."""
        with self._noting:
            self._written = {*ids}
        try:
            yield
            with self._noting:
                counter, position = self._tables.counter(), self._tables.position()
                # Chroma numbers the operations on all collections of a path together.
                if position == self.position + len(ids):
                    self.position, self._counter = position, counter
                else:
                    new = self._tables.since(self.position)
                    self._known |= {row_id: new[row_id] for row_id in ids if row_id in new}
        finally:  # what failed may be there: then the next look finds it
            self._written = set()

    def changes(self, table: Table) -> Iterator[Change]:
        """What others have written."""
        if self._tables.counter() == self._counter:
            return
        with self._looking:
            with self._noting:
                counter, position = self._tables.counter(), self._tables.position()
                since = self._tables.since(self.position) if position != self.position else {}
                new = {x: at for x, at in since.items() if self._known.get(x) != at}
                others = [row_id for row_id in new if row_id not in self._written]
                is_writing = bool(self._written)
            yield from self.read(others)
            with self._noting:
                self._known |= {row_id: new[row_id] for row_id in others}
                if is_writing or self._written:  # the next look goes on
                    return
                is_whole = self._tables.count() == len(table)
            if not is_whole:
                yield from self.compare(table)
            with self._noting:
                if position >= self.position:
                    self.position, self._counter = position, counter
                    self._known = {x: at for x, at in self._known.items() if at > position}

    def close(self) -> None:
        """Close the database."""
        self._tables.close()
