"""The gate's weights are learned from the labelled prompts, and are those in the package."""

import json
from pathlib import Path

import pytest

from benchmarks import gate_weights

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
GATE = Path(gate_weights.__file__).parents[1] / "recall_retrievers" / "gate"

NEEDED = ("Where is my hat?", "Where is my bag?", "Where is my cup?", "Is my hat here?")
NOT_NEEDED = ("What is a hat?", "What is a bag?", "What is a cup?", "Is a hat warm?")


@pytest.fixture
def file(jsonl) -> Path:
    rows = [
        {"conversation": text, "search": texts is NEEDED, "language": "en", "batch": number % 2}
        for texts in (NEEDED, NOT_NEEDED)
        for number, text in enumerate(texts)
    ]
    rows.append({"conversation": "Wo ist mein Hut?", "search": False, "language": "de"})
    return jsonl("prompts.jsonl", *rows)


def test_it_predicts_every_batch_from_the_others(file: Path, capsys) -> None:
    gate_weights.main(["--data", str(file), "--language", "en"])

    assert capsys.readouterr().out.splitlines() == [
        "batch 0  precision 1.0  recall 1.0  false_positive_rate 0.0",
        "batch 1  precision 1.0  recall 1.0  false_positive_rate 0.0",
    ]


def test_it_writes_the_weights_of_one_language(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "en.json"
    gate_weights.main(["--data", str(file), "--language", "en", "--write", str(out)])

    weights = json.loads(out.read_text(encoding="utf-8"))["weights"]
    assert weights["<mine>"] > 0 > weights["a"]
    assert not any("hut" in name for name in weights)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_weights_of_the_package_are_learned_from_the_prompts(
    tmp_path: Path, language: str
) -> None:
    """Whoever changes a class of words or a prompt writes the weights anew."""
    out = tmp_path / f"{language}.json"
    data = [str(file) for file in sorted(DATA.glob("gate*.jsonl"))]
    gate_weights.main(["--data", *data, "--language", language, "--write", str(out)])

    learned, packed = (
        json.loads(file.read_text(encoding="utf-8")) for file in (out, GATE / out.name)
    )
    assert learned["bias"] == pytest.approx(packed["bias"], abs=0.15)
    names = learned["weights"].keys() | packed["weights"].keys()
    off = {
        name
        for name in names
        if abs(learned["weights"].get(name, 0) - packed["weights"].get(name, 0)) > 0.35
    }
    assert not off
