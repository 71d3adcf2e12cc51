"""The weight of a word by BM25, and the words of a long question that weigh most.

BM25 is that of Robertson and Zaragoza (2009), with k1 = 1.2 and b = 0.75.
"""

from __future__ import annotations

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


def telling_words(
    words: Sequence[str],
    frequencies: Callable[[Sequence[str]], Sequence[int]],
    most: int = _MOST,
) -> list[str]:
    """The words of a question to search for: all, or of a long question the rarest.

    A pasted dialogue has hundreds of words, and each costs time. Words that no memory has find
    nothing, and words that most memories have order nothing. With the first 64 words in place of
    the rarest, a long Chinese question is cut after some 35 characters.

    Args:
        words: The words of the question, as they are indexed.
        frequencies: Returns the numbers of memories that have each word; called for a long
            question only.
        most: How many words at most.

    Examples:
        >>> telling_words(["say", "dentist", "elm", "zebra"], lambda _: [80, 2, 1, 0], 2)
        ['elm', 'dentist']
        >>> telling_words(["say", "say", "zebra"], lambda _: [80, 0], 2)
        ['say', 'zebra']
    """
    distinct = list(dict.fromkeys(words))
    if len(distinct) <= most:
        return distinct
    counts = dict(zip(distinct, frequencies(distinct), strict=True))
    return sorted([word for word in distinct if counts[word]], key=counts.__getitem__)[:most]
