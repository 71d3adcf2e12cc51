"""Keeping a row index in step with its collection, whoever writes to it.

The stores of this process pass their writes on to the index. Writes of others are looked for before
a question: in a path when the times of its files say that somebody wrote (see `Watch`), elsewhere
once a second. Nobody waits on a lock of the index while Chroma is read.

A look asks for two things:

- on a server, which rows `RecallStore` has written since the last look, by their time of writing;
- the ids from the last known row on. Chroma returns rows in the order in which they were stored. So
  if nothing was deleted, the first one is the last known row, and all others are new.

Where that does not fit, all ids are compared. Outside of a path up to 5,000 rows are counted before
each question.

A row that somebody replaces in place without a time of writing is noticed when the collection is
opened again: then all texts are compared, if others may have written since it was closed.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.errors import LOST
from recall_retrievers.store.chroma.fields import WRITTEN_AT, to_milliseconds
from recall_retrievers.store.chroma.place import Place
from recall_retrievers.store.chroma.where import all_of, scope_where
from recall_retrievers.store.embedding.local_model import Embedded
from recall_retrievers.store.rows.table import Change, Table

POLL_S = 1.0  # seconds between two looks
COUNTED_AT_ONCE = 5000  # rows; up to here counting them is quick enough to do for each question
RARELY = 10  # times as long as it took, until something costly is done again
_ROWS = 5_000  # of a scope a call
_PAGE = 1000  # rows with their texts a call: with 250 it takes half as long again
_MANY = 10_000  # rows that take a second
_MOST_TIMES = 30_000  # a call: SQLite takes 32,766 variables
_DELAY = 2_000  # milliseconds from the time that a row carries until Chroma has stored it
_SKEW = 60_000  # milliseconds by which another machine's clock may be late
_TEXTS = ("documents", "metadatas")


class Follower:
    """Finds what others change in a collection; threads may use it side by side.

    Its methods yield changes, and go on when the row index has taken them over.
    """

    def __init__(
        self,
        index: Collection,
        place: Place | None,  # None = the caller passed the collection
        scope: Scope,  # whose rows are followed
        *,
        alone: bool,  # nobody else can write to it while it is open
    ) -> None:
        self._index = index
        self._collection: Any = index.chroma
        self._name = f"{index.chroma.id} {index.fields!r}"
        self._where = scope_where(scope, index.fields)
        self._watch = place.held.watch if place and place.held else None
        self._shared = place is None or place.shared  # it is on a server, where vectors stay
        self._alone = alone
        self._include = _TEXTS if self._shared else (*_TEXTS, "embeddings")
        self._looking = threading.Lock()
        self._looked = -POLL_S  # the clock counts from 0
        self._others = -1  # what `Watch.others` was at the last look
        self.compared: int | None = None  # and when all texts were compared; None = they were not
        self._far_at = 0.0
        self._seen = self._far_seen = 0  # when times of writing were last compared
        self._place, self._last = 0, ""  # how many rows there were at the last look, and the last
        self._counted = 0
        self.scope, self._scoped = scope, bool(scope.fields())

    @property
    def mark(self) -> str:
        """How far the collection was followed, for the next opening; empty = not known."""
        if self._watch is None:
            return str(self._seen)
        return "" if self.compared is None else self._watch.mark(self._name, self.compared)

    def begin(self) -> bool:
        """Follow the collection from this moment on; True if it is empty, so that all is known."""
        self._seen = self._far_seen = to_milliseconds(datetime.now(UTC))
        self._others = self._look_at_files()
        empty = not self._collection.count()
        self.compared = self._others if empty else None
        return empty

    def go_on(self, mark: str, rows: int) -> None:
        """Follow the collection from a mark on; else all texts must be compared."""
        self._place = rows
        if self._watch is None:
            self._seen = self._far_seen = int(mark) if mark.isdigit() else 0
            self.compared = 0
        elif self._watch.is_as(self._name, mark):
            self._others = self.compared = self._watch.others

    def has_few(self, most: int) -> bool:
        return not self._collection.get(where=self._where, include=[], limit=1, offset=most)["ids"]

    def changes(self, table: Table) -> Iterator[Change]:
        """What others have written, other than the rows that are known.

        A question that needs it waits while another one looks.
        """
        if self._may_be_behind(table):
            with self._looking:
                if self._may_be_behind(table):
                    if self._shared and not self._index.foreign:
                        yield from self._by_time(table)
                    # Fewer than there were: this process has deleted some.
                    yield from self._look(table, max(0, min(self._place, len(table)) - 1))

    def compare(self, table: Table) -> Iterator[Change]:
        """Compare all rows: what is gone, what is new, and what has another text."""
        others = self._look_at_files()
        yield from self._look(table, 0, texts=True)
        self.compared = others

    # -- a look -----------------------------------------------------------------------------------

    def _look_at_files(self) -> int:
        return 0 if self._watch is None else self._watch.look()

    def _may_be_behind(self, table: Table) -> bool:
        now = time.monotonic()
        if self._alone:
            return False
        if self._watch is not None:
            # A file system may count its times in ticks: a second later it is looked at once more.
            again = self._watch.changed_at + POLL_S
            return self._watch.look() != self._others or self._looked < again <= now
        if self._looked < now - POLL_S:
            return True
        known = self._counted if self._scoped else len(table)
        return known <= COUNTED_AT_ONCE and self._collection.count() != known

    def _look(self, table: Table, start: int, *, texts: bool = False) -> Iterator[Change]:
        """Compare the ids from a place on: all of them where these do not fit to those known."""
        clock, others = time.monotonic(), self._look_at_files()
        if self._scoped and (not start or self._counted <= COUNTED_AT_ONCE):
            self._counted = self._collection.count()
        there = list[str]()
        if self._scoped and not len(table):  # one call instead of two
            for page in self._index.pages(_TEXTS, most=_ROWS, where=self._where):
                there += page["ids"]
                yield _change(page)
        elif start:
            there = self._index.ids(self._where, start)
            unknown = table.slots_of(there) < 0
            new = [row_id for row_id, is_new in zip(there, unknown, strict=True) if is_new]
            is_last = start + 1 != self._place or self._last in ("", *there[:1])
            if not is_last or len(table) + len(new) != start + len(there):
                yield from self._look(table, 0)
                return
            yield from self.read(new)
        else:
            there, known = self._index.ids(self._where), set(table.ids())
            # What came after the last row may have the id of an old one.
            later = there[there.index(self._last) + 1 :] if self._last in there else []
            changed = {*there}.difference(known).union(later)
            yield Change(gone=[*known.difference(there)])
            if texts:
                for old in self.read([x for x in there if x not in changed], _TEXTS):
                    changed.update(table.differing(old.rows))
            yield from self.read([x for x in there if x in changed])
        self._place, self._last = start + len(there), there[-1] if there else ""
        self._looked, self._others = clock, others

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

    def read(self, ids: Sequence[str], include: Sequence[str] = ()) -> Iterator[Change]:
        """Rows, page by page; with a progress bar where many are read as a whole."""
        most = min(_PAGE, self._index.most_rows)
        parts = [list(ids[start : start + most]) for start in range(0, len(ids), most)]
        wanted, many = [*(include or self._include)], not include and len(ids) > _MANY
        for part in progress_bar(parts, desc="indexing", unit="pages", wanted=many):
            try:
                page = self._collection.get(ids=part, include=wanted)
            except StoreError as error:
                if LOST not in str(error):
                    raise
                # One is being deleted, or has no vector: then Chroma is asked about meaning.
                page = self._collection.get(ids=part, include=[*_TEXTS])
            yield _change(page)


def _change(page: Mapping[str, Any]) -> Change:
    """The rows of a page of Chroma's."""
    vectors = page.get("embeddings")
    return Change(
        [*zip(page["ids"], page["documents"], page["metadatas"], strict=True)],
        None if vectors is None else Embedded(np.asarray(vectors, np.float32)),
    )
