"""The gate's benchmark counts rightly, and measures the original beside it."""

from pathlib import Path

import pytest
from tables import table

from benchmarks import gate
from benchmarks.datasets import DataError, read_gate_cases

ROWS = [
    {"conversation": "Where were we?", "search": True, "language": "en"},
    {"conversation": [{"role": "user", "content": "wie immer"}], "search": True, "language": "de"},
    {"conversation": "Show the weather", "search": False, "language": "en"},
    {"conversation": "Who is Bob?", "search": False, "language": "en"},
    {"conversation": "What is ham?", "search": True, "batch": 2},  # labelled wrongly, to be missed
]


@pytest.fixture
def file(jsonl) -> Path:
    return jsonl("prompts.jsonl", *ROWS)


def test_it_writes_what_was_promised(file: Path, measured, capsys) -> None:
    result = measured(gate.main, "--data", file)

    assert result["recall"] == pytest.approx(2 / 3, abs=1e-4)
    assert result["precision"] == pytest.approx(2 / 3, abs=1e-4)
    assert result["false_positive_rate"] == 0.5
    assert result["personalab"]["false_positive_rate"] == 1.0
    assert result["by_language"]["de"] == {
        "precision": 1.0, "recall": 1.0, "false_positive_rate": None
    }  # fmt: skip
    assert 0 < result["ms_median"] < 10
    assert {miss["conversation"] for miss in result["misses"]} == {
        "What is ham?", "Who is Bob?"
    }  # fmt: skip
    shown = capsys.readouterr().out
    assert "should search: 'What is ham?'" in shown
    assert "PersonaLab" in shown


def test_a_batch_is_measured_alone(file: Path, measured, capsys) -> None:
    result = measured(gate.main, "--data", file, "--batch", 2)

    assert (result["n"], result["recall"]) == (1, 0.0)
    with pytest.raises(SystemExit):
        gate.main(["--data", str(file), "--batch", "7"])
    assert "no prompts of batch 7" in capsys.readouterr().err


@table(
    "row",
    [
        {"search": True},
        {"conversation": "x", "search": "yes"},
        {"conversation": 7},
        {"conversation": "x", "search": True, "batch": "6"},
    ],
)
def test_a_line_that_is_wrong_is_named(row, jsonl) -> None:
    file = jsonl("prompts.jsonl", row)

    with pytest.raises(DataError, match="line 1"):
        read_gate_cases(file)
    with pytest.raises(SystemExit):
        gate.main(["--data", str(file)])
