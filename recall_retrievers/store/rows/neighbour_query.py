"""The rows nearest to one vector, without a condition; one query of Chroma for all searches."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from threading import Event

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.chroma.collection import Collection, Similar


class Graph:
    """The neighbours of one vector in Chroma's graph; a wide query contains the narrower ones.

    Chroma searches in another thread, and this thread goes on: Chroma does not block Python. In one
    thread, a whole question took a fifth longer, because the search empties the processor's cache.

    Args:
        index: The collection in Chroma.
        vector: The vector.
        threads: The pool for the other threads.
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
