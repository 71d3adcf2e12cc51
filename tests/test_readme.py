"""What the README shows is run, and what it claims of the code holds."""

import re
import subprocess
import sys
from pathlib import Path

import chromadb
import pytest

import langchain_recall
from recall_stages.retriever import CallOptions

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS[:2], ids=["langchain", "llamaindex"])
def test_the_ten_lines_run_and_say_what_they_say(block: str, tmp_path: Path) -> None:
    assert len([line for line in block.splitlines() if line.strip()]) <= 12

    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    [promised] = re.findall(r"print\(.*?\)  # (.*)", block)
    assert done.stdout.splitlines()[0] == promised, done.stderr
    assert '"last Tuesday" is understood as 2024-03-05 (Tuesday)' in done.stdout


def test_a_collection_that_you_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    client = chromadb.PersistentClient("./my_app")
    vectors = langchain_recall.RecallStore()._embedding.embed_documents(["Ann sees the dentist."])
    client.create_collection("notes", embedding_function=None).add(
        ids=["1"],
        embeddings=vectors,
        documents=["Ann sees the dentist."],
        metadatas=[{"date": "2024-03-05T10:00:00+00:00", "owner": "ann"}],
    )
    shown: dict[str, object] = {}

    exec(BLOCKS[2], shown)

    found = shown["retriever"].invoke("the dentist last Tuesday", timestamp="2024-03-08T12:00:00Z")
    assert found[0].page_content == "Ann sees the dentist."
    assert found[0].metadata["recall_time_match"] == "recorded"
    shown["store"].close()


@pytest.mark.parametrize("block", BLOCKS[3:], ids=["agent", "memory"])
def test_agents_remember(block: str, tmp_path: Path) -> None:
    told = BLOCKS[3].split("model =")[0]  # both find what the first one stores
    once = "" if block is BLOCKS[3] else f"{told}store.close()\n"

    done = subprocess.run(
        [sys.executable, "-c", once + block],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "My sister's birthday is on 3 May." in done.stdout, done.stderr


def test_what_a_call_may_set_stands_first() -> None:
    table = README.split("| setting |")[1].split("\n\n")[0].splitlines()[2:12]
    named = {name for row in table for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])}

    assert named == set(CallOptions.__annotations__)


def test_the_commands_it_names_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in set(
        re.findall(r"make ([a-z]+)", README + (ROOT / "CONTRIBUTING.md").read_text())
    ):
        assert f"\n{target}:" in makefile, target


def test_the_settings_it_lists_are_those_of_the_retriever() -> None:
    table = README.split("| setting |")[1].split("\n\n")[0]
    named = set(
        re.findall(r"`([a-z_]+)`", "\n".join(r.split("|")[1] for r in table.splitlines()[2:]))
    )
    framework = {"name", "tags", "metadata"}

    assert named == set(langchain_recall.RecallRetriever.model_fields) - framework
