"""Chroma's SQLite file, read beside Chroma's engine without touching its locks.

Chroma has a copy of SQLite of its own. POSIX drops all locks of a process on a file as soon as the
process closes any descriptor of it (sqlite.org, "How To Corrupt", 2.2.1). So this copy takes no
lock, and what is open here stays open while an engine of this process has the file open.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from io import FileIO
from os import getpid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_retrievers.core.errors import StoreDamagedError, StoreUnavailableError

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

DATABASE = "chroma.sqlite3"
CURE = (
    f"Chroma keeps all texts in the file {DATABASE}: put it back from a backup, or try the command "
    "`.recover` of SQLite on a copy of it. `recall check` on its folder says what is damaged"
)
"""What to do about a damaged database."""

_MAGIC = b"SQLite format 3\x00"
_JOURNAL = 18  # where SQLite's header has how changes are written; 1 = with a rollback journal
_COUNTER = 24  # and the change counter
_TRIES = 200
_PAUSE = 0.005  # seconds: a commit takes a few milliseconds

_Key = tuple[int, int, int]  # process, device and inode
_Reader = tuple[FileIO, sqlite3.Connection]

_open: dict[_Key, Database] = {}
_opening = threading.Lock()


class UnknownLayoutError(Exception):
    """Chroma keeps a collection in a way that was never tested; the message says how it differs."""


class Database:
    """The open file; all users in this process share it, so close what `open_database` returns.

    Each thread reads with a connection of its own, so nobody waits. Nothing is read while a
    transaction is being written: its journal is there, or the counter changes. If somebody writes
    for a second without a pause, what was read last counts.
    """

    def __init__(self, file: Path) -> None:
        self._path = file
        self._journal = file.with_name(f"{DATABASE}-journal")
        self._idle = [self._opened()]
        self.users = 0

    def head(self, length: int) -> bytes:
        """The first bytes of the file."""
        with self._reader() as (file, _):
            file.seek(0)
            return file.read(length)

    def counter(self) -> int:
        """A number that changes with every transaction on the file."""
        return int.from_bytes(self.head(_COUNTER + 4)[_COUNTER:], "big")

    def rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        """The rows of a query.

        Raises:
            UnknownLayoutError: When a table is missing, or the file has no rollback journal.
            StoreDamagedError: When SQLite finds the file damaged.
            StoreUnavailableError: When it cannot be read at this moment.
        """
        if self.head(_JOURNAL + 1)[_JOURNAL:] != b"\x01":
            raise UnknownLayoutError(f"{self._path} has no rollback journal")
        found: list[tuple[Any, ...]] | None = None
        error: sqlite3.Error | None = None
        for _ in range(_TRIES):
            before = self.counter()
            try:
                with self._reader() as (_, connection):
                    found = connection.execute(query, values).fetchall()
            except sqlite3.OperationalError as raised:
                if str(raised).startswith("no such"):
                    raise UnknownLayoutError(f"{self._path}: {raised}") from raised
                error = raised
            except sqlite3.DatabaseError as raised:
                raise StoreDamagedError(f"{self._path} is damaged: {raised}. {CURE}") from raised
            else:
                if not self._journal.exists() and self.counter() == before:
                    return found
            time.sleep(_PAUSE)
        if found is not None:  # somebody writes without a pause
            return found
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
        for each in (part for reader in self._idle for part in reader):
            each.close()

    def _opened(self) -> _Reader:
        file = FileIO(self._path)
        uri = self._path.resolve().as_uri() + "?mode=ro&nolock=1"
        return file, sqlite3.connect(uri, uri=True, check_same_thread=False)

    @contextmanager
    def _reader(self) -> Iterator[_Reader]:
        try:
            reader = self._idle.pop()
        except IndexError:  # other threads read
            reader = self._opened()
        try:
            yield reader
        finally:
            self._idle.append(reader)


def check_database(path: Path) -> None:
    """Check that a Chroma path with indexes has its database.

    Call it before Chroma opens the path: if there is no database, Chroma makes an empty one.

    Raises:
        StoreDamagedError: When the database is missing, or is something else.
    """
    try:
        with closing(open_database(path)) as database:
            # Read once: another store of this program may be making it.
            head = database.head(len(_MAGIC))
    except (FileNotFoundError, NotADirectoryError):
        head = b""
    if head != _MAGIC:
        if not head and not any(path.glob("*/header.bin")):
            return  # nothing was ever stored here
        raise StoreDamagedError(
            f"{path} held memories, but its {DATABASE} is {'no database' if head else 'empty'}. "
            f"{CURE}. To begin anew, move the folder away"
        )


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
    return getpid(), stat.st_dev, stat.st_ino
