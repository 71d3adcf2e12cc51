"""The figures are those of trec_eval, whatever the ranking."""

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from recall_retrievers.evaluation.evaluate import mean, score

TREC = {
    "recall@5": "recall_5",
    "recall@10": "recall_10",
    "ndcg@10": "ndcg_cut_10",
    "hit@5": "success_5",
}
IDS = st.sampled_from([f"m{number}" for number in range(25)])


@given(st.sets(IDS, min_size=1), st.lists(IDS, unique=True))
def test_every_figure_is_that_of_trec_eval(relevant: set[str], ranking: list[str]) -> None:
    # It orders by score and breaks ties by id, so the place itself is handed in as score.
    places = {each: float(-place) for place, each in enumerate(ranking)}
    judged = pytrec_eval.RelevanceEvaluator(
        {"q": dict.fromkeys(relevant, 1)}, {"recall.5,10", "ndcg_cut.10", "success.5"}
    ).evaluate({"q": places})
    expected = judged.get("q", dict.fromkeys(TREC.values(), 0.0))  # it leaves empty rankings out

    assert score(relevant, ranking) == pytest.approx(
        {ours: expected[theirs] for ours, theirs in TREC.items()}
    )


def test_a_question_that_nothing_answers_is_not_counted() -> None:
    assert score(set(), ["a"]) is None
    assert mean([None, {"hit@5": 1.0}, {"hit@5": 0.0}]) == {"hit@5": 0.5}
    assert mean([None]) == {}
