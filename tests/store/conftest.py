"""Stores to test: in memory, on a path, and on a real server."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import chromadb
import pytest
from store.kit import SmallEmbedding

from recall_stages.store import RecallStore


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
        beside_others = True if request.param == "cloud" else None
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
