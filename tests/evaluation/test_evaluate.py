"""Questions of a user's own: read from a file, asked, and counted."""

from pathlib import Path
from typing import Any

import pytest
from conftest import WordsEmbedding
from tables import table

from recall_retrievers.core.errors import QuestionFileError, SettingsError
from recall_retrievers.core.memory import Memory
from recall_retrievers.evaluation.comparison import STEPS, evaluate_steps
from recall_retrievers.evaluation.evaluate import evaluate_with
from recall_retrievers.evaluation.questions import Question, read_questions
from recall_retrievers.store import RecallStore


def memory(name: str) -> Memory:
    return Memory(id=name, content=f"The content of {name}.")


def test_each_question_is_answered_and_counted() -> None:
    seen: list[Question] = []

    def find(question: Question) -> list[Memory]:
        seen.append(question)
        return [memory("m2"), memory("m2"), memory("m1")]

    questions = [
        Question(question="Which dentist?", relevant=["m1", "m9"], scope={"user_id": "ann"}),
        Question(question="And when?", relevant=[], timestamp="2024-03-08", timezone="UTC"),
    ]
    evaluation = evaluate_with(find, questions)

    assert seen == questions
    with pytest.raises(SettingsError):
        seen[0].question = "another"
    first, second = evaluation.answers
    assert first.found == ("m2", "m1")  # each once
    assert first.places == {"m1": 2, "m9": None}
    assert first.missed == {"m9"}
    assert "content of m2" in str(first.explain())
    assert second.figures is None
    assert evaluation.figures["recall@5"] == 0.5
    assert "2 questions: recall@5 0.500" in str(evaluation)


@table(
    ("given", "error", "says"),
    [
        ([], ValueError, "at least one Question"),
        (["Which?"], TypeError, r"question 1: expected an object such as .*; got 'Which"),
        ([{"question": "Which?"}], ValueError, "question 1: relevant is missing"),
        ([{"question": "Which?", "relevant": [], "wen": 1}], ValueError, "'wen'"),
    ],
)
def test_what_is_no_question_is_named(given: list[Any], error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        evaluate_with(lambda question: [], given)


def test_the_steps_build_up_to_the_defaults(words: WordsEmbedding) -> None:
    told = [
        ("old", "The dentist was fine.", "2024-02-20"),
        ("new", "The dentist hurt me.", "2024-03-05"),
        ("tea", "Tea at four.", "2024-03-05"),
    ]
    text, now = "the dentist last Tuesday", "2024-03-08"
    asked = Question(question=text, relevant=["new"], timestamp=now, timezone="UTC")
    with RecallStore(embedding=words) as store:
        store.add(dict(zip(("id", "content", "created_at"), row, strict=True)) for row in told)
        steps = evaluate_steps(store, [asked]).evaluations

    assert list(steps) == list(STEPS)
    firsts = [evaluation.answers[0].found[0] for evaluation in steps.values()]
    assert firsts[-1] == "new"
    assert steps["by exact words"].answers[0].found[0] in {"old", "new"}
    assert "tea" not in steps["by exact words"].answers[0].found


@table(
    ("line", "says"),
    [
        ("not json", "line 2"),
        ('["a list"]', "expected an object such as {"),
        ('{"question": "x"}', "relevant"),
        ('{"question": "", "relevant": []}', "question"),
        ('{"question": "x", "relevant": "m1"}', "relevant"),
        ('{"question": "x", "relevant": [], "timestamp": "soon"}', "soon"),
        ('{"question": "x", "relevant": [], "wen": 1}', "wen"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_bad_line_is_named(line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "Which dentist?", "relevant": ["m1"]}\n' + line, encoding="utf-8")

    with pytest.raises(QuestionFileError, match=r"questions\.jsonl line 2: ") as refused:
        read_questions(path)
    assert says in str(refused.value)


def test_a_file_without_questions_says_how_to_write_one(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n", encoding="utf-8")

    with pytest.raises(QuestionFileError, match='"relevant"'):
        read_questions(path)
