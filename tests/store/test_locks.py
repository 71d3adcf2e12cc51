"""Nothing that a store does drops a lock that Chroma holds on its database, nor takes one."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import chromadb
import pytest
from store.kit import SmallEmbedding

from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.database import (
    DATABASE,
    Tables,
    check_database,
    close_unused,
    open_database,
)
from recall_retrievers.store.chroma.place import Place, hold
from recall_retrievers.store.doctor import examine

if sys.platform != "win32":
    import fcntl

LOCKS = Path("/proc/locks")
pytestmark = pytest.mark.skipif(not LOCKS.exists(), reason="the system has no list of locks")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with RecallStore(tmp_path, embedding=SmallEmbedding()) as store:
        store.add([f"tea number{x}" for x in range(30)])
    return tmp_path


@pytest.fixture
def client(path: Path) -> Iterator[chromadb.ClientAPI]:
    """The caller's own: it is idle, and its engine keeps the database open."""
    with chromadb.PersistentClient(str(path)) as opened:
        yield opened


def locked(path: Path) -> bool:
    """Whether a process has a lock on the database."""
    inode = f":{(path / DATABASE).stat().st_ino} "
    return any(inode in each for each in LOCKS.read_text(encoding="utf-8").splitlines())


def test_nothing_that_is_read_beside_an_engine_drops_a_lock(
    path: Path, client: chromadb.ClientAPI
) -> None:
    """The lock is the test's own: this process loses it as it would one of Chroma's."""
    raw = client.get_collection("memories", embedding_function=None)
    with (path / DATABASE).open("rb") as file:

        def tables() -> None:
            opened = Tables(path, str(raw.id))
            assert (opened.position(), opened.count()) == (30, 30)
            opened.close()

        for step in (
            lambda: check_database(path),
            lambda: examine(hold(path, str(path)), raw),
            tables,
            lambda: Place.of_client(client).close(),
            close_unused,
        ):
            assert not locked(path)
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            step()
            assert locked(path)
            fcntl.lockf(file, fcntl.LOCK_UN)


def test_nobody_waits_for_a_reader_that_waits_for_a_write(path: Path) -> None:
    journal = path / f"{DATABASE}-journal"
    journal.touch()  # a transaction that is being written
    with closing(open_database(path)) as database, ThreadPoolExecutor() as threads:
        waiting = threads.submit(database.rows, "SELECT count(*) FROM embeddings")
        time.sleep(0.1)
        assert database.counter() > 0
        assert not waiting.done()
        journal.unlink()
        assert waiting.result(60) == [(30,)]
