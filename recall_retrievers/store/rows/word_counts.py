"""How often each word counts for each row: what a score by BM25 is made of.

tantivy finds the best rows quickly. But its scores count rows that were replaced until it merges
their files, so two equal collections would answer differently. The scores are calculated here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.rows.append_file import AppendFile
from recall_retrievers.store.rows.numbers import ByPlace, Numbers
from recall_retrievers.store.rows.wanted import Places
from recall_retrievers.text.bm25 import frequency

COUNT = np.dtype([("place", "<u4"), ("words", "<u4"), ("first", "<u8"), ("distinct", "<u4")])
"""Of a row: how many words it has, where its terms are, and how many terms there are."""

TERM = np.dtype("<u8")
"""A word, as a number, and in the last 16 bits how often it counts."""

_TIMES = np.uint64(16)
_MOST_TIMES = 2**16 - 1

Records = Numbers
"""The numbers of records: each is what one row had at one time, and stays as it is."""


@dataclass(frozen=True, slots=True)
class Found:
    """The words of a question in rows; an entry for each word that a row has.

    Attributes:
        records: The rows.
        words: How many words the question has.
        row: The number of the row.
        word: The number of the word.
        times: How often it counts.
    """

    records: Records
    words: int
    row: NDArray[np.intp]
    word: NDArray[np.intp]
    times: NDArray[np.uint64]

    @property
    def having(self) -> NDArray[np.intp]:
        """How many rows have each word."""
        return np.bincount(self.word, minlength=self.words)


class WordCounts:
    """The numbers of words by row. One thread at a time may change it; others may read.

    Args:
        counts: The file of the records; of two records of one row, the later one counts.
        terms: The file of the words.
        live: Whether the row at each place is there.

    Attributes:
        rows: How many rows have words.
    """

    def __init__(self, counts: AppendFile, terms: AppendFile, live: NDArray[np.bool_]) -> None:
        self._counts, self._terms = counts, terms
        self._latest = ByPlace(self._records()["place"])
        self.rows = self._total = 0
        self._count(self.latest(np.flatnonzero(live)), 1)

    @property
    def mean(self) -> float:
        """How many words a row has on average."""
        return self._total / max(self.rows, 1) or 1.0

    def put(self, rows: Mapping[int, Counter[str]]) -> Records:
        """Note how often each word counts for rows, by place, and return their records."""
        places = np.array([*rows], dtype=np.intp)
        self._count(self.latest(places), -1)
        terms = [_key(x) << 16 | min(n, _MOST_TIMES) for c in rows.values() for x, n in c.items()]
        sizes = [len(each) for each in rows.values()]
        records = np.zeros(len(rows), dtype=COUNT)
        records["place"], records["distinct"] = places, sizes
        records["words"] = [each.total() for each in rows.values()]
        records["first"] = self._terms.size // TERM.itemsize + np.cumsum([0, *sizes])[:-1]
        self._terms.append(np.array(terms, dtype=TERM).tobytes())
        self._counts.append(records.tobytes())
        numbers = self._latest.add(places)
        self._count(numbers, 1)
        return numbers

    def drop(self, places: Places) -> None:
        """Take note of rows that are gone."""
        self._count(self.latest(places), -1)

    def latest(self, places: Places) -> Records:
        """The record of the row at each place; -1 if it has no words."""
        return self._latest.at(places)

    def found(self, records: Records, words: Sequence[str]) -> Found:
        """Look for the words of a question in rows; -1 has none."""
        if not len(records) or not words:
            nothing = np.zeros(0, dtype=np.intp)
            return Found(records, len(words), nothing, nothing, np.zeros(0, dtype=np.uint64))
        noted, terms = self._records()[records], self._terms.view().view(TERM)
        sizes = np.where(records >= 0, noted["distinct"], 0).astype(np.int64)
        ends = np.cumsum(sizes)
        # The terms of all rows at once: to cut them out takes ten times as long.
        starts = np.repeat(noted["first"].astype(np.int64) - ends + sizes, sizes)
        there = terms[starts + np.arange(len(starts))]
        keys = np.array([_key(word) for word in words], dtype=np.uint64)
        order = np.argsort(keys)
        known = keys[order]
        nearest = np.searchsorted(known[:-1], there >> _TIMES)
        hits = np.flatnonzero(known[nearest] == there >> _TIMES)
        row = np.searchsorted(ends, hits, side="right")
        times = there[hits] & np.uint64(_MOST_TIMES)
        return Found(records, len(words), row, order[nearest[hits]], times)

    def scores(self, found: Found, rarities: Sequence[float], mean: float) -> NDArray[np.float64]:
        """The scores of rows by BM25.

        Args:
            found: The words of the question in these rows.
            rarities: How much each word counts for its rarity.
            mean: How many words the rows of the collection have on average.
        """
        lengths = _rounded(self._records()["words"][found.records]) / mean
        weights = np.array(rarities)[found.word]
        parts = weights * frequency(found.times.astype(np.float64), lengths[found.row])
        scores: NDArray[Any] = np.bincount(found.row, parts, minlength=len(found.records))
        return scores

    def _count(self, records: Records, times: int) -> None:
        known = records[records >= 0]
        self.rows += times * len(known)
        self._total += times * int(self._records()["words"][known].sum())

    def _records(self) -> NDArray[np.void]:
        return self._counts.view().view(COUNT)


@lru_cache(maxsize=65_536)
def _key(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


def _rounded(lengths: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Lengths as tantivy keeps them: four binary digits of what is above 24."""
    above = np.maximum(lengths.astype(np.int64) - 24, 0)
    lost: NDArray[np.int64] = above % (1 << np.maximum(np.frexp(above)[1] - 4, 0))
    return lengths - lost
