"""A collection of Chroma that is there already: in a folder, or on a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Never
from urllib.parse import urlsplit

from recall_retrievers.core.errors import EmbeddingMismatchError, MissingCollectionError, StoreError
from recall_retrievers.core.scope import ScopeName
from recall_retrievers.store import Fields, RecallStore
from recall_retrievers.store.chroma.fields import OWN_FIELDS
from recall_retrievers.store.chroma.place import check_chroma_is_installed, server_client
from recall_retrievers.store.embedding.embedder import DEFAULT, MULTILINGUAL
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

UNKNOWN = "not known"  # the model of a collection that somebody else made
_CREDENTIALS = ("CHROMA_TENANT", "CHROMA_DATABASE", "CHROMA_API_KEY")


class NoModel:
    """Stands for the model of a collection in which nothing is embedded."""

    def __init__(self, model_name: str) -> None:
        self.model_name = model_name

    def embed_query(self, text: object) -> Never:
        """Refuse: it has no model."""
        raise StoreError(f"nothing is embedded here, and not {text!r}")

    embed_documents = aembed_query = embed_query


def embedding_of(model: str, name: str, *, searched: bool) -> object:
    """What a store is opened with for vectors of a model; ``name`` has them. "" = no vectors."""
    if not model:
        return None
    if model == MiniLM.model_name:
        return DEFAULT
    if not searched:
        return NoModel(model)
    if model == Multilingual.model_name:
        return MULTILINGUAL
    raise EmbeddingMismatchError(
        f"{name} has vectors of {model!r}, and questions need that model. Ask in Python: "
        "RecallStore(..., embedding=...)",
        model,
    )


def open_store(  # noqa: PLR0913 - the settings of a store, each by name
    source: ClientAPI | str | Path,
    name: str,
    *,
    fields: Fields = OWN_FIELDS,
    create: bool | None = False,
    searched: bool = True,
    require_scope: Sequence[ScopeName] = (),
    event_times: bool = True,
) -> RecallStore:
    """Open a collection with the model that it remembers.

    Where no questions are asked (``searched``), any model may have made its vectors, and the store
    embeds nothing.
    """
    opened = partial(
        RecallStore,
        source,
        name,
        fields=fields,
        create=create,
        require_scope=require_scope,
        event_times=event_times,
    )
    try:
        return opened(embedding=None if searched else NoModel(UNKNOWN))
    except EmbeddingMismatchError as error:
        if not error.made_by:
            raise
        embedding = embedding_of(error.made_by, f"collection {name!r}", searched=searched)
        return opened(embedding=embedding)


def open_existing(where: str, name: str, fields: Fields, *, searched: bool = True) -> RecallStore:
    """Open a collection that a command line names, and never make one; see `open_store`."""
    source = source_of(where)
    try:
        return open_store(source, name, fields=fields, searched=searched)
    except MissingCollectionError as error:
        raise StoreError(f"{where}: {error}: --collection NAME") from error


def source_of(where: str, *, new: bool = False) -> ClientAPI | str:
    """What a `RecallStore` is opened with for a folder (or a new one), a URL, or "cloud"."""
    check_chroma_is_installed()
    if where != "cloud" and not where.startswith(("http://", "https://")):
        may_be_made = new and "://" not in where
        if not (may_be_made or (Path(where) / "chroma.sqlite3").is_file()):
            raise StoreError(f"{where} is no folder of Chroma: there is no chroma.sqlite3 in it")
        return where
    import chromadb  # noqa: PLC0415 - a second to import, so only once it is needed

    if where == "cloud":
        if missing := [name for name in _CREDENTIALS if not os.environ.get(name)]:
            raise StoreError(f"Chroma Cloud needs the environment variables {', '.join(missing)}")
        tenant, database, api_key = (os.environ[name] for name in _CREDENTIALS)
        named = {"tenant": tenant, "database": database, "api_key": api_key}
        return server_client(where, chromadb.CloudClient, **named)
    url = urlsplit(where)
    secure, host = url.scheme == "https", url.hostname or ""
    port = url.port or (443 if secure else 8000)
    return server_client(where, chromadb.HttpClient, host=host, port=port, ssl=secure)
