"""BM25 (Robertson and Zaragoza 2009), as tantivy calculates it: k1 is 1.2 and b is 0.75."""

from __future__ import annotations

from math import log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_K1, _B = 1.2, 0.75

Number = TypeVar("Number", float, NDArray[np.float64])


def rarity(rows: int, having: int) -> float:
    """The weight of a word by its rarity.

    Args:
        rows: How many texts there are.
        having: How many of them have the word.

    Examples:
        >>> round(rarity(1000, 1), 2), round(rarity(1000, 900), 2)
        (6.5, 0.11)
    """
    return log(1 + (max(rows - having, 0) + 0.5) / (having + 0.5))


def frequency(count: Number, length: Number) -> Number:
    """The weight of a word by its number in a text, or in each of several.

    Args:
        count: How often the text has the word.
        length: The length of the text, where 1 is the mean of all texts.

    Examples:
        >>> frequency(1, 1.0), round(frequency(2, 1.0), 2), round(frequency(1, 4.0), 2)
        (1.0, 1.38, 0.45)
    """
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))
