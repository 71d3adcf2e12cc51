"""The benchmark of the check of citations reads what it is handed and prints its figures."""

from pathlib import Path

import pytest
from tables import table

from benchmarks.citations import main

ROOT = Path(__file__).parent.parent.parent
MEMORIES = [
    ROOT / "examples/memorybank/memories.jsonl",
    ROOT / "benchmarks/data/memorybank_zh.jsonl",
]


def row(claim: str, cited: list[int], *, supported: bool, kind: str = "k") -> dict[str, object]:
    memories = ["Ann: I drink tea at four.", {"content": "Bob plays the piano.", "author": "Bob"}]
    about = {"cited": cited, "supported": supported, "kind": kind}
    return {"claim": claim, "memories": memories, **about}


def test_figures_of_a_small_set(jsonl, measured, capsys: pytest.CaptureFixture[str]) -> None:
    data = jsonl(
        "claims.jsonl",
        row("Ann drinks tea at 4.", [1], supported=True),
        row("Ann drinks tea at five.", [1], supported=False, kind="number"),
        row("Bob plays the piano.", [1], supported=False, kind="wrong citation"),
        row("She admires keyboard music.", [2], supported=True, kind="heavy"),
    )

    other = jsonl("other.jsonl", row("Ann drinks tea at five.", [1], supported=False))
    result = measured(main, "--data", data, other, "--misses", 5)

    assert result["in_all"]["ours"] == {"caught": 1.0, "kept": 0.5, "balanced_accuracy": 0.75}
    assert result["by_set"]["claims"]["without numbers"]["caught"] == 0.5
    assert result["by_set"]["claims"]["ours"] == result["in_all"]["ours"]
    assert result["mean"]["without numbers"]["caught"] == 0.25
    assert result["by_kind"]["number"]["word share"]["caught"] == 0.0
    assert "refused, heavy: She admires keyboard music." in capsys.readouterr().out


@table("broken", [{"claim": "x"}, "no json", row("x", [3], supported=True)])
def test_a_broken_line_is_named(broken, jsonl, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--data", str(jsonl("claims.jsonl", broken))])

    assert "claims.jsonl" in capsys.readouterr().err


def test_the_aims_of_the_check_hold_on_our_own_set(measured) -> None:
    data = ROOT / "benchmarks/data/claims.jsonl"

    result = measured(main, "--data", data, "--memories", *MEMORIES)

    kinds = result["by_kind"]
    assert result["n"]["in all"] == 340
    assert result["in_all"]["ours"]["kept"] >= 0.82
    assert result["in_all"]["ours"]["balanced_accuracy"] >= 0.77
    aims = {"negation": 0.95, "number": 0.85, "wrong citation": 0.95, "name": 0.8}
    for kind, least in aims.items():
        assert kinds[kind]["ours"]["caught"] >= least, kind
    for kind in ("faithful", "light paraphrase"):
        assert kinds[kind]["ours"]["kept"] >= 0.95, kind
