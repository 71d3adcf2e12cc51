"""Keeping the rows of one scope in step with a collection on a server, for few bytes.

Once a second, before a question, the server is asked for two things:

- which rows of the scope `RecallStore` has written lately, by their time of writing;
- the last ids of the scope. Chroma returns rows in the order in which they were stored, so these
  are the known ones if nothing was deleted. Rows that raw chromadb has added come after them. If
  rows are missing, the place of the first one is found by halves. All ids of the scope are listed
  only where that fails, and for no more than a tenth of the time.

Measured on 2,000 of 100,000 rows: 1 KB a look, 4 KB and six calls for a row that is gone.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from datetime import UTC, datetime

from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import WRITTEN_AT, to_milliseconds
from recall_retrievers.store.chroma.where import Where, all_of, scope_where
from recall_retrievers.store.rows.differences import Id, find_gone
from recall_retrievers.store.rows.follower import COUNTED_AT_ONCE, RARELY, Change, Follower, Page
from recall_retrievers.store.rows.table import Table

_DELAY = 2_000  # milliseconds from the time that a row carries until Chroma has stored it
_SKEW = 60_000  # milliseconds by which another machine's clock may be late
_MOST_TIMES = 30_000  # a call: SQLite takes 32,766 variables
_LAST = 32  # ids that are compared at each look
_LISTED = 256  # so many ids are listed sooner than searched by halves
_ROWS = 5_000  # a call
# A vector takes 4.6 KB on its way, so the first questions of a scope let the server filter.
_FIRST_QUESTIONS = 2
_FEW_VECTORS, _MOST_VECTORS = 100, 5_000


class ScopeFollower(Follower):
    """Keeps the rows of one scope in step with their collection.

    Args:
        index: The collection.
        scope: The scope; an empty one = all rows.
    """

    def __init__(self, index: Collection, scope: Scope) -> None:
        super().__init__(index, alone=False)
        self.scope = scope
        self._far_at = 0.0
        self.begin()
        self._questions = 0
        self._where = scope_where(scope, index.fields)
        self._order: Sequence[str] = ()  # the ids of all rows that were followed, as stored
        self._counted = 0  # rows of the collection, also of other scopes

    def begin(self) -> None:
        """Follow the collection from this moment on."""
        self._seen = self._far_seen = to_milliseconds(datetime.now(UTC))

    def go_on(self, position: int) -> bool:
        """Follow the collection from a time on, in epoch milliseconds."""
        self._seen = self._far_seen = self.position = position
        return True

    @property
    def most_vectors(self) -> int:  # type: ignore[override]  # for all rows it is a constant
        """How many vectors a question may read: none of the first questions reads many."""
        if not self.scoped:
            return super().most_vectors
        return _MOST_VECTORS if self._questions > _FIRST_QUESTIONS else _FEW_VECTORS

    def changes(self, table: Table) -> Iterator[Change]:
        """What others have written up to a second ago."""
        self._questions += 1
        return super().changes(table)

    def has_few(self, most: int) -> bool:
        """Whether the scope has no more rows than that."""
        return not self._collection.get(where=self._where, include=[], limit=1, offset=most)["ids"]

    def compare(
        self, table: Table, *, progress: bool = False
    ) -> Generator[Change, None, Sequence[str]]:
        """Read all rows, or compare all ids where some rows are known."""
        self._counted = self._collection.count()
        if len(table):
            order = yield from super().compare(table, progress=progress)
        else:
            clock, read = time.monotonic(), list[str]()
            for page in self._pages(_ROWS, ["documents", "metadatas"]):
                yield page
                read += page["ids"]
            self._looked, order = clock, read
            self.position = self._seen
        self._order = order
        return order

    def _count_of(self, table: Table) -> int:
        return self._counted if self.scoped else len(table)

    def _look(self, table: Table) -> Iterator[Change]:
        started = time.monotonic()
        if self._counted <= COUNTED_AT_ONCE:  # else it is not asked for
            self._counted = self._collection.count()
        if not self._index.foreign:
            yield from self._by_time(table)
        in_step = yield from self._by_last(table)
        if self._index.foreign:
            compared = not in_step or started >= self._compare_at
        else:
            self.doubtful = not in_step
            compared = self.doubtful and started >= self._list_at
        if compared:
            yield from self.compare(table)
        self._looked = started
        self.position = self._seen

    def _by_time(self, table: Table) -> Iterator[Change]:
        """Take the rows that others have written since the last look.

        Another machine's clock may be late by a minute. To read the rows of a minute at each look
        takes long if there are many. Then only those of the last seconds are read.
        """
        clock, now = time.monotonic(), to_milliseconds(datetime.now(UTC))
        far = clock >= self._far_at
        since = self._far_seen - _SKEW if far else self._seen - _DELAY
        written: dict[str, int] = {}
        for page in self._pages(_MOST_TIMES, ["metadatas"], {WRITTEN_AT: {"$gte": since}}):
            times = [row[WRITTEN_AT] for row in page["metadatas"]]
            written |= zip(page["ids"], times, strict=True)
        took = time.monotonic() - clock
        known = table.written(list(written))
        yield from self._read([x for x, at in written.items() if known.get(x) != at])
        self._seen = now
        if far:
            self._far_seen, self._far_at = now, clock + RARELY * took

    def _by_last(self, table: Table) -> Generator[Change, None, bool]:
        """Compare the last ids; False where all have to be compared."""
        known = self._known(table)
        first = max(0, len(known) - _LAST)
        last = known[first:]
        there = self._ids_from(first, _LAST + 1)
        gone = _shift(last, there)
        if gone is None:
            return False
        if gone:
            left = self._without(known, gone)
            if left is None:
                return False
            yield [*set(known).difference(left)]
            known = left
        new = self._ids(len(known)) if len(there) > len(last) - gone else []
        yield from self._read(new)
        self._order = [*known, *new]
        return True

    def _without(self, known: Sequence[str], number: int) -> Sequence[str] | None:
        """The known rows without those that are gone, where these are found for few bytes."""
        if len(known) <= _LISTED:
            return None
        gone = find_gone(known, number, self._ids_from)
        if gone is None:
            return None
        # They may be only elsewhere in the order.
        if self._collection.get(ids=gone, include=[])["ids"]:
            return None
        left = set(gone)
        return [row_id for row_id in known if row_id not in left]

    def _known(self, table: Table) -> Sequence[str]:
        """All known rows, in the order in which they were stored as far as that is known."""
        there = dict.fromkeys(table.ids())
        order = [row_id for row_id in self._order if row_id in there]
        before = set(order)
        return [*order, *(row_id for row_id in there if row_id not in before)]

    def _ids_from(self, start: int, most: int) -> Sequence[str]:
        page = self._collection.get(where=self._where, include=[], limit=most, offset=start)
        ids: Sequence[str] = page["ids"]
        return ids

    def _pages(
        self, most: int, include: Sequence[str], where: Where | None = None, start: int = 0
    ) -> Iterator[Page]:
        return super()._pages(most, include, all_of([where, self._where]), start)


def _shift(last: Sequence[Id], there: Sequence[Id]) -> int | None:
    """How many rows before the last ones are gone.

    Args:
        last: The last known rows.
        there: The rows that are there now, from the place of the first of these on.

    Returns:
        Their number; None if it cannot be told.

    Examples:
        >>> _shift([7, 8, 9], [7, 8, 9, 10]), _shift([7, 8, 9], [9, 10])
        (0, 2)
    """
    # Two processes that store at the same time may not know the order of their rows.
    if set(there[: len(last)]) == set(last):
        return 0
    if not there or there[0] not in last:
        return None
    shift = last.index(there[0])
    rest = last[shift:]
    return shift if set(there[: len(rest)]) == set(rest) else None
