"""The rows nearest to one vector, without a condition: asked of Chroma once for all searches."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from threading import Event

import numpy as np
from numpy.typing import NDArray

from recall_stages.store.chroma.index import Index, Similar


class Graph:
    """Chroma's graph of neighbours, from one vector; a wide look holds the narrower ones.

    Chroma looks in another thread. While it does, this one may work on: Chroma does not hold Python
    up, and it goes through more memory than a processor's core keeps at hand, of which what this
    thread does afterwards would have to wait (a whole question took a fifth longer).

    Args:
        index: How to ask Chroma.
        vector: The vector.
        beside: Where the other threads come from.
    """

    def __init__(self, index: Index, vector: NDArray[np.float32], beside: Executor) -> None:
        self._index = index
        self._beside = beside
        self.vector = vector
        self._most = 0
        self._found: Future[list[Similar]]

    def begin(self, most: int) -> None:
        """Let Chroma look for so many; `nearest` waits for it."""
        if most > self._most:
            started = Event()
            self._found = self._beside.submit(self._look, most, started)
            self._most = most
            # Its first lines are Python, which this thread would keep waiting: half a millisecond.
            started.wait()

    def _look(self, most: int, started: Event) -> list[Similar]:
        started.set()
        return self._index.neighbours(self.vector, most)

    def nearest(self, most: int) -> list[Similar]:
        """The ids of the nearest rows with their cosines, the most similar first."""
        self.begin(most)
        return self._found.result()[:most]
