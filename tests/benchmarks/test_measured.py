"""The pages in docs are what was measured; the benchmarks that only they read count rightly."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import everyday, footprint, stock
from benchmarks.measured import __main__ as program
from benchmarks.measured.figures import figures
from benchmarks.measured.page import page
from recall_retrievers.evaluation.comparison import BY_CATEGORY

ROOT = Path(__file__).parent.parent.parent
FOUND = {"recall@5": 0.5, "recall@10": 0.75, "ndcg@10": 0.4, "hit@5": 1.0}
LESS = {**FOUND, "recall@5": 0.25}
MORE = {**FOUND, "recall@5": 0.625}
SECRET = "a text of the data set"


@pytest.fixture
def results(jsonl) -> Path:
    easy = {**LESS, "by_category": {"easy": LESS, "hard": LESS}}
    retrieval = {
        "set": "beam",
        "queries": 7,
        "overall": FOUND,
        "by_category": {"easy": FOUND, "hard": FOUND},
        "without_time": {"queries": 1, "moved": [SECRET]},
        "ms_per_query": {"p50": 1.0, "p95": 2.0},
        "baselines": {
            "bm25": easy,
            "dense": {**LESS, "by_category": {"easy": LESS, "hard": MORE}},
            "rrf": easy,
        },
    }
    shares = {"precision": 1.0, "recall": 0.5, "false_positive_rate": 0.0}
    gate = {"n": 2, "ms_median": 0.1, "by_language": {"en": shares}, "personalab": shares}
    gate["misses"] = [SECRET]
    jsonl("results/retrieval.json", retrieval)
    return jsonl("results/gate.json", gate).parent


def test_the_page_in_docs_is_the_one_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    program.main([])

    assert capsys.readouterr().out == (ROOT / "docs" / "measured.md").read_text(encoding="utf-8")


def test_the_page_says_what_was_found_and_where_we_lose(results: Path) -> None:
    printed = page(figures(results))

    assert "| BEAM 100K, message level (7) | 0.500 / 0.750 | 0.250 / 0.750 |" in printed
    assert "- BEAM 100K, message level, hard: recall@5 ours 0.500, best 0.625" in printed
    assert "easy" not in printed
    assert "| retrieval, gate | Python 3" in printed
    assert "| `SearchGate`: en | 1.000 | 0.500 | 0.000 |" in printed


def test_no_text_is_kept(results: Path, jsonl, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = jsonl("figures.json", {"gate": "older", "stock": {"sets": {}, "versions": {}}})
    monkeypatch.setattr(program, "KEPT", kept)

    program.main(["--results", str(results)])

    written = json.loads(kept.read_text(encoding="utf-8"))
    assert written.keys() == {"gate", "stock", "retrieval"}
    assert written["gate"]["n"] == 2
    assert SECRET not in kept.read_text(encoding="utf-8")


def test_the_stock_pieces_see_what_a_question_may_see(retrieval_set, measured) -> None:
    told = [
        ("c", "m1", "The plumber repaired the tap.", "Ada", "2024-03-05T10:00:00"),
        ("c", "m2", "We painted the fence green.", "Ada", "2024-03-11T09:00:00"),
        ("c", "late", "The plumber repaired the tap again.", "Ada", "2024-03-20T08:00:00"),
    ]
    asked = {"text": "Who repaired the tap?", "relevant": ["m1"]}

    [systems] = measured(stock.main, "--data", retrieval_set("house", told, asked)).values()

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


NAMES = {"by meaning": "by meaning (vectors)"}  # as the page calls what the benchmark measures


@pytest.mark.slow
@pytest.mark.usefixtures("embeds_once")
def test_the_table_in_docs_is_measured_and_ours_wins_where_it_says_so() -> None:
    page = (ROOT / "docs" / "how_to" / "evaluate.md").read_text(encoding="utf-8")

    compared = everyday.measure(everyday.FOLDER)

    for name, evaluation in compared.evaluations.items():
        [row] = re.findall(rf"^\| {re.escape(NAMES.get(name, name))} \|(.*)\|$", page, re.MULTILINE)
        shown = [float(cell.strip(" *")) for cell in row.split("|")]
        figures = [evaluation.figures, *evaluation.by_category.values()]
        measured = [each[BY_CATEGORY] for each in figures]
        assert shown == pytest.approx(measured, abs=0.015), name  # another machine's rounding
    *theirs, ours = (
        each.by_category["a day"][BY_CATEGORY] for each in compared.evaluations.values()
    )
    assert ours > max(theirs) + 0.1
