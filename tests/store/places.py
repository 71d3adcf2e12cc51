"""The places that a collection may be in, what is found there, and what is read."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import chromadb
import numpy as np
import pytest
from store.kit import SmallEmbedding, ids

from recall_retrievers.core.stage import Search
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


SMALL = SmallEmbedding(8)


def fill(collection: Any, names: Sequence[str]) -> None:
    """Rows of somebody else's, with made vectors; each is found by its name."""
    for start in range(0, len(names), 5000):
        part = list(names[start : start + 5000])
        collection.add(
            ids=part,
            documents=[f"tea {name}" for name in part],
            embeddings=np.array([SMALL.embed_query(name) for name in part], dtype=np.float32),
        )


def by_words(store: RecallStore, text: str, limit: int = 5, **search: Any) -> list[str]:
    return ids(store.find([Search(text, limit, method="keyword", **search)])[0])


def by_meaning(store: RecallStore, text: str, limit: int = 5, **search: Any) -> list[str]:
    return ids(store.find([Search(text, limit, **search)])[0])


def raw(store: RecallStore, port: int) -> Any:
    client = chromadb.HttpClient(host="127.0.0.1", port=port)
    return client.get_collection(store.name, embedding_function=None)


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, see: Callable[[dict[str, Any], Any], None]) -> Any:
    """Everything that is read from a collection is seen as well."""
    with monkeypatch.context() as patched:
        for method in (chromadb.Collection.get, chromadb.Collection.query):

            def seen(self: Any, *, method: Any = method, **asked: Any) -> Any:
                page = method(self, **asked)
                see(asked, page)
                return page

            patched.setattr(chromadb.Collection, method.__name__, seen)
        yield


@contextmanager
def held(
    monkeypatch: pytest.MonkeyPatch, include: list[str]
) -> Iterator[tuple[Callable[[], object], Event]]:
    """The first page of this kind is read and held back: wait for its reading, then let it go."""
    read, go_on = Event(), Event()

    def hold(asked: dict[str, Any], _: object) -> None:
        if asked.get("include") == include and not read.is_set():
            read.set()
            assert go_on.wait(60)

    with watched(monkeypatch, hold):
        try:
            yield lambda: read.wait(30), go_on
        finally:
            go_on.set()
