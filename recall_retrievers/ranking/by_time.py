"""The order of a question for the latest or the first: by recorded time among what fits it."""

from __future__ import annotations

from collections.abc import Container, Sequence

from recall_retrievers.core.pool import Facts
from recall_retrievers.text.asks_for_order import AskedOrder

_FITS = 0.6  # the share of the best relevance from which a memory fits the question


def order_ratios(
    facts: Facts,
    worth: Sequence[float],
    scores: Sequence[float],
    order: AskedOrder,
    listed: Container[int],
) -> list[float]:
    """The factors that put the memories that fit in the order, before all others.

    Args:
        facts: The candidates.
        worth: For each candidate, how well it fits the question and its time.
        scores: Their scores.
        order: The order.
        listed: The places of candidates that were listed, not searched for: they all fit.

    Returns:
        The factor of each candidate. A candidate that does not fit, or has no time, has 1.
    """
    ratios = [1.0] * len(facts)
    best, top = max(worth, default=0.0), max(scores, default=0.0)
    fitting = [
        (moment, facts.ids[place], place)
        for place, moment in enumerate(facts.created)
        if moment is not None
        and scores[place] > 0
        and (worth[place] >= _FITS * best or place in listed)
    ]
    fitting.sort(reverse=order.newest)
    for number, (_, _, place) in enumerate(fitting):
        ratios[place] = top * (2 - number / len(fitting)) / scores[place]
    return ratios
