"""Open a path, a client or a collection, and say plainly when that cannot be done."""

from __future__ import annotations

import inspect
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from recall_stages.errors import StoreError, StoreLockedError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

MARK = "recall_format"  # in the metadata of a collection that is ours
FORMAT = 1

_engine_process: dict[str, int] = {}  # the first process to run Chroma's engine: forks inherit it


@dataclass(frozen=True, slots=True)
class Opened:
    """A collection, and what has to be given back when it is closed.

    Attributes:
        collection: The collection itself.
        client: The client that we made for it; None when it is the caller's own.
        lock: The lock on the path, where there is one.
        private: Whether the collection lives in memory and nobody else can know it.
        shared: Whether other processes may write to it while it is open.
        cloud: Whether it lies in Chroma Cloud, which has limits and an index of its own.
        process: The process that opened it; Chroma's engine hangs in any other.
    """

    collection: Collection
    client: ClientAPI | None = None
    lock: FileLock | None = None
    private: bool = False
    shared: bool = False
    cloud: bool = False
    process: int = 0

    def close(self) -> None:
        """Give back what was taken; the caller's own client stays open.

        A fork of the process has taken nothing: all of it belongs to the process that opened it.
        """
        if os.getpid() != self.process:
            return
        if self.client is not None:
            if self.private:
                self.client.delete_collection(self.collection.name)
            self.client.close()  # type: ignore[attr-defined]  # its interface lags behind
        if self.lock is not None:
            self.lock.release()


def open_collection(source: object, name: str, metadata: dict[str, str | int]) -> Opened:
    """Open what the caller has; a collection that is not there yet is made, in cosine space.

    Raises:
        StoreLockedError: When another process holds the path.
        StoreError: When Chroma cannot open it in this process.
        TypeError: When the source is nothing that can be opened.
    """
    import chromadb  # noqa: PLC0415 - a second to import, so only once a store is opened
    from chromadb.api.models.Collection import Collection  # noqa: PLC0415

    process = os.getpid()
    if isinstance(source, Collection):
        return Opened(source, shared=True, process=process)
    if source is None:
        # One in-memory system serves the whole process, so a name of its own keeps it private.
        client = _embedded(chromadb.EphemeralClient, "memory")
        private = _collection(client, f"{name}-{uuid.uuid4().hex[:12]}", metadata)
        return Opened(private, client, private=True, process=process)
    if isinstance(source, str | Path):
        return _open_path(Path(source), name, metadata)
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
    collection = _collection(source, name, metadata)  # type: ignore[arg-type]  # it has the client's method
    host = _host(source)
    cloud = "trychroma.com" in host
    return Opened(collection, cloud=cloud, shared=bool(host), process=process)


def _open_path(path: Path, name: str, metadata: dict[str, str | int]) -> Opened:
    import chromadb  # noqa: PLC0415

    # One spelling a path: Chroma keeps one index for each spelling, and the last to save wins.
    folder = Path(os.path.realpath(path))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"a Chroma path is a folder; {path} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    # The singleton counts its holders, so one process may open a path many times over.
    lock = FileLock(folder / ".recall.lock", timeout=0, thread_local=False, is_singleton=True)
    try:
        lock.acquire()
    except Timeout as error:
        raise StoreLockedError(
            f"{path} is open in another process, and two processes on one Chroma path lose "
            f"vectors. Close the other one, or serve the path to both: run `chroma run --path "
            f"{path} --port 8000`, and open RecallStore(chromadb.HttpClient(port=8000))"
        ) from error
    try:
        client = _embedded(lambda: chromadb.PersistentClient(str(folder)), str(path))
        return Opened(_collection(client, name, metadata), client, lock, process=os.getpid())
    except BaseException:
        lock.release()
        raise


def _embedded(make: Callable[[], ClientAPI], where: str) -> ClientAPI:
    """A client of the engine inside this process, or why there can be none."""
    process = _engine_process.setdefault("id", os.getpid())
    if process != os.getpid():
        raise StoreError(
            f"Chroma was opened in process {process}, and hangs in a fork of it; start this "
            f"process ({os.getpid()}) with spawn, or open the stores of both over `chroma run`"
        )
    try:
        return make()
    except ValueError as error:
        if "different settings" not in str(error):
            raise
        raise StoreError(
            f"this program has a Chroma client for {where} already, with settings of its own, and "
            "there can be one only; hand that client in: RecallStore(client)"
        ) from error


def _collection(client: ClientAPI, name: str, metadata: dict[str, str | int]) -> Collection:
    """The collection of that name; what exists already is taken as it is, never changed."""
    return client.get_or_create_collection(
        name,
        metadata=metadata,
        # Chroma's default of 100 misses a dozen of LoCoMo's 37,750 nearest fifty, others in each
        # build, so that two equal collections answer differently; 400 missed none, for a sixth
        # more time at 10,000 rows.
        configuration={"hnsw": {"space": "cosine", "ef_search": 400}},
        embedding_function=None,  # vectors are handed in; Chroma's default would be downloaded
    )


def _host(client: object) -> str:
    """The server that a client speaks to; empty where Chroma's engine is in this process."""
    settings = getattr(client, "get_settings", None)
    return str(settings().chroma_server_host or "") if callable(settings) else ""
