"""Open a path, a client or a collection, and say plainly when that cannot be done."""

from __future__ import annotations

import inspect
import logging
import os
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from recall_stages.core.errors import StoreError
from recall_stages.store.chroma.errors import chroma_errors, guarded
from recall_stages.store.chroma.path_copy import PathCopy
from recall_stages.store.chroma.path_lock import HeldPath, hold
from recall_stages.store.disk.check import check_collection, check_database, unreadable
from recall_stages.store.disk.closing import note_closing

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

MARK = "recall_format"  # in the metadata of a collection that is ours
FORMAT = 1

# What SQLite says of a file that is damaged, in the words of Chroma's error.
_DAMAGED_DATABASE = ("malformed", "not a database")

Facts = dict[str, str | int]
"""What a collection says of itself, in its metadata."""

_left_open: list[Opened] = []  # a lock that nobody refers to would be let go

_engine_process: dict[str, int] = {}  # the first process to run Chroma's engine: forks inherit it


@dataclass(frozen=True, slots=True)
class Opened:
    """A collection, and what has to be given back when it is closed.

    Attributes:
        collection: The collection itself; what fails in it is a `StoreError`.
        client: The client that we made for it; None when it is the caller's own.
        held: The path that is held, where there is one.
        copy: The copy that is read in place of a path.
        private: Whether the collection lives in memory and nobody else can know it.
        shared: Whether other processes may write to it while it is open.
        cloud: Whether it lies in Chroma Cloud, which has limits and an index of its own.
        process: The process that opened it; Chroma's engine hangs in any other.
    """

    collection: Collection
    client: ClientAPI | None = None
    held: HeldPath | None = None
    copy: PathCopy | None = None
    private: bool = False
    shared: bool = False
    cloud: bool = False
    process: int = 0

    def close(self, *, idle: bool = True) -> None:
        """Give back what was taken; the caller's own client stays open.

        A fork of the process has taken nothing: all of it belongs to the process that opened it.

        Args:
            idle: Whether no call of Chroma's is left; else the client is closed and the path is
                free when the process ends.
        """
        if os.getpid() != self.process:
            return
        if not idle:
            _log.warning("a call of Chroma's hangs: the store is closed, its path stays locked")
            _left_open.append(self)
            return
        try:
            if self.client is not None:
                with chroma_errors(f"close collection {self.collection.name!r}", Event()):
                    if self.private:
                        self.client.delete_collection(self.collection.name)
                    self.client.close()  # type: ignore[attr-defined]  # its interface lags behind
        finally:
            if self.held is not None:
                if self.client is not None and self.held.is_last:  # nobody writes any more
                    note_closing(self.held.folder)
                self.held.close()
            if self.copy is not None:
                self.copy.close()


def open_collection(source: object, name: str, facts: Facts, *, read_only: bool) -> Opened:
    """Open what the caller has; a collection that is not there yet is made, in cosine space.

    Args:
        source: A path, a client, a collection, or None for one in memory.
        name: The name of the collection.
        facts: What a new collection says of itself.
        read_only: Make and write nothing.

    Raises:
        StoreLockedError: When another process holds the path.
        StoreError: When Chroma is not installed, or cannot open it in this process.
        TypeError: When the source is nothing that can be opened.
    """
    check_chroma_is_installed()
    import chromadb  # noqa: PLC0415 - a second to import, so only once a store is opened
    from chromadb.api.models.Collection import Collection  # noqa: PLC0415

    process = os.getpid()
    new = None if read_only else facts
    if isinstance(source, Collection):
        return Opened(guarded(source, Event()), shared=True, process=process)
    if source is None:
        if read_only:
            raise TypeError("read_only=True opens what is there; name a path, or hand in a client")
        # One in-memory system serves the whole process, so a name of its own keeps it private.
        client = _embedded(chromadb.EphemeralClient, "memory", Event())
        with ExitStack() as on_failure:
            on_failure.callback(client.close)  # type: ignore[attr-defined]  # its interface lags
            private = _collection(client, f"{name}-{uuid.uuid4().hex[:12]}", new, Event())
            on_failure.pop_all()
        return Opened(private, client, private=True, process=process)
    if isinstance(source, str | Path):
        return _open_path(Path(source), name, new)
    opener = getattr(source, "get_or_create_collection", None)
    if opener is None:
        raise TypeError(
            "RecallStore opens a path, a chromadb client or a chromadb collection; got "
            f"{type(source).__name__}"
        )
    if inspect.iscoroutinefunction(opener):
        raise TypeError(
            "RecallStore takes chromadb.HttpClient, not AsyncHttpClient: its own async methods "
            "keep the event loop free"
        )
    return _open_client(source, name, new)  # type: ignore[arg-type]  # it has the client's method


def _open_client(client: ClientAPI, name: str, new: Facts | None) -> Opened:
    host, path = _host(client), _path(client)
    held = hold(Path(os.path.realpath(path)), path) if path else None
    with ExitStack() as on_failure:
        if held is not None:
            on_failure.callback(held.close)
        collection = _collection(client, name, new, held.stuck if held else Event())
        if held is not None and held.is_last:
            check_collection(held.folder, collection)
        on_failure.pop_all()
    cloud = "trychroma.com" in host
    return Opened(collection, held=held, cloud=cloud, shared=bool(host), process=os.getpid())


def _open_path(path: Path, name: str, new: Facts | None) -> Opened:
    # One spelling a path: Chroma keeps one index for each spelling, and the last to save wins.
    folder = Path(os.path.realpath(path))
    _check_folder(folder, make=new is not None)
    if new is None:
        held, copy = None, PathCopy(folder)
        place, stuck = copy.path, Event()
    else:
        held, copy = hold(folder, str(folder)), None
        place, stuck = folder, held.stuck
    with ExitStack() as on_failure:
        for each in (held, copy):
            if each is not None:
                on_failure.callback(each.close)
        client = path_client(place, stuck)
        on_failure.callback(client.close)  # type: ignore[attr-defined]  # its interface lags
        collection = _collection(client, name, new, stuck)
        if held is None or held.is_last:  # another store of this process has looked already
            check_collection(place, collection)
        on_failure.pop_all()
    return Opened(collection, client, held, copy, process=os.getpid())


def check_chroma_is_installed() -> None:
    """Say what to install where Chroma is missing.

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

    Args:
        folder: The path, without links.
        stuck: See `chroma_errors`.

    Raises:
        StoreDamagedError: When the database of the path is no database.
        StoreError: When Chroma cannot open it in this process.
    """
    import chromadb  # noqa: PLC0415

    try:
        return _embedded(lambda: chromadb.PersistentClient(str(folder)), str(folder), stuck)
    except StoreError as error:
        if not any(each in str(error) for each in _DAMAGED_DATABASE):
            raise
        raise unreadable(folder, error) from error


def _check_folder(folder: Path, *, make: bool) -> None:
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"a Chroma path is a folder; {folder} is a file")
        check_database(folder)
        if make:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be opened, or made: {error}") from error


def _embedded(make: Callable[[], ClientAPI], where: str, stuck: Event) -> ClientAPI:
    """A client of the engine inside this process, or why there can be none."""
    process = _engine_process.setdefault("id", os.getpid())
    if process != os.getpid():
        raise StoreError(
            f"Chroma was opened in process {process}, and hangs in a fork of it; start this "
            f"process ({os.getpid()}) with spawn, or open the stores of both over `chroma run`"
        )
    with chroma_errors(f"open {where}", stuck):
        return make()


def _collection(client: ClientAPI, name: str, new: Facts | None, stuck: Event) -> Collection:
    """The collection of that name; what exists already is taken as it is, never changed.

    Args:
        client: Where it is.
        name: Its name.
        new: What it says of itself where it has to be made; None = it is not made.
        stuck: See `chroma_errors`.
    """
    with chroma_errors(f"open collection {name!r}", stuck):
        if new is None:
            collection = _existing(client, name)
        else:
            collection = client.get_or_create_collection(
                name,
                metadata=new,
                # Chroma's default of 100 misses a dozen of LoCoMo's 37,750 nearest fifty, others in
                # each build, so that two equal collections answer differently; 400 missed none, for
                # a sixth more time at 10,000 rows.
                configuration={"hnsw": {"space": "cosine", "ef_search": 400}},
                embedding_function=None,  # vectors are handed in; Chroma's would be downloaded
            )
    return guarded(collection, stuck)


def _existing(client: ClientAPI, name: str) -> Collection:
    from chromadb.errors import NotFoundError  # noqa: PLC0415 - as above

    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError as error:
        there = sorted(each.name for each in client.list_collections())
        raise StoreError(
            f"there is no collection {name!r}, and read_only=True makes none; there is "
            f"{', '.join(map(repr, there)) or 'no other'}"
        ) from error


def _host(client: object) -> str:
    """The server that a client speaks to; empty where Chroma's engine is in this process."""
    return str(getattr(_settings(client), "chroma_server_host", None) or "")


def _path(client: object) -> str:
    """Where the engine of a client writes, as it was written; empty where that is nowhere."""
    settings = _settings(client)
    path = str(getattr(settings, "persist_directory", ""))
    writes = getattr(settings, "is_persistent", False) and not _host(client)
    # A relative path means another folder, where the program has changed its own since.
    return path if writes and (Path(path) / "chroma.sqlite3").is_file() else ""


def _settings(client: object) -> object:
    settings = getattr(client, "get_settings", None)
    return settings() if callable(settings) else None
