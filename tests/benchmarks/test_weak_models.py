"""The scripted models are as good as their names, and the benchmark says what becomes of them."""

import json

import pytest

from benchmarks import weak_models
from benchmarks.weak_models import Judge

TEXTS = ["Tabby, three of them.", "A walk.", "Tea.", "Rain.", "A wall.", "Jam.", "Bread."]


def prompt(texts: list[str]) -> str:
    return "\n".join(
        f'<memory number="{n}" author="Ada">\n{text}\n</memory>' for n, text in enumerate(texts, 1)
    )


def judged(name: str, seed: int, texts: list[str] = TEXTS) -> list[float]:
    judge = Judge(name, seed)
    judge.relevant = frozenset(texts[:1])
    return [score for _, score in json.loads(judge(prompt(texts)))["scores"]]


@pytest.mark.parametrize(("name", "auc"), [("0.9", 0.9), ("0.6", 0.6), ("random", 0.5)])
def test_a_model_is_as_good_as_its_name(name: str, auc: float) -> None:
    scores = [judged(name, seed) for seed in range(600)]
    above = [first > each for first, *others in scores for each in others]

    assert sum(above) / len(above) == pytest.approx(auc, abs=0.04)
    assert judged(name, 3) == scores[3]


def test_an_oracle_knows_and_a_reversed_one_knows_the_contrary() -> None:
    assert judged("oracle", 0) == [1.0] + [0.0] * 6
    assert judged("reversed", 0) == [0.0] + [1.0] * 6


def test_it_prints_and_writes_a_row_for_each_face(retrieval_set, measured, capsys) -> None:
    moment = "2024-03-05T10:00:00"
    memories = [("c", str(n), text, "Ada", moment) for n, text in enumerate(TEXTS)]
    asked = {"text": "What of walks, tea, rain, walls and jam?", "relevant": ["0"]}
    data = retrieval_set("pets", memories, asked)

    rows = measured(weak_models.main, "--data", data, "--shares", "0,1", "--seeds", "1")

    assert [(row["face"], row["share"]) for row in rows] == [
        (face, share) for face in ("langchain", "llamaindex") for share in (0, 1)
    ]
    for row in rows:
        models = row["models"]
        if row["share"] == 0:
            assert set(models.values()) == {row["no_model"]}
        else:
            assert (models["oracle"], row["kept"]) == (1.0, 1.0)
            assert models["reversed"] < 1
    assert "recall at 5" in capsys.readouterr().out
