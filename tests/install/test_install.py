"""`pip install` as a user does it: every extra, every Python, the lowest and the newest versions.

It fetches from the package index, so it runs by `make test-install` alone; for several Pythons
`make test-install PYTHONS="python3.11 python3.13"`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PYTHONS = os.environ.get("RECALL_PYTHONS", sys.executable).split()

pytestmark = pytest.mark.skipif(
    "RECALL_TEST_INSTALL" not in os.environ, reason="fetches packages: make test-install runs it"
)

STORE = """
store = RecallStore()
store.add([{"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00:00Z"}])
asked = "the dentist last Tuesday"
"""
LANGCHAIN = f"""
from langchain_recall import RecallRetriever, RecallStore, create_recall_tool, explain
{STORE}
retriever = RecallRetriever(store=store)
found = retriever.invoke(asked, timestamp="2024-03-08")
assert found[0].page_content == "The dentist filled a tooth.", found
assert "last Tuesday" in str(explain(found))
assert create_recall_tool(retriever).name
"""
LLAMAINDEX = f"""
from llamaindex_recall import RecallMemoryBlock, RecallRetriever, RecallStore, create_recall_tool
{STORE}
retriever = RecallRetriever(store=store)
found = retriever.retrieve(asked, timestamp="2024-03-08")
assert found[0].text == "The dentist filled a tooth.", found
assert create_recall_tool(retriever) and RecallMemoryBlock(retriever=retriever)
"""
AGENTS = "from langchain_recall import RecallMiddleware\n"
USE = {
    "": "from recall_stages.store import RecallStore\n" + STORE,
    "langchain": LANGCHAIN,
    "llamaindex": LLAMAINDEX,
    "all,agents": LANGCHAIN + LLAMAINDEX + AGENTS,
}


def _uv(*words: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uv", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("versions", ["lowest-direct", "highest"])
@pytest.mark.parametrize("extra", list(USE))
def test_what_is_installed_works(extra: str, versions: str, python: str, tmp_path: Path) -> None:
    _uv("venv", "--no-python-downloads", "--python", python, tmp_path / "venv")
    executable = tmp_path / "venv" / "bin" / "python"
    project = f"recall-retrievers[{extra}] @ {ROOT.as_uri()}"
    install = ["pip", "install", "--python", executable, "--resolution", versions]
    _uv(*install, "--only-binary", ":all:", "--no-binary", "recall-retrievers", project)

    done = subprocess.run(
        [executable, "-c", USE[extra]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    gate = subprocess.run(
        [executable.with_name("recall"), "gate", "Book it again."], cwd=tmp_path, check=False
    )
    assert gate.returncode == 0
