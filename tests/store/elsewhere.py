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

ENDS = 120.0  # seconds within which another process must have answered

# Windows has no such server: there each process starts anew.
_has_server = "forkserver" in multiprocessing.get_all_start_methods()
server = multiprocessing.get_context("forkserver" if _has_server else "spawn")
server.set_forkserver_preload(["store.killed", "chromadb.api.rust"])


@contextmanager
def doing(work: Callable[..., None], *given: object) -> Iterator[str]:
    """What a process says that does some work; it is killed at the end."""
    ours, theirs = server.Pipe()
    process = server.Process(target=work, args=(theirs, *given))
    process.start()
    theirs.close()
    try:
        said = "it took too long"
        if ours.poll(ENDS):
            said = "it crashed"
            with suppress(EOFError):  # it took its end of the pipe with it
                said = ours.recv()
        yield said
    finally:
        process.kill()
        process.join()


def said_by(look: Callable[..., str], *given: object) -> str:
    """What a look says that is taken in another process; or its error."""
    with doing(_answer, look, *given) as said:
        return said


def opens_elsewhere(path: Path) -> str:
    """What another process says when it opens a path: how many memories, or which error."""
    return said_by(_count, path).partition(":")[0]


@contextmanager
def held_elsewhere(path: Path, *, by_a_client: bool = False) -> Iterator[None]:
    """A path that another process holds open: it has stored one more memory."""
    with doing(_hold, str(path), by_a_client) as said:
        assert said == "open"
        yield


def _answer(answer: Connection, look: Callable[..., str], *given: object) -> None:
    try:
        answer.send(look(*given))
    except Exception as error:  # noqa: BLE001 - the test says which it must be
        answer.send(f"{type(error).__name__}: {error}")


def _count(path: Path) -> str:
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        return str(store.count())


def _hold(answer: Connection, path: str, by_a_client: bool) -> None:
    source = chromadb.PersistentClient(path) if by_a_client else path
    store = RecallStore(source, embedding=SmallEmbedding())
    store.add(["theirs"])
    answer.send("open")
    answer.poll(None)  # until it is killed
