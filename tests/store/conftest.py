"""Stores to test: in memory, on a path, and on a real server."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import chromadb
import pytest
from store.following import SMALL
from store.kit import SmallEmbedding

from recall_retrievers.store import RecallStore, writing
from recall_retrievers.store.rows import follower, words


@pytest.fixture
def small() -> SmallEmbedding:
    return SmallEmbedding()


@pytest.fixture
def in_memory(small: SmallEmbedding) -> Iterator[RecallStore]:
    with RecallStore(embedding=small) as store:
        yield store


@pytest.fixture(params=["memory", "path", "server", "cloud"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, collection_name: str, small: SmallEmbedding
) -> Iterator[RecallStore]:
    """The same store four ways."""
    with ExitStack() as stack:
        if request.param == "memory":
            source: object = None
        elif request.param == "path":
            source = tmp_path / "memories"
        elif request.param == "cloud":
            source = request.getfixturevalue("cloud").client()
            stack.callback(_drop, source, collection_name)
        else:
            port = request.getfixturevalue("server_port")
            source = chromadb.HttpClient(host="127.0.0.1", port=port)
            stack.callback(_drop, source, collection_name)
        # A server of the tests may have collections of other tests.
        beside_others = True if request.param in ("cloud", "server") else None
        yield stack.enter_context(
            RecallStore(source, collection_name, embedding=small, create=beside_others)
        )


def _drop(client: chromadb.ClientAPI, name: str) -> None:
    if name in {each.name for each in client.list_collections()}:  # a test may have made none
        client.delete_collection(name)


@pytest.fixture
def chroma() -> Iterator[chromadb.ClientAPI]:
    """Somebody's own client, in memory."""
    client = chromadb.EphemeralClient()
    yield client
    client.close()


@pytest.fixture
def two(
    server_port: int, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[RecallStore, RecallStore]]:
    """Two stores on one collection of a server, which do not pass on what they write.

    Those of two processes cannot either.
    """
    monkeypatch.setattr(writing, "indexes_of", lambda *_: [])
    client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
    with (
        RecallStore(client, collection_name, embedding=SMALL) as ours,
        RecallStore(client, collection_name, embedding=SMALL) as theirs,
    ):
        yield ours, theirs
    client.delete_collection(collection_name)


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question looks, as if a second had passed since the last."""
    monkeypatch.setattr(follower, "POLL_S", 0.0)


@pytest.fixture(params=["few", "postings", "rare first"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ways to find rows by words: by their own, by all postings, by those of rare words."""
    if request.param == "postings":
        monkeypatch.setattr(words, "_FEW", 0)
    if request.param == "rare first":
        monkeypatch.setattr(words, "_A_ROW", 0)
    return str(request.param)
