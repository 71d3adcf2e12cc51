"""A collection of Chroma that is there already: in a folder, or on a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recall_stages.core.errors import StoreError
from recall_stages.store import Fields, RecallStore
from recall_stages.store.chroma.client import check_chroma_is_installed

if TYPE_CHECKING:
    from chromadb.api import ClientAPI


def open_existing(where: str, name: str, fields: Fields) -> RecallStore:
    """Open a collection, and never make one.

    Args:
        where: A folder of Chroma, or the URL of a server.
        name: The collection.
        fields: Where it keeps what a memory needs.

    Raises:
        StoreError: When there is no such folder, or no such collection in it.
    """
    check_chroma_is_installed()
    import chromadb  # noqa: PLC0415 - a second to import, so only once it is needed

    url = urlsplit(where)
    if url.scheme in {"http", "https"}:
        secure = url.scheme == "https"
        port = url.port or (443 if secure else 8000)
        client = chromadb.HttpClient(host=url.hostname or "", port=port, ssl=secure)
        _check_there(client, where, name)
        return RecallStore(client, name, fields=fields)
    # Chroma would make what is not there; a question shall leave no empty database behind.
    if not (Path(where) / "chroma.sqlite3").is_file():
        raise StoreError(f"{where} is no folder of Chroma: there is no chroma.sqlite3 in it")
    client = chromadb.PersistentClient(where)
    try:
        _check_there(client, where, name)
    finally:
        client.close()  # type: ignore[attr-defined]  # its interface lags behind
    return RecallStore(where, name, fields=fields)


def _check_there(client: ClientAPI, where: str, name: str) -> None:
    names = sorted(each.name for each in client.list_collections())
    if name not in names:
        there = ", ".join(names) or "none"
        raise StoreError(
            f"there is no collection {name!r} in {where}; name one with --collection: {there}"
        )
