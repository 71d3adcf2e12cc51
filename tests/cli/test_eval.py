"""`recall eval`: what it prints, and what it returns to the shell."""

import json
from pathlib import Path

import pytest
from cli.kit import Run, written
from tables import table


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    rows = [
        {
            "question": "What about the dentist last Tuesday?",
            "relevant": ["filled"],
            "timestamp": "2024-03-08T12:00",
            "user_id": "ann",
        },
        {"question": "Where did the dentist move?", "relevant": ["moved", "lost"]},
        {"question": "Who is the president?", "relevant": []},
    ]
    return written(tmp_path / "questions.jsonl", rows)


def test_eval_shows_what_each_step_adds_and_which_times_were_read(
    memories: Path, queries: Path, run: Run
) -> None:
    asked = ["eval", "--memories", memories, "--timezone", "UTC", "--queries", queries]
    code, out, err = run(*asked)

    assert code == 0
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert [row.split("│")[1].strip() for row in rows] == [
        *("by meaning", "by exact words", "both, fused", "+ time searched"),
        "+ time, type, author weighed",
    ]
    assert rows[-1].split("│")[2].strip() == "0.750"
    assert "3 questions, 1 that no memory answers; " in out
    assert '"last Tuesday" is understood as 2024-03-05 (Tuesday)' in out
    assert "Memories missed, as not among the first 10: 1 of 3" in out
    assert "Where did the dentist move?  lost" in out
    assert "Why: recall explain --id ID" in out
    assert "relevant ids that are not in the collection, 1 in all: lost" in err


def test_eval_as_json(memories: Path, queries: Path, run: Run) -> None:
    asked = ["eval", "--memories", memories, "--timezone", "UTC", "--queries", queries]
    code, out, _ = run(*asked, "--json")

    told = json.loads(out)
    assert code == 0
    assert told["steps"]["+ time, type, author weighed"]["recall@5"] == 0.75
    assert told["by_question"][0]["found"] == ["filled"]
    assert told["by_question"][0]["time"][0]["words"] == "last Tuesday"
    assert told["by_question"][1]["missed"] == ["lost"]
    assert "recall@5" not in told["by_question"][2]


@table(("bound", "code"), [("recall@5=0.75", 0), ("hit@5=1.01", 1)])
def test_eval_can_guard_a_level(
    bound: str, code: int, memories: Path, queries: Path, run: Run
) -> None:
    asked = ["eval", "--memories", memories, "--timezone", "UTC", "--queries", queries]
    returned, _, err = run(*asked, "--at-least", bound)

    assert returned == code
    assert ("hit@5 is 1.000, below 1.01" in err) is (code == 1)


@table("bound", ["recall@7=0.5", "recall@5", "recall@5=most"])
def test_a_level_that_cannot_be_read(bound: str, queries: Path, run: Run) -> None:
    code, _, err = run("eval", "--memories", "m", "--queries", queries, "--at-least", bound)

    assert (code, "--at-least" in err) == (2, True)
