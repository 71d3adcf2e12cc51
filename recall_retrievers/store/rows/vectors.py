"""The vectors of rows, for exact comparisons.

Chroma takes 40 ms to return a thousand vectors. A comparison of a thousand here takes 1 ms. They
are kept in 32 bits: numpy compares those of 16 bits five times as slowly, and `repair` can build
Chroma's index from them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.embedding.token_vectors import unit
from recall_retrievers.store.rows.append_file import AppendFile
from recall_retrievers.store.rows.numbers import ByPlace
from recall_retrievers.store.rows.wanted import Places

_BLOCK = 8192  # rows compared at once
_WHOLE = 4  # if a quarter of a block is wanted, all of it is compared: that needs no copy


class Vectors:
    """The vectors of rows, scaled to length 1, by the place of the row.

    Args:
        numbers: The vectors, one after the other.
        owners: The place of the row of each vector.
        dimension: The length of a vector; 0 = not known yet.
        room: Takes room for more of them, where there is any; further vectors are read when needed.
            None = there is room for all.
    """

    def __init__(
        self,
        numbers: AppendFile,
        owners: AppendFile,
        dimension: int,
        room: Callable[[int], bool] | None,
    ) -> None:
        self._numbers, self._owners = numbers, owners
        self.dimension = dimension
        self._room = room
        self._slots = ByPlace(owners.view().view(np.int64))

    def keep(self, places: Places, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors of rows, while there is room."""
        if self._room is not None and not self._room(vectors.nbytes):
            return
        self.dimension = vectors.shape[1]
        self._numbers.append(unit(vectors).astype(np.float32).tobytes())
        self._owners.append(places.astype(np.int64).tobytes())
        self._slots.add(places)

    def missing(self, places: Places) -> NDArray[np.bool_]:
        """Whether the vector of the row at each place is missing."""
        return self._slots.at(places) < 0

    def at(self, places: Places) -> NDArray[np.float32]:
        """The vectors of rows; none may be missing."""
        return self._all()[self._slots.at(places)]

    def cosines(self, places: Places, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of rows to a vector of length 1; no vector may be missing."""
        slots, rows = self._slots.at(places), self._all()
        if len(slots) and (np.diff(slots) == 1).all():  # they lie one after the other
            return _dot(rows[slots[0] : slots[-1] + 1], vector)
        cosines = np.empty(len(places), dtype=np.float32)
        order = np.argsort(slots, kind="stable")
        ordered = slots[order]
        start = 0
        while start < len(ordered):
            first = ordered[start] // _BLOCK * _BLOCK
            end = int(np.searchsorted(ordered, first + _BLOCK))
            inside, block = ordered[start:end] - first, rows[first : first + _BLOCK]
            if len(inside) * _WHOLE > len(block):
                cosines[order[start:end]] = _dot(block, vector)[inside]
            else:
                cosines[order[start:end]] = _dot(block[inside], vector)
            start = end
        return cosines

    def _all(self) -> NDArray[np.float32]:
        return self._numbers.view().view(np.float32).reshape(-1, self.dimension or 1)


def _dot(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # `@` starts threads that wait for each other: 12 ms instead of 1 on a busy machine.
    products: NDArray[np.float32] = np.einsum("ij,j->i", rows, vector)
    return products
