"""docs/measured.md is what was measured, and the benchmarks that only it reads count rightly."""

import json
from pathlib import Path

import pytest

from benchmarks import footprint, stock
from benchmarks.measured import __main__ as measured
from benchmarks.measured.figures import figures
from benchmarks.measured.page import page

ROOT = Path(__file__).parent.parent.parent
FOUND = {"recall@5": 0.5, "recall@10": 0.75, "ndcg@10": 0.4, "hit@5": 1.0}
LESS = {**FOUND, "recall@5": 0.25}
MORE = {**FOUND, "recall@5": 0.625}
SECRET = "a text of the data set"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    retrieval = {
        "set": "beam",
        "queries": 7,
        "overall": FOUND,
        "by_category": {"easy": FOUND, "hard": FOUND},
        "without_time": {"queries": 1, "moved": [SECRET]},
        "ms_per_query": {"p50": 1.0, "p95": 2.0},
        "baselines": {
            "bm25": {**LESS, "by_category": {"easy": LESS, "hard": LESS}},
            "dense": {**LESS, "by_category": {"easy": LESS, "hard": MORE}},
            "rrf": {**LESS, "by_category": {"easy": LESS, "hard": LESS}},
        },
    }
    shares = {"precision": 1.0, "recall": 0.5, "false_positive_rate": 0.0}
    gate = {"n": 2, "ms_median": 0.1, **shares, "personalab": shares, "misses": [SECRET]}
    folder = tmp_path / "results"
    folder.mkdir()
    for name, result in {"retrieval": retrieval, "gate": gate}.items():
        (folder / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")
    return folder


def test_the_page_in_docs_is_the_one_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    measured.main([])

    assert capsys.readouterr().out == (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")


def test_the_page_says_what_was_found_and_where_we_lose(results: Path) -> None:
    printed = page(figures(results))

    assert "| BEAM 100K, message level (7) | 0.500 / 0.750 | 0.250 / 0.750 |" in printed
    assert "- BEAM 100K, message level, hard: recall@5 ours 0.500, best 0.625" in printed
    assert "easy" not in printed
    assert "| retrieval, gate | Python 3" in printed
    assert "| `SearchGate` | 1.000 | 0.500 | 0.000 |" in printed


def test_no_text_is_kept(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "figures.json"
    kept.write_text(
        json.dumps({"gate": "older", "stock": {"sets": {}, "versions": {}}}), encoding="utf-8"
    )
    monkeypatch.setattr(measured, "KEPT", kept)

    measured.main(["--results", str(results)])

    written = json.loads(kept.read_text(encoding="utf-8"))
    assert written.keys() == {"gate", "stock", "retrieval"}
    assert written["gate"]["n"] == 2
    assert SECRET not in kept.read_text(encoding="utf-8")


def test_the_stock_pieces_see_what_a_question_may_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "house"
    folder.mkdir()
    told = [
        ("m1", "The plumber repaired the tap.", "2024-03-05T10:00:00"),
        ("m2", "We painted the fence green.", "2024-03-11T09:00:00"),
        ("late", "The plumber repaired the tap again.", "2024-03-20T08:00:00"),
    ]
    (folder / "memories.jsonl").write_text(
        "".join(
            json.dumps({"corpus": "c", "id": i, "text": t, "speaker": "Ada", "created_at": at})
            + "\n"
            for i, t, at in told
        ),
        encoding="utf-8",
    )
    asked = {
        "corpus": "c", "id": "q", "text": "Who repaired the tap?", "now": "2024-03-13T12:00:00",
        "category": "plain", "relevant": ["m1"], "time": None, "off_text": None,
    }  # fmt: skip
    (folder / "queries.jsonl").write_text(json.dumps(asked) + "\n", encoding="utf-8")
    out = tmp_path / "out.json"

    stock.main(["--data", str(folder), "--json", str(out)])

    [systems] = json.loads(out.read_text(encoding="utf-8")).values()
    assert len(systems) == 4
    for name, found in systems.items():
        assert found["recall@5"] == 1, name
    # Alone and first, unless what is new counts for more than what answers.
    assert systems["llamaindex_vector"]["ndcg@10"] == 1
    assert systems["langchain_chroma"]["ndcg@10"] == 1


def test_an_extra_brings_what_it_names() -> None:
    names = {
        extra: {each.name for each in footprint.required(extra)} for extra in ("", "langchain")
    }

    assert "tiktoken" in names[""]
    assert not {"chromadb", "langchain-core"} & names[""]
    assert {"chromadb", "langchain-core"} <= names["langchain"]
    assert footprint.megabytes(footprint.required("")) > 50
    assert footprint.milliseconds("sum(range(10**6))", 1) > 0
