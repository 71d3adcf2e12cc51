"""Vectors of rows in memory, for exact comparisons.

Chroma takes 40 ms to return a thousand vectors. A comparison of a thousand here takes 1 ms.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recall_stages.store.rows.owners import Places

_BLOCK = 8192  # rows: a block is never moved, and a comparison needs little memory
MOST_BYTES = 512_000_000  # bytes: 330,000 vectors of 384 numbers; further ones are read when needed
_WHOLE = 4  # if a quarter of a block is wanted, all of it is compared: that needs no copy


class Vectors:
    """The vectors of rows, scaled to length 1, by the place of the row."""

    def __init__(self) -> None:
        self._blocks: dict[int, NDArray[np.float32]] = {}
        self._present: dict[int, NDArray[np.bool_]] = {}

    def keep(self, places: Places, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors of rows while there is room."""
        scaled = unit(vectors)
        for number in np.unique(places // _BLOCK).tolist():
            if number not in self._blocks and not self._start(number, vectors.shape[1]):
                continue
            inside = places // _BLOCK == number
            self._blocks[number][places[inside] % _BLOCK] = scaled[inside]
            self._present[number][places[inside] % _BLOCK] = True

    def forget(self, place: int) -> None:
        """Forget the vector at a place."""
        if place // _BLOCK in self._present:
            self._present[place // _BLOCK][place % _BLOCK] = False

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(present)) for present in self._present.values())

    def missing(self, places: Places) -> NDArray[np.bool_]:
        """Whether the vector at each place is missing."""
        missing = np.ones(len(places), dtype=np.bool_)
        for number, inside in _by_block(places):
            if number in self._present:
                missing[inside] = ~self._present[number][places[inside] % _BLOCK]
        return missing

    def cosines(self, places: Places, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of rows to a vector; no vector may be missing.

        Args:
            places: The places of the rows, in ascending order.
            vector: The vector, of length 1.
        """
        cosines = np.empty(len(places), dtype=np.float32)
        for number, inside in _by_block(places):
            block, rows = self._blocks[number], places[inside] % _BLOCK
            if len(rows) * _WHOLE > _BLOCK:
                cosines[inside] = _dot(block, vector)[rows]
            else:
                cosines[inside] = _dot(block[rows], vector)
        return cosines

    def _start(self, number: int, dimension: int) -> bool:
        if (len(self._blocks) + 1) * _BLOCK * dimension * 4 > MOST_BYTES:
            return False
        self._blocks[number] = np.zeros((_BLOCK, dimension), dtype=np.float32)
        self._present[number] = np.zeros(_BLOCK, dtype=np.bool_)
        return True


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors scaled to length 1; a vector of zeros stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return scaled


def _dot(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # `@` starts threads that wait for each other: 12 ms instead of 1 on a busy machine.
    products: NDArray[np.float32] = np.einsum("ij,j->i", rows, vector)
    return products


def _by_block(places: Places) -> list[tuple[int, slice]]:
    """The blocks of ascending places, and the part of the places in each block."""
    if not len(places):
        return []
    numbers = places // _BLOCK
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(places)]
    return [(int(numbers[start]), slice(start, end)) for start, end in pairwise(starts)]
