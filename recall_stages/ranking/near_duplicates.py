"""Which texts say the same in nearly the same words: found without comparing each with each.

Texts that share most of their words share, for a hash of words, the smallest one with a probability
that equals the share of words in common (min-wise hashing: Broder 1997). So each text is compared
only with a few of those that agree in several such hashes, and the work grows with the number of
texts, not with its square.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recall_stages.letters import split_words

# Odd multipliers, one a hash.
_HASHES = np.array(
    [2654435761, 2246822519, 3266489917, 668265263, 374761393, 2127912215], dtype=np.uint64
)
# Hashes in which two texts must agree to be compared: of twenty words with one changed, three of
# six agree with probability 0.9995; of ten with one changed, with 0.98.
_AGREED = 3
_COMPARED = 4  # texts a hash, at the most: a pool of copies stays linear too
_ENDS = 500  # characters that are compared at the beginning and at the end of a long text
_NUMBER = re.compile(r"\d+")
# What turns a sentence into another one, though a single word differs.
_NEGATION = re.compile(
    "(?:no|not|never|none|cannot|nor|without|.*n['\u2019]t|不|没|無|无|未|别|非)"
)


def near_duplicates(texts: Sequence[str], threshold: float) -> list[int]:
    """For each text the place of the first one that it nearly repeats: its own, where none.

    Two texts repeat each other when they share, in order, at least ``threshold`` of their words,
    and their numbers, names (words in capitals) and negations are the same: "It takes 250 ms now"
    is no repetition of "It takes 800 ms now".

    Args:
        texts: The texts; of those that repeat each other, the first is named.
        threshold: The share of words in common, above 0 to 1; 1 = all of them. Case, punctuation
            and white space do not count.

    Examples:
        >>> told = ["We moved to Elm Street.", "I like tea.", "we moved to Elm Street"]
        >>> near_duplicates(told, 0.95)
        [0, 1, 0]
    """
    first: list[int] = []
    words = [split_words(_ends(text)) for text in texts]
    lowered = [[word.lower() for word in each] for each in words]
    seen: dict[str, int] = {}
    met: dict[int, list[int]] = defaultdict(list)
    for place, (text, each, keys) in enumerate(
        zip(texts, lowered, _smallest(lowered), strict=True)
    ):
        if text.strip() in seen:
            first.append(seen[text.strip()])
            continue
        agreeing = Counter([other for key in keys for other in met[key]])
        repeated = (
            other
            for other, hashes in agreeing.items()
            if hashes >= _AGREED
            and _NUMBER.findall(texts[other]) == _NUMBER.findall(text)
            and _alike(lowered[other], each, threshold)
            and _of_one_length(texts[other], text, threshold)
            and _telling_alike(words[other], words[place])
        )
        found = next(repeated, place)
        first.append(found)
        seen[text.strip()] = found
        if found == place:
            for key in keys:
                if len(met[key]) < _COMPARED:
                    met[key].append(place)
    return first


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _ENDS else f"{text[:_ENDS]} {text[-_ENDS:]}"


def _of_one_length(one: str, other: str, threshold: float) -> bool:
    longer, shorter = max(len(one), len(other)), min(len(one), len(other))
    return longer <= 2 * _ENDS or shorter >= threshold * longer


def _telling_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    telling = _telling(one) | _telling(other)
    return _among(one, telling) == _among(other, telling)


def _telling(words: Sequence[str]) -> set[str]:
    """Names and negations; the first word is in capitals whatever it is."""
    return {
        word.lower()
        for place, word in enumerate(words)
        if (place and word[0].isupper() and word != "I") or _NEGATION.fullmatch(word.lower())
    }


def _among(words: Sequence[str], telling: set[str]) -> list[str]:
    return [word.lower() for word in words if word.lower() in telling]


def _smallest(texts: Sequence[Sequence[str]]) -> list[list[int]]:
    """For the words of each text the smallest of each hash; all texts in one go, which is quick."""
    if not texts:
        return []
    hashed: NDArray[np.uint64] = np.fromiter(
        (_hash(word) for words in texts for word in words or [""]), dtype=np.uint64
    )
    begins = np.cumsum([0, *(len(words) or 1 for words in texts[:-1])])
    mixed = np.bitwise_and(np.multiply.outer(_HASHES, hashed), 0xFFFFFFFF)
    smallest = np.minimum.reduceat(mixed, begins, axis=1)
    # Which of the hashes it is stands above its 32 bits.
    told = smallest + (np.arange(len(_HASHES), dtype=np.uint64) << np.uint64(32))[:, None]
    keys: list[list[int]] = told.T.tolist()
    return keys


@lru_cache(maxsize=20_000)
def _hash(word: str) -> int:
    # Multiplied, neighbouring numbers stay in order: a second mixing breaks that.
    first = zlib.crc32(word.encode("utf-8", "replace"))
    return first ^ (first >> 15)


def _alike(one: Sequence[str], other: Sequence[str], threshold: float) -> bool:
    if one == other:
        return True
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return (
        matcher.real_quick_ratio() >= threshold
        and matcher.quick_ratio() >= threshold
        and matcher.ratio() >= threshold
    )
