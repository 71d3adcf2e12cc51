"""Questions of a user's own: read from a file, asked, and counted."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import WordsEmbedding
from pydantic import ValidationError

from recall_stages.errors import QuestionFileError
from recall_stages.evaluation.evaluate import evaluate_ids
from recall_stages.evaluation.questions import Question, read_questions
from recall_stages.evaluation.steps import STEPS, evaluate_steps
from recall_stages.retriever import CallOptions
from recall_stages.store import RecallStore


def test_a_question_is_asked_with_what_it_brings() -> None:
    asked: list[tuple[str, CallOptions]] = []

    def ask(text: str, options: CallOptions) -> Sequence[str]:
        asked.append((text, options))
        return ["m2", "m1"]

    questions = [
        Question(question="Which dentist?", relevant=["m1", "m9"], scope={"user_id": "ann"}),
        Question(question="And when?", relevant=[], timestamp="2024-03-08", timezone="UTC"),
    ]
    evaluation = evaluate_ids(ask, questions)

    assert [text for text, _ in asked] == ["Which dentist?", "And when?"]
    assert asked[0][1]["scope"].fields() == {"user_id": "ann"}
    assert asked[0][1]["k"] == 10
    assert asked[1][1]["timestamp"] == "2024-03-08"
    assert [each.missed for each in evaluation.answers] == [{"m9"}, set()]
    assert evaluation.answers[1].figures is None
    assert evaluation.figures["recall@5"] == 0.5
    assert "2 questions: recall@5 0.500" in str(evaluation)


def test_no_question_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one Question"):
        evaluate_ids(lambda text, options: [], [])


def test_the_steps_build_up_to_the_defaults(words: WordsEmbedding) -> None:
    with RecallStore(embedding=words) as store:
        store.add(
            [
                {"id": "old", "content": "The dentist was fine.", "created_at": "2024-02-20"},
                {"id": "new", "content": "The dentist hurt me.", "created_at": "2024-03-05"},
                {"id": "tea", "content": "Tea at four.", "created_at": "2024-03-05"},
            ]
        )
        asked = Question(
            question="the dentist last Tuesday",
            relevant=["new"],
            timestamp="2024-03-08",
            timezone="UTC",
        )
        steps = evaluate_steps(store, [asked])

    assert list(steps) == list(STEPS)
    firsts = [evaluation.answers[0].found[0] for evaluation in steps.values()]
    assert firsts[-1] == "new"
    assert steps["by words"].answers[0].found[0] in {"old", "new"}
    assert "tea" not in steps["by words"].answers[0].found


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("not json", "line 2"),
        ('["a list"]', "expected an object"),
        ('{"question": "x"}', "relevant"),
        ('{"question": "", "relevant": []}', "question"),
        ('{"question": "x", "relevant": "m1"}', "relevant"),
        ('{"question": "x", "relevant": [], "timestamp": "soon"}', "soon"),
        ('{"question": "x", "relevant": [], "wen": 1}', "wen"),
    ],
)
def test_a_bad_line_is_named(line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "Which dentist?", "relevant": ["m1"]}\n' + line)

    with pytest.raises(QuestionFileError, match=r"questions\.jsonl line 2: ") as refused:
        read_questions(path)
    assert says in str(refused.value)


def test_a_file_without_questions_says_how_to_write_one(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n")

    with pytest.raises(QuestionFileError, match='"relevant"'):
        read_questions(path)


def test_the_scope_of_a_line_is_that_of_the_question(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    row = {"question": "Which dentist?", "relevant": ["m1"], "user_id": "ann", "session_id": None}
    path.write_text(json.dumps(row))

    [question] = read_questions(path)

    assert question.scope.fields() == {"user_id": "ann"}
    with pytest.raises(ValidationError):
        question.question = "another"
