"""The ablation switches off what it says; scripted models are as good as their names."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import floats, lists

from benchmarks import ablation, weak_models
from benchmarks.datasets import read_retrieval_set
from benchmarks.embedding import once_per_text
from benchmarks.paired import mean_change, paired_change
from benchmarks.weak_models import Judge

MEMORIES = [
    ("c", "q", "Which pets live with you?", "Bo", "2024-03-05T10:00:00"),
    ("c", "a", "Three of them, tabby.", "Ada", "2024-03-05T10:01:00"),
    ("c", "x", "Nothing to tell of.", "Bo", "2024-03-05T15:00:00"),
]


@pytest.fixture
def folder(retrieval_set) -> Path:
    return retrieval_set("pets", MEMORIES, {"text": "pets", "relevant": ["q", "a"]})


def test_it_prints_and_writes_a_figure_for_every_part(folder, measured, capsys) -> None:
    written = measured(ablation.main, "--data", folder, "--face", "llamaindex")

    printed = capsys.readouterr().out
    assert written["pets"].keys() == ablation.PARTS.keys()
    assert all(part in printed for part in ablation.PARTS)


def test_the_tables_say_what_a_variant_does_to_the_mean_and_to_which_sets(
    folder, tmp_path, capsys
) -> None:
    twin = folder.parent / "twin"
    shutil.copytree(folder, twin)
    arguments = ["--data", str(folder.parent), "--vectors", str(tmp_path / "vectors.sqlite")]
    ablation.main([*arguments, "--variant", 'one={"fetch_k": 1, "k": 1, "method": "keyword"}'])

    printed = " ".join(capsys.readouterr().out.split())
    assert "pets" in printed
    assert "twin" in printed
    assert "dense" not in printed


def test_vectors_are_kept_in_a_file(tmp_path) -> None:
    file = tmp_path / "vectors.sqlite"
    with once_per_text(file) as vectors:
        stored, asked = vectors.embed_documents(["Tea."]), vectors.embed_query("Tea?")
    with once_per_text(file) as vectors:
        vectors._model = None  # nothing is embedded a second time
        assert np.array_equal(vectors.embed_documents(["Tea."]), stored)
        assert np.array_equal(vectors.embed_query("Tea?"), asked)


@given(lists(floats(0, 1), min_size=1, max_size=30), floats(0.01, 1))
def test_a_gain_in_every_question_is_certain_and_none_is_not(figures, gain) -> None:
    assert paired_change(figures, [each + gain for each in figures]).low > 0
    assert not paired_change(figures, figures).certain


def test_each_set_counts_the_same_in_the_mean() -> None:
    sets = {"large": ([0.0] * 99, [0.0] * 99), "small": ([0.0], [1.0])}
    assert mean_change(sets).mean == 0.5


def test_a_variant_that_is_no_json_is_refused(folder, capsys) -> None:
    with pytest.raises(SystemExit):
        ablation.main(["--data", str(folder), "--variant", "weight=.45x"])
    assert 'such as weight={"semantic_weight": 0.45}' in capsys.readouterr().err


def test_the_parts_are_off(folder, monkeypatch) -> None:
    asked = {}

    def ask_all(data, face, use, stores, **settings):
        kept = stores["c"].get(["a"])[0].said_before
        asked[len(asked)] = (use, bool(kept), settings)
        return [["q"]], [1.0]

    monkeypatch.setattr(ablation, "ask_all", ask_all)
    ablation.measure(read_retrieval_set(folder), "langchain", once_per_text())

    seen = dict(zip(ablation.PARTS, asked.values(), strict=True))
    assert [part for part, (use, _, _) in seen.items() if use == "none"] == ["time window"]
    assert [part for part, (_, context, _) in seen.items() if not context] == ["context"]
    assert {part: set(settings) for part, (_, _, settings) in seen.items() if settings} == {
        "dense": {"method"},
        "keyword": {"method"},
        "single words": {"token_weight"},
        "fusion": {"fusion"},
        "type": {"stages"},
        "author": {"stages"},
        "session": {"stages"},
        "duplicates": {"duplicate_threshold"},
    }


def test_words_around_a_turn_are_off(folder) -> None:
    by_words = {"settings": {"method": "keyword"}}
    parts = {
        "nothing": by_words,
        "words around": {**ablation.PARTS["words around"], **by_words},
        "nothing again": by_words,
    }
    answers = ablation.measure(read_retrieval_set(folder), "langchain", once_per_text(), parts)

    # "Three of them, tabby." answers the question about pets, and does not say the word.
    found = [answers[part]["overall"]["recall@5"] for part in parts]
    assert found == [1.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("part", "folder_of_part"),
    [("event time", "event_times"), ("type", "types"), ("duplicates", "copies")],
)
def test_a_part_earns_its_place_on_its_own_set(part: str, folder_of_part: str) -> None:
    data = read_retrieval_set(Path("benchmarks/data/parts", folder_of_part))
    parts = {name: ablation.PARTS[name] for name in ("nothing", part)}
    answers = ablation.measure(data, "langchain", once_per_text(), parts)

    on, off = (answers[name]["overall"]["recall@5"] for name in ("nothing", part))
    assert on > 0.95
    assert off < on - 0.2


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
