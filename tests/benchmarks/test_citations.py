"""The benchmark of the check of citations reads what it is handed and prints its figures."""

import json
from pathlib import Path

import pytest

from benchmarks.citations import main

ROOT = Path(__file__).parent.parent.parent
MEMORIES = [
    ROOT / "examples/memorybank/memories.jsonl",
    ROOT / "benchmarks/data/memorybank_zh.jsonl",
]


def row(claim: str, cited: list[int], *, supported: bool, kind: str = "k") -> str:
    memories = ["Ann: I drink tea at four.", {"content": "Bob plays the piano.", "author": "Bob"}]
    return json.dumps(
        {"claim": claim, "memories": memories, "cited": cited, "supported": supported, "kind": kind}
    )


def test_figures_of_a_small_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, out = tmp_path / "claims.jsonl", tmp_path / "out.json"
    rows = [
        row("Ann drinks tea at 4.", [1], supported=True),
        row("Ann drinks tea at five.", [1], supported=False, kind="number"),
        row("Bob plays the piano.", [1], supported=False, kind="wrong citation"),
        row("She admires keyboard music.", [2], supported=True, kind="heavy"),
    ]
    data.write_text("\n".join(rows), encoding="utf-8")

    main(["--data", str(data), "--json", str(out), "--misses", "5"])

    result = json.loads(out.read_text(encoding="utf-8"))
    assert result["in_all"]["ours"] == {"caught": 1.0, "kept": 0.5, "balanced_accuracy": 0.75}
    assert result["by_kind"]["number"]["word share"]["caught"] == 0.0
    assert "refused, heavy: She admires keyboard music." in capsys.readouterr().out


@pytest.mark.parametrize("broken", ['{"claim": "x"}', "no json", row("x", [3], supported=True)])
def test_a_broken_line_is_named(
    broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "claims.jsonl"
    data.write_text(broken, encoding="utf-8")

    with pytest.raises(SystemExit):
        main(["--data", str(data)])

    assert "claims.jsonl" in capsys.readouterr().err


def test_the_aims_of_the_check_hold_on_our_own_set(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    data = ROOT / "benchmarks/data/claims.jsonl"

    main(["--data", str(data), "--memories", *map(str, MEMORIES), "--json", str(out)])

    kinds = json.loads(out.read_text(encoding="utf-8"))["by_kind"]
    assert sum(each["n"] for each in kinds.values()) == 340
    for kind, least in {
        "negation": 0.9,
        "number": 0.95,
        "wrong citation": 0.95,
        "name": 0.9,
    }.items():
        assert kinds[kind]["ours"]["caught"] >= least, kind
    for kind in ("faithful", "light paraphrase"):
        assert kinds[kind]["ours"]["kept"] >= 0.95, kind
