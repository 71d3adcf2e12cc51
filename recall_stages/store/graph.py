"""The rows nearest to one vector, without a condition: asked of Chroma once for all searches."""

from __future__ import annotations

from concurrent.futures import Executor, Future

import numpy as np
from numpy.typing import NDArray

from recall_stages.store.index import Index, Similar


class Graph:
    """Chroma's graph of neighbours, from one vector; a wide look holds the narrower ones.

    Args:
        index: How to ask Chroma.
        vector: The vector.
    """

    def __init__(self, index: Index, vector: NDArray[np.float32]) -> None:
        self._index = index
        self.vector = vector
        self._found: list[Similar] = []
        self._most = 0
        self._begun: Future[None] | None = None

    def begin(self, most: int, beside: Executor) -> None:
        """Look in another thread; `nearest` waits for it."""
        self._begun = beside.submit(self._look, most)

    def nearest(self, most: int) -> list[Similar]:
        """The ids of the nearest rows with their cosines, the most similar first."""
        if self._begun is not None:
            self._begun.result()
            self._begun = None
        if most > self._most:
            self._look(most)
        return self._found[:most]

    def _look(self, most: int) -> None:
        self._found = self._index.neighbours(self.vector, most)
        self._most = most
