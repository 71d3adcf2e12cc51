"""Opening a collection: by a path, by a client, or as it is; and closing it."""

from __future__ import annotations

import inspect
import logging
import os
import uuid
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from recall_stages.core.errors import StoreError
from recall_stages.store.chroma.client import (
    check_chroma_is_installed,
    host_of,
    memory_client,
    path_client,
    path_of,
)
from recall_stages.store.chroma.errors import chroma_errors, guarded
from recall_stages.store.chroma.path_copy import PathCopy
from recall_stages.store.chroma.path_lock import HeldPath, hold
from recall_stages.store.disk.check import check_collection, check_database
from recall_stages.store.disk.closing import note_closing

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

MARK = "recall_format"  # in the metadata of a collection that is ours
FORMAT = 1

Facts = dict[str, str | int]
"""Facts about a collection, in its metadata."""

_left_open: list[Opened] = []  # a lock is released when nothing refers to it


@dataclass(frozen=True, slots=True)
class Opened:
    """A collection, and what has to be closed with it.

    Attributes:
        collection: The collection itself; every failure of it is a `StoreError`.
        client: The client that we made for it; None when it is the caller's own.
        held: The locked path, if there is one.
        copy: The copy that is read instead of a path.
        private: Whether the collection is in memory under a name that nobody else knows.
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
        """Close the client, the path and the copy; the caller's own client stays open.

        A fork of the process closes nothing: all belongs to the process that opened it.

        Args:
            idle: Whether no call of Chroma is running. If one is, the client and the path stay
                open until the process ends.
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
    """Open a collection; one that does not exist is made, in cosine space.

    Args:
        source: A path, a client, a collection, or None for one in memory.
        name: The name of the collection.
        facts: The metadata of a new collection.
        read_only: Make and write nothing.

    Raises:
        StoreLockedError: When another process has the path open.
        StoreError: When Chroma is not installed, or cannot open it in this process.
        TypeError: When the source is none of these.
    """
    check_chroma_is_installed()
    # A second to import, so only once a store is opened.
    from chromadb.api.models.Collection import Collection  # noqa: PLC0415

    process = os.getpid()
    new = None if read_only else facts
    if isinstance(source, Collection):
        return Opened(guarded(source, Event()), shared=True, process=process)
    if source is None:
        if read_only:
            raise TypeError("read_only=True opens what is there; name a path, or hand in a client")
        # One in-memory system serves the whole process, so a name of its own keeps it private.
        client = memory_client()
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
    host, path = host_of(client), path_of(client)
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
    # One spelling for each path: Chroma keeps one index a spelling, and the last to save wins.
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


def _check_folder(folder: Path, *, make: bool) -> None:
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"a Chroma path is a folder; {folder} is a file")
        check_database(folder)
        if make:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be opened, or made: {error}") from error


def _collection(client: ClientAPI, name: str, new: Facts | None, stuck: Event) -> Collection:
    """The collection of that name; one that exists is opened as it is, never changed.

    Args:
        client: Where it is.
        name: Its name.
        new: The metadata of a new collection; None = none is made.
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
