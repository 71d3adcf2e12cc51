"""How good a ranking is: recall, nDCG and hit rate, with relevance as yes or no.

The definitions are those of trec_eval; the tests compare every figure with it. They are written out
here because they are four lines, and its wrapper is a compiled package that only measuring needs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import log2

Figures = dict[str, float]
"""Shares from 0 to 1, by the names of `MEASURES`."""

Ranking = Sequence[str]
"""Ids, the best first, each once."""


def recall_at(k: int, relevant: Collection[str], ranking: Ranking) -> float:
    """The share of the relevant that is among the first k.

    Examples:
        >>> recall_at(5, {"a", "b"}, ["a", "x"])
        0.5
    """
    return sum(each in relevant for each in ranking[:k]) / len(relevant)


def ndcg_at(k: int, relevant: Collection[str], ranking: Ranking) -> float:
    """Normalised discounted cumulative gain: 1 where all the relevant come first.

    Examples:
        >>> ndcg_at(10, {"a"}, ["a", "x"]), round(ndcg_at(10, {"a"}, ["x", "a"]), 3)
        (1.0, 0.631)
    """
    gain = sum(1 / log2(place + 2) for place, each in enumerate(ranking[:k]) if each in relevant)
    return gain / sum(1 / log2(place + 2) for place in range(min(k, len(relevant))))


def hit_at(k: int, relevant: Collection[str], ranking: Ranking) -> float:
    """1 where anything relevant is among the first k, else 0.

    Examples:
        >>> hit_at(5, {"a", "b"}, ["x", "a"])
        1.0
    """
    return float(any(each in relevant for each in ranking[:k]))


MEASURES: dict[str, tuple[Callable[[int, Collection[str], Ranking], float], int]] = {
    "recall@5": (recall_at, 5),
    "recall@10": (recall_at, 10),
    "ndcg@10": (ndcg_at, 10),
    "hit@5": (hit_at, 5),
}
"""What is counted, and among how many of the first."""

LOOKED_AT = max(k for _, k in MEASURES.values())
"""How many memories of a ranking the measures look at."""


def score(relevant: Collection[str], ranking: Ranking) -> Figures | None:
    """The figures of one ranking; None where nothing is relevant, so that nothing can be found.

    Examples:
        >>> score({"a", "b"}, ["a", "x"])["recall@5"]
        0.5
    """
    if not relevant:
        return None
    return {name: measure(k, relevant, ranking) for name, (measure, k) in MEASURES.items()}


def mean(figures: Sequence[Figures | None]) -> Figures:
    """The mean of each figure over the questions that have any; empty where none has.

    Examples:
        >>> mean([{"hit@5": 1.0}, None, {"hit@5": 0.0}])
        {'hit@5': 0.5}
    """
    counted = [each for each in figures if each is not None]
    if not counted:
        return {}
    return {name: sum(each[name] for each in counted) / len(counted) for name in counted[0]}
