"""The places that a collection may be in: memory, a folder, a server."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import chromadb
import pytest
from store.kit import SmallEmbedding

from recall_retrievers.store import RecallStore


def client_in(place: str, request: pytest.FixtureRequest, folder: Path) -> chromadb.ClientAPI:
    """A client of Chroma's own."""
    if place == "memory":
        return chromadb.EphemeralClient()
    if place == "path":
        return chromadb.PersistentClient(str(folder))
    client: chromadb.ClientAPI = request.getfixturevalue("chroma_server").client()
    return client


@contextmanager
def store_in(
    place: str, request: pytest.FixtureRequest, folder: Path, name: str, embedding: SmallEmbedding
) -> Iterator[RecallStore]:
    """A store of a collection that is gone afterwards."""
    with ExitStack() as stack:
        source: Path | chromadb.ClientAPI | None = {"memory": None, "path": folder}.get(place)
        # A server of the tests may have collections of other tests.
        beside_others = None
        if place == "server":
            client = source = client_in(place, request, folder)
            beside_others = True
            stack.callback(_drop, client, name)
        yield stack.enter_context(
            RecallStore(source, name, embedding=embedding, create=beside_others)
        )


def _drop(client: chromadb.ClientAPI, name: str) -> None:
    if name in {each.name for each in client.list_collections()}:  # a test may have made none
        client.delete_collection(name)
