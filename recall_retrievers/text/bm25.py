"""The weight of a word by BM25, and the words of a long question that weigh most.

BM25 is that of Robertson and Zaragoza (2009), with k1 = 1.2 and b = 0.75.
"""

from collections.abc import Callable, Sequence
from math import log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_K1, _B = 1.2, 0.75
_MOST = 64  # words of a question that are searched for

MOST_FREQUENT = _K1 + 1
"""What `frequency` returns at most."""

Number = TypeVar("Number", float, NDArray[np.float64])


def rarity(rows: int, having: int) -> float:
    """The weight of a word by its rarity: of so many texts, so many have it."""
    return log(1 + (max(rows - having, 0) + 0.5) / (having + 0.5))


def frequency(count: Number, length: Number) -> Number:
    """The weight of a word by its number in a text; the mean length of all texts is 1."""
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))


def telling_words(
    words: Sequence[str], frequencies: Callable[[Sequence[str]], Sequence[int]]
) -> list[str]:
    """The words of a question to search for: all, or of a long question the rarest.

    A pasted dialogue has hundreds of words, and each costs time. Words that no memory has find
    nothing, and words that most memories have order nothing. With the first 64 words in place of
    the rarest, a long Chinese question is cut after some 35 characters.

    Examples:
        >>> telling_words([str(n) for n in range(70)], lambda words: [*map(int, words)])[:2]
        ['1', '2']
    """
    distinct = list(dict.fromkeys(words))
    if len(distinct) <= _MOST:
        return distinct
    counts = dict(zip(distinct, frequencies(distinct), strict=True))
    return sorted([word for word in distinct if counts[word]], key=counts.__getitem__)[:_MOST]
