"""The wheel as a user installs it: every extra, every Python, lowest and newest versions.

It fetches from the package index, so it runs by `make test-install` alone; for several Pythons
`make test-install PYTHONS="python3.11 python3.13"`, for the pre-releases of what it needs
`make test-install PRE=1`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from chroma_server import ChromaServer
from pages import ROOT, blocks

PYTHONS = os.environ.get("RECALL_PYTHONS", sys.executable).split()
PRE = "RECALL_PRE" in os.environ
VERSIONS = ["pre-releases"] if PRE else ["lowest-direct", "highest"]

# Pre-releases that others break on: Chroma is not importable with httpx 1.0.
HELD_BACK = "httpx<1\n"

pytestmark = pytest.mark.skipif(
    "RECALL_TEST_INSTALL" not in os.environ, reason="fetches packages: make test-install runs it"
)

STORE = """
from recall_retrievers.store import RecallStore
store = RecallStore()
store.add([{"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00:00Z"}])
asked = "the dentist last Tuesday"
"""
LANGCHAIN = f"""{STORE}
from langchain_recall import RecallRetriever, create_recall_tool, explain
retriever = RecallRetriever(store=store)
found = retriever.invoke(asked, timestamp="2024-03-08")
assert found[0].page_content == "The dentist filled a tooth.", found
assert "last Tuesday" in str(explain(found))
assert create_recall_tool(retriever).name
"""
LLAMAINDEX = f"""{STORE}
from llamaindex_recall import RecallMemoryBlock, RecallRetriever, create_recall_tool
retriever = RecallRetriever(store=store)
found = retriever.retrieve(asked, timestamp="2024-03-08")
assert found[0].text == "The dentist filled a tooth.", found
assert create_recall_tool(retriever) and RecallMemoryBlock(retriever=retriever)
"""
LOOK = """
from langchain_recall import explore
look = explore(retriever, asked)
assert look.ask(query=asked).memories and "text/html" in look._repr_mimebundle_()[0]
"""
AGENTS = "from langchain_recall import RecallMiddleware\n"
SERVE = f"""{STORE}
from recall_retrievers.serve.app import create_memory_app
from recall_retrievers.cli import main
assert create_memory_app(store)
for command in ("mcp", "serve"):
    try:
        main("recall", [command, "--help"])
    except SystemExit as ended:
        assert not ended.code
"""
MULTILINGUAL = """
from recall_retrievers.store import RecallStore
from recall_retrievers.core.stage import Search
with RecallStore(embedding="multilingual") as store:
    store.add(["Der Zahnarzt hat mir eine Füllung gemacht.", "我的猫叫小白。"])
    [[cat, *_]] = store.find([Search("What is the name of my cat?", limit=1)])
    assert "小白" in cat.memory.content, cat
"""
USE = {
    "chroma,embedding": STORE,
    "langchain": LANGCHAIN,
    "llamaindex": LLAMAINDEX,
    "langchain,look": LANGCHAIN + LOOK,
    "agents": LANGCHAIN + AGENTS,
    "serve": SERVE,
    "chroma,embedding,multilingual": MULTILINGUAL,
    "all": LLAMAINDEX + LANGCHAIN + LOOK + AGENTS + SERVE,
}
NOTHING = """
from recall_retrievers.store import RecallStore
try:
    RecallStore()
except RuntimeError as error:
    assert "pip install 'recall-retrievers[chroma,embedding]'" in str(error), error
else:
    raise AssertionError("there is no Chroma here")
"""
# A model of the user's own, and memories on a server.
CLIENT = """
import importlib.util, os
import chromadb
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_recall import RecallRetriever, RecallStore

for package in ("onnxruntime", "tokenizers", "kubernetes", "chromadb_rust_bindings"):
    assert importlib.util.find_spec(package) is None, package
client = chromadb.HttpClient(port=int(os.environ["PORT"]))
store = RecallStore(client, embedding=DeterministicFakeEmbedding(size=8))
store.add([{"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00:00Z"}])
found = RecallRetriever(store=store).invoke("the dentist last Tuesday", timestamp="2024-03-08")
assert found[0].page_content == "The dentist filled a tooth.", found
for open_it, says in (
    (lambda: RecallStore(), "pip uninstall chromadb-client"),
    (lambda: RecallStore(client, "other").add(["Tea."]), "recall-retrievers[embedding]"),
):
    try:
        open_it()
    except RuntimeError as error:
        assert says in str(error), error
    else:
        raise AssertionError(says)
"""
# The blocks of the README one after the other, those that need what is not installed left out.
README = """
import json, os, pathlib, sys
os.environ.update(TZ="UTC", COLUMNS="100")
from recall_retrievers.store import RecallStore
# LlamaIndex's block asks what LangChain's has stored; here it may come without it.
with RecallStore("./memories") as store:
    store.add([{"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00Z"}])
names = {"__name__": "page"}
for block in json.loads(pathlib.Path("blocks.json").read_text(encoding="utf-8")):
    exec(compile(block, "README.md", "exec"), names)
"""
NEEDS = {  # what a block that names this needs
    "langchain_recall": {"langchain", "agents", "all"},
    "llamaindex_recall": {"llamaindex", "all"},
    "create_agent": {"agents", "all"},
    "HttpClient": set(),  # a server at its usual port
}


def _uv(*words: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "uv", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _uv("build", "--wheel", "--out-dir", folder, ROOT)
    [wheel] = folder.glob("*.whl")
    return wheel


def _install(folder: Path, python: str, versions: str, wheel: Path, extra: str, *more: str) -> Path:
    """A fresh environment; returns its Python."""
    _uv("venv", "--no-python-downloads", "--python", python, folder / "venv")
    executable = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    if versions == "pre-releases":
        held = folder / "held.txt"
        held.write_text(HELD_BACK, encoding="utf-8")
        choice = ["--prerelease", "allow", "--constraint", str(held)]
    else:
        choice = ["--resolution", versions]
    project = f"recall-retrievers{f'[{extra}]' if extra else ''} @ {wheel.as_uri()}"
    install = ["pip", "install", "--python", executable, "--only-binary", ":all:", *choice]
    _uv(*install, project, *more)
    _uv("pip", "check", "--python", executable)
    return executable


def _run(executable: Path, program: str, folder: Path, **variables: str) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [executable, "-c", program],
        cwd=folder,
        env={**clean, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("versions", VERSIONS)
@pytest.mark.parametrize("extra", list(USE))
def test_what_is_installed_works(
    extra: str, versions: str, python: str, wheel: Path, tmp_path: Path
) -> None:
    executable = _install(tmp_path, python, versions, wheel, extra)

    _run(executable, USE[extra], tmp_path)
    gate = [executable.with_name("recall"), "gate", "Book it again."]
    assert subprocess.run(gate, cwd=tmp_path, check=False).returncode == 0
    if versions != "lowest-direct":
        _run_readme(executable, extra, tmp_path)


def _run_readme(executable: Path, extra: str, folder: Path) -> None:
    runs: list[str] = []
    needs: set[str] = set()
    for block in blocks(ROOT / "README.md"):
        if block.language == "python":
            if "import" in block.text:  # else it goes on with what the one before has imported
                needs = set()
            needs |= {name for name in NEEDS if name in block.text}
            if all(extra in NEEDS[name] for name in needs):
                runs.append(block.text)
    assert runs or extra not in {"langchain", "llamaindex", "agents", "all"}
    (folder / "blocks.json").write_text(json.dumps(runs), encoding="utf-8")
    for name in ("memories.jsonl", "questions.jsonl"):
        (folder / name).write_bytes((ROOT / "examples" / "memorybank" / name).read_bytes())
    _run(executable, README, folder)


@pytest.mark.parametrize("python", PYTHONS)
def test_without_an_extra_it_says_what_is_missing(python: str, wheel: Path, tmp_path: Path) -> None:
    executable = _install(tmp_path, python, VERSIONS[-1], wheel, "")

    _run(executable, NOTHING, tmp_path)
    gate = [executable.with_name("recall"), "gate", "Book it again."]
    assert subprocess.run(gate, cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("versions", VERSIONS)
def test_chromas_client_is_enough_for_a_server(
    python: str, versions: str, wheel: Path, tmp_path: Path
) -> None:
    framework = "langchain-core>=1.1,<2"
    executable = _install(tmp_path, python, versions, wheel, "client", framework)
    server = ChromaServer(tmp_path / "server")
    try:
        server.client()
        _run(executable, CLIENT, tmp_path, PORT=str(server.port))
    finally:
        server.stop()
