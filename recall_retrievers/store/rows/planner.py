"""The routes to the memories nearest in meaning: the same memories, at different costs.

Chroma finds the nearest of *all* rows in a few milliseconds. A condition makes it slow, because it
first reads all rows that fulfil the condition from SQLite: 100 to 600 ms at 100,000 rows. So Chroma
gets a condition only if there is no other way:

- ``graph``: search without the condition, for more rows than are wanted, and check the condition
  here. It suits a condition that many rows fulfil. It can return too few rows.
- ``rows``: compare every row that fulfils the condition. It suits a condition that few rows fulfil.
- ``where``: let Chroma check the condition, with buckets of days instead of a range of times. It is
  for a collection whose changes are not all noticed; for a scope on a server until it is asked
  often, as its vectors are many bytes; and while the row index is built.
"""

from concurrent.futures import Executor, Future
from dataclasses import dataclass
from threading import Event
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.chroma.collection import Collection, Similar

Route = Literal["graph", "rows", "where"]

# Milliseconds, measured on two cores at 10,000 to 300,000 rows of 384 dimensions. Only the ratios
# count, and they hardly differ between machines.
_ASKING, _A_NEIGHBOUR = 2.5, 0.008
_COMPARING, _A_ROW, _AN_UNREAD_ROW = 0.3, 0.0002, 0.04

_MARGIN = 2.0  # more than the share of rows suggests: similar rows often have similar times
_MOST_NEIGHBOURS = 4000  # with more, the graph is slower than any other route


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The numbers of rows that decide the route of a search."""

    wanted: int  # memories
    rows: int  # of the collection
    matching: int | None  # the conditions; None if only Chroma can check them
    unread: int  # matching rows whose vector is not known
    graph: bool = True  # whether the row index has all rows that Chroma's graph leads to

    @property
    def routes(self) -> list[Route]:
        """The routes to try, the cheapest first. The last one returns all that there are.

        Examples:
            >>> RowCounts(wanted=50, rows=100_000, matching=50_000, unread=0).routes
            ['graph', 'rows']
            >>> RowCounts(wanted=50, rows=100_000, matching=300, unread=300).routes
            ['rows']
            >>> RowCounts(wanted=50, rows=100_000, matching=None, unread=0).routes
            ['where']
        """
        if self.matching is None:
            return ["where"]
        return ["graph", "rows"] if self._is_worth(self.neighbours) else ["rows"]

    @property
    def neighbours(self) -> int:
        """The number of nearest rows to check, so that enough of them fulfil the conditions."""
        if not self.matching or self.matching >= self.rows:
            return self.wanted
        return round(_MARGIN * self.wanted * self.rows / self.matching)

    def wider(self, checked: int, found: int) -> int | None:
        """The number of nearest rows to check after so many were too few; None = compare all.

        Examples:
            >>> half = RowCounts(wanted=50, rows=100_000, matching=50_000, unread=0)
            >>> half.wider(200, 25), half.wider(800, 1)
            (800, None)
        """
        wide = round(_MARGIN * checked * self.wanted / max(found, 1))
        return wide if self.matching != self.rows and self._is_worth(wide) else None

    def _is_worth(self, checked: int) -> bool:
        """Whether to check so many neighbours takes less time than to compare all that match."""
        graph = _ASKING + _A_NEIGHBOUR * checked
        rows = _COMPARING + _A_ROW * (self.matching or 0) + _AN_UNREAD_ROW * self.unread
        return self.graph and graph < rows and checked <= _MOST_NEIGHBOURS


class Graph:
    """The neighbours of one vector in Chroma's graph; a wide query contains the narrower ones.

    Chroma searches in another thread, and this thread goes on: Chroma does not block Python. In one
    thread, a whole question took a fifth longer, because the search empties the processor's cache.
    """

    def __init__(self, index: Collection, vector: NDArray[np.float32], threads: Executor) -> None:
        self._index = index
        self._threads = threads
        self.vector = vector
        self._most = 0
        self._rows: Future[list[Similar]]

    def begin(self, most: int) -> None:
        """Start the search for this many rows; `nearest` waits for the result."""
        if most > self._most:
            started = Event()
            self._rows = self._threads.submit(self._look, most, started)
            self._most = most
            # It begins in Python, where this thread would hold it up by half a millisecond.
            started.wait()

    def _look(self, most: int, started: Event) -> list[Similar]:
        started.set()
        return self._index.neighbours(self.vector, most)

    def nearest(self, most: int) -> list[Similar]:
        """The ids of the nearest rows with their cosines, the most similar first."""
        self.begin(most)
        return self._rows.result()[:most]
