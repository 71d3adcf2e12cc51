"""The gate's benchmark counts rightly, and measures the original beside it."""

import json
from pathlib import Path

import pytest

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
def file(tmp_path: Path) -> Path:
    written = tmp_path / "prompts.jsonl"
    written.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return written


def test_it_writes_what_was_promised(file: Path, tmp_path: Path, capsys) -> None:
    gate.main(["--data", str(file), "--json", str(tmp_path / "out.json")])

    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
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


def test_a_batch_is_measured_alone(file: Path, tmp_path: Path, capsys) -> None:
    gate.main(["--data", str(file), "--batch", "2", "--json", str(tmp_path / "out.json")])

    result = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert (result["n"], result["recall"]) == (1, 0.0)
    with pytest.raises(SystemExit):
        gate.main(["--data", str(file), "--batch", "7"])
    assert "no prompts of batch 7" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        '{"search": true}',
        '{"conversation": "x", "search": "yes"}',
        '{"conversation": 7}',
        '{"conversation": "x", "search": true, "batch": "6"}',
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "prompts.jsonl"
    file.write_text(line, encoding="utf-8")

    with pytest.raises(DataError, match="line 1"):
        read_gate_cases(file)
    with pytest.raises(SystemExit):
        gate.main(["--data", str(file)])
