"""Where collections are: a path with its lock, or a client; found, made and closed there.

To open makes no collection, no database and no folder: the first memory does.
"""

from __future__ import annotations

import inspect
import logging
import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from filelock import FileLock

from recall_retrievers.core.concurrent import call_all
from recall_retrievers.core.errors import (
    MissingCollectionError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from recall_retrievers.core.system import LOCKED, file_lock, make_private
from recall_retrievers.store.chroma.errors import CURE, chroma_errors, guarded
from recall_retrievers.store.chroma.watch import DATABASE, Watch

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection as ChromaCollection

_log = logging.getLogger(__name__)

MARK = "recall_format"  # in the metadata of a collection that is ours
FORMAT = 1

SERVER_TIMEOUT_S = 60.0

# How many candidates Chroma's graph looks at. Its default of 100 misses a dozen of LoCoMo's 37,750
# nearest fifty, others in each build; 400 missed none, for a sixth more time at 10,000 rows.
_EF_SEARCH = 400

_LOCK = ".recall.lock"
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")
_MOST_NAMES = 20  # that an error lists

_Source = TypeVar("_Source")  # what a store is opened with

_registering = Lock()  # Chroma's list of a process's clients knows no threads
_engine_process: dict[str, int] = {}  # the first process to run Chroma's engine: forks inherit it
_left_open: list[Place] = []  # a lock is released when nothing refers to it


# -- the lock on a path ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class HeldPath:
    """A path that this process has locked; all its stores that have the path open share it."""

    folder: Path  # without links
    # As Chroma's engine gets the path: it keeps one index for each spelling, the last to save wins.
    spelling: str
    lock: FileLock  # it counts its holders: a process may lock a path several times
    watch: Watch  # who else writes to it
    stuck: Event = field(default_factory=Event)  # see `chroma_errors`
    damaged: dict[str, str] = field(default_factory=dict)  # the faults of its collections by id
    at_close: list[Callable[[], None]] = field(default_factory=list)  # once they were checked

    @property
    def is_last(self) -> bool:
        """Whether no other store of this process has the path open."""
        return self.lock.lock_counter == 1

    def close(self) -> None:
        self.lock.release()


_paths: WeakValueDictionary[Path, HeldPath] = WeakValueDictionary()
_holding = Lock()


def hold(folder: Path, spelling: str) -> HeldPath:
    """Lock a path, so that no other process opens it; see `HeldPath` for its spelling."""
    with _holding:  # held for a moment only
        held = _paths.get(folder)
        if held is None or not held.lock.is_locked:
            held = HeldPath(folder, spelling, file_lock(folder / _LOCK), Watch(folder))
        if held.spelling != spelling:
            raise StoreError(
                f"this program has {folder} open as {held.spelling!r} already; Chroma loses "
                f"vectors where one path is open as {spelling!r} too. Make the client of "
                f"{held.spelling!r}, or hand in the one that is open"
            )
        try:
            held.lock.acquire()
        except LOCKED as error:
            raise StoreLockedError(
                f"{folder} is open in another process ({os.getpid()} is this one), and two "
                "processes on one Chroma path lose vectors. Close the other one, or serve the path "
                f"to both: run `chroma run --path {folder} --port 8000`, and open "
                "RecallStore(chromadb.HttpClient(port=8000))"
            ) from error
        except (OSError, NotImplementedError) as error:
            raise StoreError(
                f"{folder} cannot be written: {error}. Chroma writes to every path that it opens: "
                "copy the folder, and open the copy"
            ) from error
        _paths[folder] = held
    return held


# -- a place --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    client: ClientAPI
    own: bool  # whether we made the client; the caller's own stays open
    held: HeldPath | None = None  # the locked path; None = it is on a server or in memory
    stuck: Event = field(default_factory=Event)  # see `chroma_errors`

    @classmethod
    def of_client(cls, client: object) -> Place:
        """The place of a client of the caller; the path of a persistent one is locked."""
        opener = getattr(client, "get_or_create_collection", None)
        if opener is None:
            raise TypeError(
                "RecallStore opens a path, a chromadb client or a chromadb collection; got "
                f"{type(client).__name__}"
            )
        if inspect.iscoroutinefunction(opener):
            raise TypeError(
                "RecallStore takes chromadb.HttpClient, not AsyncHttpClient: its own async methods "
                "keep the event loop free"
            )
        path = _path_of(client)
        if not path:
            return cls(client, own=False)  # type: ignore[arg-type]  # it has the client's method
        held = hold(Path(os.path.realpath(path)), path)
        return cls(client, False, held, held.stuck)  # type: ignore[arg-type]

    @classmethod
    def of_path(cls, folder: Path) -> Place:
        try:
            make_private(folder)
        except OSError as error:
            raise StoreError(f"the folder {folder} cannot be made: {error}") from error
        held = hold(folder, str(folder))
        try:
            with held.watch.writing():  # Chroma writes when it opens a path
                return cls(path_client(folder, held.stuck), True, held, held.stuck)
        except BaseException:
            held.close()
            raise

    @classmethod
    def in_memory(cls) -> Place:
        import chromadb  # noqa: PLC0415

        return cls(_embedded(chromadb.EphemeralClient, "memory", Event()), own=True)

    @property
    def folder(self) -> Path | None:
        return None if self.held is None else self.held.folder

    def writing(self) -> AbstractContextManager[None]:
        return nullcontext() if self.held is None else self.held.watch.writing()

    @property
    def shared(self) -> bool:
        """Whether other processes may write there."""
        return bool(_host_of(self.client))

    def names(self) -> list[str]:
        with chroma_errors("list the collections", self.stuck):
            return sorted(each.name for each in self.client.list_collections())

    def find(self, name: str) -> ChromaCollection | None:
        from chromadb.errors import NotFoundError  # noqa: PLC0415 - a second to import

        with chroma_errors(f"open collection {name!r}", self.stuck), suppress(NotFoundError):
            collection = self.client.get_collection(name, embedding_function=None)
            return guarded(collection, self.stuck)
        return None

    def make(self, name: str, model: str) -> ChromaCollection:
        """The collection of that name; one that does not exist is made."""
        with self.writing(), chroma_errors(f"make collection {name!r}", self.stuck):
            collection = self.client.get_or_create_collection(
                name,
                metadata={MARK: FORMAT, "embedding_model": model},
                configuration={"hnsw": {"space": "cosine", "ef_search": _EF_SEARCH}},
                embedding_function=None,  # vectors are handed in; Chroma's would be downloaded
            )
        return guarded(collection, self.stuck)

    def close(self, *, idle: bool = True, drop: str = "") -> None:
        """Delete the collection ``drop``, if it is named; close the client and the path.

        The caller's own client stays open. While a call of Chroma hangs (not ``idle``), all does.
        """
        if not idle:
            _log.warning("a call of Chroma's hangs: the store is closed, its path stays locked")
            _left_open.append(self)
            return
        try:
            if self.own:
                with _registering, chroma_errors("close a client", Event()):
                    if drop:
                        self.client.delete_collection(drop)
                    self.client.close()  # type: ignore[attr-defined]  # its interface lags behind
        finally:
            if self.held is not None:
                if self.own and self.held.is_last and not self.held.damaged:  # nobody writes now
                    for note in self.held.at_close:
                        note()
                self.held.close()


# -- clients --------------------------------------------------------------------------------------


def check_chroma_is_installed() -> None:
    if find_spec("chromadb") is None:
        raise StoreError(
            "Chroma is not installed. For memories on this machine: pip install "
            "'recall-retrievers[chroma,embedding]'. For memories on a server: pip install "
            "'recall-retrievers[client]'"
        )


def path_client(folder: Path, stuck: Event) -> ClientAPI:
    import chromadb  # noqa: PLC0415

    return _embedded(lambda: chromadb.PersistentClient(str(folder)), str(folder), stuck)


def server_client(where: str, make: Callable[..., ClientAPI], **settings: Any) -> ClientAPI:
    """A client of a server, which Chroma asks for its version when it makes one."""
    [client] = call_all(lambda _: make(**settings), [None], SERVER_TIMEOUT_S)
    if isinstance(client, TimeoutError):
        raise StoreUnavailableError(f"{where}: {client}. See that it runs and can be reached")
    if isinstance(client, Exception):
        raise client
    return client


def time_limited(source: _Source, timeout_s: float | None) -> _Source:
    """A copy of a client or a collection whose calls end when a server does not answer in time.

    Those of Chroma's own wait for ever. What reaches no server by HTTP is returned as it is.
    """
    name = "_server" if hasattr(source, "_server") else "_client"
    api: Any = getattr(source, name, None)
    if _host_of(api) and hasattr(api, "_session"):
        source, api = copy(source), copy(api)
        api._session = copy(api._session)  # noqa: SLF001 - Chroma has no setting for it
        api._session.timeout = timeout_s  # noqa: SLF001
        setattr(source, name, api)
    return source


def _embedded(make: Callable[[], ClientAPI], where: str, stuck: Event) -> ClientAPI:
    process = _engine_process.setdefault("id", os.getpid())
    if process != os.getpid():
        raise StoreError(
            f"Chroma was opened in process {process}, and hangs in a fork of it; start this "
            f"process ({os.getpid()}) with spawn, or open the stores of both over `chroma run`"
        )
    with _registering, chroma_errors(f"open {where}", stuck):
        return make()


def _host_of(client: object) -> str:
    """The server of a client; empty where Chroma's engine runs in this process."""
    return str(getattr(_settings(client), "chroma_server_host", None) or "")


def _path_of(client: object) -> str:
    """The folder of a client, as its user wrote it; empty where it writes to none."""
    settings = _settings(client)
    path = str(getattr(settings, "persist_directory", ""))
    writes = getattr(settings, "is_persistent", False) and not _host_of(client)
    # A relative path means another folder, where the program has changed its own since.
    return path if writes and (Path(path) / DATABASE).is_file() else ""


def _settings(client: object) -> object:
    settings = getattr(client, "get_settings", None)
    return settings() if callable(settings) else None


# -- what is there, and what may be made ----------------------------------------------------------


def is_chroma_path(folder: Path) -> bool:
    """Whether a folder has a database of Chroma; one that held memories must have it."""
    file = folder / DATABASE
    try:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"a Chroma path is a folder; {folder} is a file")
        there = file.exists()
        if not (there and file.stat().st_size) and any(folder.glob("*/header.bin")):
            raise StoreDamagedError(  # Chroma would make an empty one
                f"{folder} held memories, but its {DATABASE} is {'empty' if there else 'gone'}. "
                f"{CURE}. To begin anew, move the folder away"
            )
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be opened: {error}") from error
    return there


def check_may_be_made(folder: Path | None, name: str) -> None:
    """Refuse a name or a folder that would fail at the first memory; nothing is made."""
    if not _NAME.fullmatch(name):
        raise StoreError(
            f"the name of a collection has 3 to 512 letters of a-z, A-Z, 0-9, '.', '_' and '-', "
            f"and begins and ends with a letter or a digit; got {name!r}"
        )
    if folder is not None:
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            cause = OSError(f"{there} may not be written")
            raise StoreError(f"the folder {folder} cannot be written, or made: {cause}") from cause


def missing(name: str, names: list[str], advice: str) -> MissingCollectionError:
    close = get_close_matches(name.lower(), [each.lower() for each in names], n=1, cutoff=0.7)
    meant = [f" Did you mean {each!r}?" for each in names if [each.lower()] == close]
    shown = ", ".join(map(repr, names[:_MOST_NAMES]))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    there = f"there {'is' if len(names) == 1 else 'are'} {shown or 'none at all'}{more}"
    said = f"there is no collection {name!r}; {there}.{''.join(meant[:1])} {advice}"
    return MissingCollectionError(said)
