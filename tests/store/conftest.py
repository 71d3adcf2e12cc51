"""Stores to test: in memory, on a path, and on a real server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb
import pytest
from store.kit import SmallEmbedding
from store.places import SMALL, store_in

from recall_retrievers.store import RecallStore, writing
from recall_retrievers.store.rows import follower, words


@pytest.fixture
def small() -> SmallEmbedding:
    return SmallEmbedding()


@pytest.fixture
def in_memory(small: SmallEmbedding) -> Iterator[RecallStore]:
    with RecallStore(embedding=small) as store:
        yield store


@pytest.fixture(params=["memory", "path", "server"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, collection_name: str, small: SmallEmbedding
) -> Iterator[RecallStore]:
    """The same store three ways."""
    with store_in(request.param, request, tmp_path / "memories", collection_name, small) as opened:
        yield opened


@pytest.fixture
def chroma() -> Iterator[chromadb.ClientAPI]:
    """Somebody's own client, in memory."""
    client = chromadb.EphemeralClient()
    yield client
    client.close()


@pytest.fixture
def collection(chroma: chromadb.ClientAPI, collection_name: str) -> Iterator[Any]:
    """An empty collection that somebody else made there."""
    made = chroma.create_collection(collection_name, embedding_function=None)
    yield made
    # Chroma 1.5 leaves the lists of a deleted collection to the next rows, unless its rows go first
    # (chroma-core/chroma#7594).
    if ids := made.get(include=[])["ids"]:
        made.delete(ids)
    chroma.delete_collection(collection_name)


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
