"""Evaluations side by side: the figures, and the questions that make the difference."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.stage import stamped
from recall_retrievers.evaluation.comparison import Comparison, compare
from recall_retrievers.evaluation.evaluate import Evaluation, evaluate_with
from recall_retrievers.timeline import extract_time

QUESTIONS = [
    {"question": "What hurt last Tuesday?", "relevant": ["tooth", "jaw"], "category": "dates"},
    {"question": "Who likes tea?", "relevant": ["tea"], "category": "names"},
    {"question": "Where is [bold]Elm St[/bold]?", "relevant": ["elm"], "category": "names"},
    {"question": "Who is the president?", "relevant": []},
]
TUESDAY = extract_time("last Tuesday", datetime(2024, 3, 8, tzinfo=UTC))


def evaluation(*rankings: Sequence[str]) -> Evaluation:
    found = dict(zip([row["question"] for row in QUESTIONS], rankings, strict=True))
    return evaluate_with(lambda question: [memory(i) for i in found[question.question]], QUESTIONS)


def memory(name: str) -> Candidate:
    found = Candidate(id=name, content=f"The {name}.", score=0.4)
    if name not in {"tooth", "jaw"}:
        return found
    timed = Step("FuseRerank", "times", 2.0, 0.8, "time_ratio", "recorded in time")
    return stamped([found.after(0.8, timed)], TUESDAY)[0]


@pytest.fixture
def compared() -> Comparison:
    before = evaluation(["tea", "tooth"], ["tea"], ["elm"], [])
    between = evaluation([], [], [], [])
    after = evaluation(["tooth", "jaw"], ["tooth", "tea"], ["elm"], [])
    return compare({"[old]": before, "between": between, "new": after})


def test_it_says_which_question_gained_and_lost_and_why(compared: Comparison) -> None:
    gained, lost = compared.differences

    assert gained.question.question == "What hurt last Tuesday?"
    assert gained.change > 0 > lost.change
    assert gained.places == {
        "[old]": {"jaw": None, "tooth": 2},
        "new": {"jaw": 2, "tooth": 1},
    }
    assert gained.placed == ["2, -", "1, 2"]
    assert '"last Tuesday" is understood as 2024-03-05' in gained.why
    assert "1. The tooth." in gained.why
    assert "x 2 recorded in time" in gained.why
    assert lost.placed == ["1", "2"]
    assert "1. The tooth." in lost.why  # stands before the wanted memory


def test_it_shows_figures_categories_and_questions(compared: Comparison) -> None:
    shown = str(compared)

    for words in ("[old]", "between", "new", "recall@5", "0.833", "dates (1)", "names (2)"):
        assert words in shown
    assert "new against [old], by nDCG@10: 1 questions better, 1 worse, 2 the same" in shown
    assert "What hurt last" in shown
    assert "2, -" in shown
    assert "president" not in shown


def test_what_cannot_be_compared_says_so() -> None:
    one = evaluation([], [], [], [])
    other = evaluate_with(lambda question: [], QUESTIONS[:1])

    with pytest.raises(TypeError, match=r"by name.*got list"):
        compare([one, one])
    with pytest.raises(TypeError, match=r"got str for 'mine'.*evaluate\(retriever, questions\)"):
        compare({"mine": "retriever"})
    with pytest.raises(ValueError, match="at least two evaluations; got 1"):
        compare({"mine": one})
    with pytest.raises(ValueError, match="different questions"):
        compare({"mine": one, "ours": other})
