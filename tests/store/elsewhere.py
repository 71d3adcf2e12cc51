"""Another process: it opens a path, or holds it open, and says how that went.

The processes come from a server that has imported Chroma once, so each starts in milliseconds.
Nothing here needs pytest.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

import chromadb
from store.kit import SmallEmbedding

from recall_retrievers.store import RecallStore

ENDS = 60.0  # seconds within which another process must have answered

# Windows has no such server: there each process starts anew.
_has_server = "forkserver" in multiprocessing.get_all_start_methods()
server = multiprocessing.get_context("forkserver" if _has_server else "spawn")
server.set_forkserver_preload(["store.killed", "chromadb.api.rust"])


@contextmanager
def doing(work: Callable[..., None], path: Path, *given: object) -> Iterator[str]:
    """What a process says that works on a path; it is killed at the end."""
    ours, theirs = server.Pipe()
    process = server.Process(target=work, args=(theirs, str(path), *given))
    process.start()
    theirs.close()
    try:
        said = "it said nothing"
        if ours.poll(ENDS):
            with suppress(EOFError):  # it crashed, and took its end of the pipe with it
                said = ours.recv()
        yield said
    finally:
        process.kill()
        process.join()


def opens_elsewhere(path: Path) -> str:
    """What another process says when it opens a path: how many memories, or which error."""
    with doing(_open, path) as said:
        return said


@contextmanager
def held_elsewhere(path: Path, *, by_a_client: bool = False) -> Iterator[None]:
    """A path that another process holds open: it has stored one more memory."""
    with doing(_hold, path, by_a_client) as said:
        assert said == "open"
        yield


def _open(answer: Connection, path: str) -> None:
    try:
        with RecallStore(path, embedding=SmallEmbedding()) as store:
            said = str(store.count())
    except Exception as error:  # noqa: BLE001 - the test says which it must be
        said = type(error).__name__
    answer.send(said)


def _hold(answer: Connection, path: str, by_a_client: bool) -> None:
    source = chromadb.PersistentClient(path) if by_a_client else path
    store = RecallStore(source, embedding=SmallEmbedding())
    store.add(["theirs"])
    answer.send("open")
    answer.poll(None)  # until it is killed
