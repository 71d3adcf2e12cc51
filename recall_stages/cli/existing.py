"""A collection of Chroma that is there already: in a folder, or on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Never
from urllib.parse import urlsplit

from recall_stages.core.errors import MissingCollectionError, StoreError
from recall_stages.store import Fields, RecallStore
from recall_stages.store.chroma.client import check_chroma_is_installed
from recall_stages.store.embedding.minilm import MiniLM

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


class _NoModel:
    """Stands for the model of a collection that is only read: its vectors may be of any other."""

    model_name = MiniLM.model_name

    def embed_documents(self, texts: list[str]) -> Never:
        raise StoreError(f"nothing is embedded here, and not {texts!r}")

    def embed_query(self, text: str) -> Never:
        self.embed_documents([text])

    async def aembed_documents(self, texts: list[str]) -> Never:
        self.embed_documents(texts)

    async def aembed_query(self, text: str) -> Never:
        self.embed_documents([text])


def open_existing(where: str, name: str, fields: Fields, *, searched: bool = True) -> RecallStore:
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
    try:
        model = None if searched else _NoModel()
        return RecallStore(_source(where), name, fields=fields, embedding=model, create=False)
    except MissingCollectionError as error:
        raise StoreError(f"{where}: {error}: --collection NAME") from error


def _source(where: str) -> ClientAPI | str:
    url = urlsplit(where)
    if url.scheme in {"http", "https"}:
        import chromadb  # noqa: PLC0415 - a second to import, so only once it is needed

        secure = url.scheme == "https"
        port = url.port or (443 if secure else 8000)
        return chromadb.HttpClient(host=url.hostname or "", port=port, ssl=secure)
    if not (Path(where) / "chroma.sqlite3").is_file():
        raise StoreError(f"{where} is no folder of Chroma: there is no chroma.sqlite3 in it")
    return where
