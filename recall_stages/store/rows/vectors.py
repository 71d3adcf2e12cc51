"""Vectors that have been read or written once, kept so that exact scores cost next to nothing.

Chroma hands a thousand vectors over in 40 ms; a thousand that are here are compared in one.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recall_stages.store.rows.owners import Places

_BLOCK = 8192  # rows: none is ever moved, and what a comparison needs besides stays small
_MOST = 512_000_000  # bytes: 330,000 vectors of 384 numbers; further ones are read when needed
_WHOLE = 4  # of a block of which a quarter is asked for, all is compared: that needs no copy


class Vectors:
    """The vectors of rows, each scaled to length 1, by the place of the row."""

    def __init__(self) -> None:
        self._blocks: dict[int, NDArray[np.float32]] = {}
        self._kept: dict[int, NDArray[np.bool_]] = {}

    def keep(self, places: Places, vectors: NDArray[np.float32]) -> None:
        """Keep the vectors of rows, as long as there is room."""
        scaled = unit(vectors)
        for number in np.unique(places // _BLOCK).tolist():
            if number not in self._blocks and not self._start(number, vectors.shape[1]):
                continue
            inside = places // _BLOCK == number
            self._blocks[number][places[inside] % _BLOCK] = scaled[inside]
            self._kept[number][places[inside] % _BLOCK] = True

    def forget(self, place: int) -> None:
        """The row at a place is gone, or has another vector now."""
        if place // _BLOCK in self._kept:
            self._kept[place // _BLOCK][place % _BLOCK] = False

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(kept)) for kept in self._kept.values())

    def missing(self, places: Places) -> NDArray[np.bool_]:
        """For each place whether its vector is not here."""
        missing = np.ones(len(places), dtype=np.bool_)
        for number, inside in _by_block(places):
            if number in self._kept:
                missing[inside] = ~self._kept[number][places[inside] % _BLOCK]
        return missing

    def cosines(self, places: Places, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """How similar each row is to a vector; all of them must be here.

        Args:
            places: Where the rows stand, in ascending order.
            vector: What to compare with, of length 1.
        """
        found = np.empty(len(places), dtype=np.float32)
        for number, inside in _by_block(places):
            block, rows = self._blocks[number], places[inside] % _BLOCK
            if len(rows) * _WHOLE > _BLOCK:
                found[inside] = _dot(block, vector)[rows]
            else:
                found[inside] = _dot(block[rows], vector)
        return found

    def _start(self, number: int, dimension: int) -> bool:
        if (len(self._blocks) + 1) * _BLOCK * dimension * 4 > _MOST:
            return False
        self._blocks[number] = np.zeros((_BLOCK, dimension), dtype=np.float32)
        self._kept[number] = np.zeros(_BLOCK, dtype=np.bool_)
        return True


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors scaled to length 1; one of nothing but zeros stays what it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return scaled


def _dot(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    # `@` starts threads for it, which wait for each other: 12 ms instead of 1 on a busy machine.
    products: NDArray[np.float32] = np.einsum("ij,j->i", rows, vector)
    return products


def _by_block(places: Places) -> list[tuple[int, slice]]:
    """The blocks that ascending places fall into, and which of the places fall into each."""
    if not len(places):
        return []
    numbers = places // _BLOCK
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(places)]
    return [(int(numbers[start]), slice(start, end)) for start, end in pairwise(starts)]
