"""Chroma's SQLite file, read beside Chroma's engine without touching its locks.

Chroma has a copy of SQLite of its own. POSIX drops all locks of a process on a file as soon as the
process closes any descriptor of it (sqlite.org, "How To Corrupt", 2.2.1). So this copy takes no
lock, and what is open here stays open while an engine of this process has the file open.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recall_retrievers.core.errors import StoreDamagedError, StoreUnavailableError
from recall_retrievers.store.disk.index_layout import UnknownLayoutError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

DATABASE = "chroma.sqlite3"

_JOURNAL = 18  # where SQLite's header has how changes are written; 1 = with a rollback journal
_COUNTER = 24  # and the change counter
_TRIES = 200
_PAUSE = 0.005  # seconds: a commit takes a few milliseconds

_Key = tuple[int, int, int]  # process, device and inode

_open: dict[_Key, Database] = {}
_opening = threading.Lock()

T = TypeVar("T")


class Database:
    """The open file; all users in this process share it, so close what `open_database` returns.

    Nothing is read while a transaction is being written: its journal is there, or the counter
    changes. If somebody writes for a second without a pause, what was read last counts.
    """

    def __init__(self, file: Path) -> None:
        self._path = file
        self._journal = file.with_name(f"{DATABASE}-journal")
        self._file = file.open("rb", buffering=0)
        self._seeking = threading.Lock()
        self._reading = threading.Lock()
        uri = file.resolve().as_uri() + "?mode=ro&nolock=1"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self.users = 0

    def head(self, length: int) -> bytes:
        """The first bytes of the file."""
        return self._bytes(0, length)

    def counter(self) -> int:
        """A number that changes with every transaction on the file."""
        return int.from_bytes(self._bytes(_COUNTER, 4), "big")

    def rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        """The rows of a query; see `read`."""
        return self.read(lambda connection: connection.execute(query, values).fetchall())

    def read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """Read while nobody writes.

        Args:
            ask: Reads; it is called again where somebody wrote meanwhile.

        Raises:
            UnknownLayoutError: When a table is missing, or the file has no rollback journal.
            StoreDamagedError: When SQLite finds the file damaged.
            StoreUnavailableError: When it cannot be read at this moment.
        """
        if self._bytes(_JOURNAL, 1) != b"\x01":
            raise UnknownLayoutError(f"{self._path} has no rollback journal")
        with self._reading:
            found: list[T] = []
            error: sqlite3.Error | None = None
            for _ in range(_TRIES):
                before = self.counter()
                try:
                    found = [ask(self._connection)]
                except sqlite3.OperationalError as raised:
                    if str(raised).startswith("no such"):
                        raise UnknownLayoutError(f"{self._path}: {raised}") from raised
                    error = raised
                except sqlite3.DatabaseError as raised:
                    raise StoreDamagedError(
                        f"{self._path} is damaged: {raised}. {CURE}"
                    ) from raised
                else:
                    if not self._journal.exists() and self.counter() == before:
                        return found[0]
                time.sleep(_PAUSE)
        if found:  # somebody writes without a pause
            return found[0]
        raise StoreUnavailableError(
            f"{self._path} cannot be read: {error}. Usually somebody is writing to it: do it again"
        ) from error

    def close(self) -> None:
        """Give it back; it is closed when no engine of this process has the file open."""
        with _opening:
            self.users -= 1
        close_unused()

    def close_now(self) -> None:
        """Close it, which drops the locks of an engine of this process."""
        self._connection.close()
        self._file.close()

    def _bytes(self, start: int, length: int) -> bytes:
        with self._seeking:
            self._file.seek(start, os.SEEK_SET)
            return self._file.read(length)


CURE = (
    f"Chroma keeps all texts in the file {DATABASE}: put it back from a backup, or try the command "
    "`.recover` of SQLite on a copy of it. `recall check` on its folder says what is damaged"
)
"""What to do about a damaged database."""


def open_database(folder: Path) -> Database:
    """The database of a Chroma path.

    Raises:
        OSError: When there is none, or it cannot be read.
    """
    file = folder / DATABASE
    with _opening:
        key = _key(file)
        if key not in _open:
            _open[key] = Database(file)
        _open[key].users += 1
        return _open[key]


def close_client(client: ClientAPI) -> None:
    """Close a client of Chroma, and then what is open here of its path."""
    client.close()  # type: ignore[attr-defined]  # its interface lags behind
    close_unused()


def close_unused() -> None:
    """Close the databases that nobody uses and no engine of this process has open."""
    with _opening:
        unused = {key for key, each in _open.items() if not each.users}
        for key in unused - _of_engines():
            _open.pop(key).close_now()


def _of_engines() -> set[_Key]:
    """The databases that engines of this process have open, whoever made their clients."""
    clients: Any = sys.modules.get("chromadb.api.shared_system_client")
    if clients is None:  # there is no engine without it
        return set()
    # Chroma has no public list of them. A version without this one: they stay open.
    paths = getattr(clients.SharedSystemClient, "_identifier_to_system", None)
    keys = set(_open) if paths is None else set()
    for path in list(paths or ()):
        with suppress(OSError, ValueError):  # in memory, or deleted
            keys.add(_key(Path(path) / DATABASE))
    return keys


def _key(file: Path) -> _Key:
    stat = file.stat()
    return os.getpid(), stat.st_dev, stat.st_ino
