"""How good rankings are: recall, nDCG and hit rate, counted by pytrec_eval."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytrec_eval

Figures = dict[str, float]
Ranking = Sequence[str]

# Our names, and what trec_eval calls them. A hit is any relevant memory among the first five.
MEASURES = {
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "ndcg@10": "ndcg_cut_10",
    "hit@5": "success_5",
}
_ASKED = {"recall.5,10", "ndcg_cut.10", "success.5"}


def score(relevant: Collection[str], ranking: Ranking) -> Figures | None:
    """The figures of one ranking; None where nothing is relevant, so that nothing can be found.

    Examples:
        >>> score({"a", "b"}, ["a", "x"])["recall@5"]
        0.5
    """
    if not relevant:
        return None
    # trec_eval orders by score and breaks ties by id, so the place itself is handed in as score.
    places = {memory_id: float(-place) for place, memory_id in enumerate(ranking)}
    truth = {"query": dict.fromkeys(relevant, 1)}
    found = pytrec_eval.RelevanceEvaluator(truth, _ASKED).evaluate({"query": places})["query"]
    return {name: found[measure] for name, measure in MEASURES.items()}


def mean(figures: Sequence[Figures | None]) -> Figures:
    """The mean of each figure over the queries that have any; empty where none has.

    Examples:
        >>> mean([{"hit@5": 1.0}, None, {"hit@5": 0.0}])
        {'hit@5': 0.5}
    """
    counted = [each for each in figures if each is not None]
    if not counted:
        return {}
    return {name: sum(each[name] for each in counted) / len(counted) for name in counted[0]}
