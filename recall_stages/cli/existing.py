"""A collection of Chroma that is there already: in a folder, or on a server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Never
from urllib.parse import urlsplit

from recall_stages.core.errors import MissingCollectionError, StoreError
from recall_stages.store import Fields, RecallStore
from recall_stages.store.chroma.client import check_chroma_is_installed
from recall_stages.store.embedding.minilm import MiniLM

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


UNKNOWN = "not known"  # the model of a collection that somebody else made
CLOUD = "cloud"  # instead of a folder or a URL
_CREDENTIALS = ("CHROMA_TENANT", "CHROMA_DATABASE", "CHROMA_API_KEY")


class NoModel:
    """Stands for the model of a collection in which nothing is embedded.

    Args:
        model_name: The name of the model that made its vectors.
    """

    def __init__(self, model_name: str = MiniLM.model_name) -> None:
        self.model_name = model_name

    def embed_documents(self, texts: list[str]) -> Never:
        """Refuse: it has no model."""
        raise StoreError(f"nothing is embedded here, and not {texts!r}")

    def embed_query(self, text: str) -> Never:
        """Refuse, as `embed_documents` does."""
        self.embed_documents([text])

    async def aembed_query(self, text: str) -> Never:
        """Refuse, as `embed_documents` does."""
        self.embed_documents([text])


@contextmanager
def open_existing(
    where: str, name: str, fields: Fields, *, searched: bool = True
) -> Iterator[RecallStore]:
    """Open a collection, and never make one.

    Args:
        where: A folder of Chroma, or the URL of a server.
        name: The collection.
        fields: Where it keeps what a memory needs.
        searched: Whether questions are asked; if not, any model may have made its vectors.

    Raises:
        StoreError: When there is no such folder, or no such collection in it.
    """
    check_chroma_is_installed()
    with ExitStack() as stack:
        source: ClientAPI | str
        if searched:
            source, model = source_of(where), None
        else:
            source = stack.enter_context(opened_client(where))
            model = NoModel(model_of(source, name) or UNKNOWN)
        try:
            store = RecallStore(source, name, fields=fields, embedding=model, create=False)
        except MissingCollectionError as error:
            raise StoreError(f"{where}: {error}: --collection NAME") from error
        yield stack.enter_context(store)


@contextmanager
def opened_client(where: str) -> Iterator[ClientAPI]:
    """A client of a folder, a server or Chroma Cloud; see `source_of`."""
    import chromadb  # noqa: PLC0415 - a second to import, so only once it is needed

    source = source_of(where)
    if isinstance(source, str):
        # In the spelling of `RecallStore`: a copy may be in the same folder.
        source = chromadb.PersistentClient(os.path.realpath(source))
    try:
        yield source
    finally:
        source.close()  # type: ignore[attr-defined]  # its interface lags behind


def model_of(client: ClientAPI, name: str) -> str:
    """The name of the model that made the vectors of a collection; empty if nobody noted it."""
    found = next((each for each in client.list_collections() if each.name == name), None)
    model = None if found is None else (found.metadata or {}).get("embedding_model")
    return model if isinstance(model, str) else ""


def source_of(where: str) -> ClientAPI | str:
    """What a `RecallStore` is opened with.

    Args:
        where: A folder of Chroma, the URL of a server, or "cloud".

    Raises:
        StoreError: When there is no such folder, or no key of Chroma Cloud.
    """
    if where == CLOUD:
        return _cloud()
    url = urlsplit(where)
    if url.scheme in {"http", "https"}:
        import chromadb  # noqa: PLC0415 - a second to import, so only once it is needed

        secure = url.scheme == "https"
        port = url.port or (443 if secure else 8000)
        return chromadb.HttpClient(host=url.hostname or "", port=port, ssl=secure)
    if not (Path(where) / "chroma.sqlite3").is_file():
        raise StoreError(f"{where} is no folder of Chroma: there is no chroma.sqlite3 in it")
    return where


def _cloud() -> ClientAPI:
    import chromadb  # noqa: PLC0415 - as above

    missing = [name for name in _CREDENTIALS if not os.environ.get(name)]
    if missing:
        raise StoreError(f"Chroma Cloud needs the environment variables {', '.join(missing)}")
    tenant, database, api_key = (os.environ[name] for name in _CREDENTIALS)
    return chromadb.CloudClient(tenant=tenant, database=database, api_key=api_key)
