"""A number for each row, by its place, such as where its vector is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.rows.wanted import Places

Numbers = NDArray[np.int64]


class ByPlace:
    """Numbers by place; -1 where there is none.

    Args:
        places: The places of the numbers 0, 1, 2 and so on; of two for one place the later counts.

    Attributes:
        count: How many numbers were given.

    Examples:
        >>> numbers = ByPlace(np.array([5, 0, 5]))
        >>> numbers.at(np.array([0, 5, 3, 7_000])).tolist()
        [1, 2, -1, -1]
    """

    def __init__(self, places: Places) -> None:
        self.count = 0
        self._numbers = np.zeros(1024, dtype=np.int64)  # from 1 on
        self.add(places)

    def add(self, places: Places) -> Numbers:
        """Give places the next numbers, and return these."""
        numbers = np.arange(self.count, self.count + len(places))
        self._numbers = grown(self._numbers, len(self._numbers), int(places.max(initial=0)) + 1)
        self._numbers[places] = numbers + 1
        self.count += len(places)
        return numbers

    def at(self, places: Places) -> Numbers:
        """The number of each place."""
        last = int(places.max(initial=0))
        return grown(self._numbers, len(self._numbers), last + 1)[places] - 1


def grown(column: NDArray[Any], used: int, wanted: int) -> NDArray[Any]:
    """A column that has room for so many rows; the rest of it is zeros."""
    if wanted <= len(column):
        return column
    grown = np.zeros(max(wanted, len(column) * 3 // 2, 1024), dtype=column.dtype)
    grown[:used] = column[:used]
    return grown
