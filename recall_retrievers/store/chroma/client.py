"""Clients of Chroma: new ones for a path or for memory, and where a client keeps its data."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeVar

from recall_retrievers.core.concurrent import call_all
from recall_retrievers.core.errors import StoreError, StoreUnavailableError
from recall_retrievers.store.chroma.errors import chroma_errors

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

registering = Lock()
"""Held while a client is made or closed: Chroma's list of a process's clients knows no threads."""

SERVER_TIMEOUT_S = 60.0
"""Seconds to wait for an answer of a server, where nothing else was set."""

_Source = TypeVar("_Source")  # what a store is opened with

_engine_process: dict[str, int] = {}  # the first process to run Chroma's engine: forks inherit it


def check_chroma_is_installed() -> None:
    """Check that Chroma is installed.

    Raises:
        StoreError: When neither chromadb nor chromadb-client is installed.
    """
    if find_spec("chromadb") is None:
        raise StoreError(
            "Chroma is not installed. For memories on this machine: pip install "
            "'recall-retrievers[chroma,embedding]'. For memories on a server: pip install "
            "'recall-retrievers[client]'"
        )


def path_client(folder: Path, stuck: Event) -> ClientAPI:
    """A client of a path.

    Raises:
        StoreDamagedError: When the database of the path is damaged.
        StoreError: When Chroma cannot open it in this process.
    """
    import chromadb  # noqa: PLC0415

    return _embedded(lambda: chromadb.PersistentClient(str(folder)), str(folder), stuck)


def memory_client() -> ClientAPI:
    """A client of the one in-memory system that a process has."""
    import chromadb  # noqa: PLC0415

    return _embedded(chromadb.EphemeralClient, "memory", Event())


def server_client(where: str, make: Callable[..., ClientAPI], **settings: Any) -> ClientAPI:
    """A client of a server, which Chroma asks for its version when it makes one.

    Raises:
        StoreUnavailableError: When the server does not answer in time.
    """
    [client] = call_all(lambda _: make(**settings), [None], SERVER_TIMEOUT_S)
    if isinstance(client, TimeoutError):
        raise StoreUnavailableError(f"{where}: {client}. See that it runs and can be reached")
    if isinstance(client, Exception):
        raise client
    return client


def time_limited(source: _Source, timeout_s: float | None) -> _Source:
    """A copy of a client or a collection whose calls end when a server does not answer in time.

    Those of Chroma's own wait for ever. The caller's object stays as it is; both use the same
    connections. What reaches no server by HTTP is returned as it is.
    """
    name = "_server" if hasattr(source, "_server") else "_client"
    api: Any = getattr(source, name, None)
    if host_of(api) and hasattr(api, "_session"):
        source, api = copy(source), copy(api)
        api._session = copy(api._session)  # noqa: SLF001 - Chroma has no setting for it
        api._session.timeout = timeout_s  # noqa: SLF001
        setattr(source, name, api)
    return source


def host_of(client: object) -> str:
    """The server of a client; empty where Chroma's engine runs in this process."""
    return str(getattr(_settings(client), "chroma_server_host", None) or "")


def path_of(client: object) -> str:
    """The folder of a client, as its user wrote it; empty where it writes to none."""
    settings = _settings(client)
    path = str(getattr(settings, "persist_directory", ""))
    writes = getattr(settings, "is_persistent", False) and not host_of(client)
    # A relative path means another folder, where the program has changed its own since.
    return path if writes and (Path(path) / "chroma.sqlite3").is_file() else ""


def _settings(client: object) -> object:
    settings = getattr(client, "get_settings", None)
    return settings() if callable(settings) else None


def _embedded(make: Callable[[], ClientAPI], where: str, stuck: Event) -> ClientAPI:
    """A client of the engine inside this process; an error in a fork."""
    process = _engine_process.setdefault("id", os.getpid())
    if process != os.getpid():
        raise StoreError(
            f"Chroma was opened in process {process}, and hangs in a fork of it; start this "
            f"process ({os.getpid()}) with spawn, or open the stores of both over `chroma run`"
        )
    with registering, chroma_errors(f"open {where}", stuck):
        return make()
