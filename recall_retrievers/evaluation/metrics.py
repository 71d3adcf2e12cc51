"""How good a ranking is: recall, nDCG and hit rate, with relevance as yes or no.

The definitions are those of trec_eval; the tests compare every figure with it. They are written out
here because they are four lines, and its wrapper is a compiled package that only measuring needs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress
from math import log2

Figures = dict[str, float]
"""Shares from 0 to 1, by the names of `MEASURES`."""

MEASURES = ("recall@5", "recall@10", "ndcg@10", "hit@5")
"""What is counted, and among how many of the first."""

LOOKED_AT = 10
"""How many memories of a ranking the measures look at."""

_GAINS = [1 / log2(place + 2) for place in range(LOOKED_AT)]


def score(relevant: Collection[str], ranking: Sequence[str]) -> Figures | None:
    """The figures of ids, the best first; None where nothing is relevant, so nothing can be found.

    Examples:
        >>> score({"a", "b"}, ["x", "a"])["recall@5"]
        0.5
    """
    if not relevant:
        return None
    hits = [each in relevant for each in ranking[:LOOKED_AT]]
    gain = sum(compress(_GAINS, hits)) / sum(_GAINS[: len(relevant)])
    values = (sum(hits[:5]) / len(relevant), sum(hits) / len(relevant), gain, float(any(hits[:5])))
    return dict(zip(MEASURES, values, strict=True))


def mean(figures: Sequence[Figures | None]) -> Figures:
    """The mean of each figure over the questions that have any; empty where none has."""
    counted = [each for each in figures if each is not None]
    names = counted[0] if counted else ()
    return {name: sum(each[name] for each in counted) / len(counted) for name in names}
