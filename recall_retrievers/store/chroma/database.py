"""Chroma's SQLite file, read beside Chroma's engine without touching its locks.

Chroma has a copy of SQLite of its own. POSIX drops all locks of a process on a file as soon as the
process closes any descriptor of it (sqlite.org, "How To Corrupt", 2.2.1). So this copy takes no
lock, and what is open here stays open while an engine of this process has the file open.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from io import FileIO
from os import getpid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recall_retrievers.core.errors import StoreDamagedError, StoreUnavailableError
from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.store.chroma.fields import Row

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
        for file, connection in self._idle:
            file.close()
            connection.close()

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
    """The database of a Chroma path; an `OSError` where there is none."""
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


_DELETE = 3  # Chroma's number for the operation; 0 = add, 1 = update, 2 = upsert
_UPDATE = 1
_DOCUMENT = "chroma:document"


class Tables:
    """One collection in the SQLite file, until it is closed.

    Attributes:
        index_folder: The name of the folder of its index.

    Raises:
        OSError: When there is no such file.
        UnknownLayoutError: When Chroma keeps the collection in other tables; later calls as well.
    """

    def __init__(self, folder: Path, collection_id: str) -> None:
        self._database = open_database(folder)
        self._collection_id = collection_id
        try:
            query = "SELECT scope, id FROM segments WHERE collection = ?"
            parts: dict[str, str] = dict(self._database.rows(query, collection_id))
            if parts.keys() != {"VECTOR", "METADATA"}:
                raise UnknownLayoutError(f"the collection has the parts {sorted(parts)}")  # noqa: TRY301 - closed below
        except BaseException:
            self.close()
            raise
        self.index_folder, self._texts = parts["VECTOR"], parts["METADATA"]

    def counter(self) -> int:
        """See `Database.counter`; it takes a microsecond."""
        return self._database.counter()

    def position(self) -> int:
        """The number of the last operation that the texts have followed."""
        return self._up_to(self._texts)

    def indexed_up_to(self) -> int:
        """The number of the last operation that the files of the index have followed."""
        return self._up_to(self.index_folder)

    def _up_to(self, part: str) -> int:
        rows = self._database.rows("SELECT seq_id FROM max_seq_id WHERE segment_id = ?", part)
        value = rows[0][0] if rows else 0
        # Versions of Chroma before 1.0 wrote bytes.
        return int.from_bytes(value, "big") if isinstance(value, bytes) else int(value or 0)

    def dimension(self) -> int | None:
        """The length of its vectors; None before the first was stored."""
        query = "SELECT dimension FROM collections WHERE id = ?"
        [[dimension]] = self._database.rows(query, self._collection_id)
        return None if dimension is None else int(dimension)

    def count(self) -> int:
        """How many rows have a text."""
        query = "SELECT count(*) FROM embeddings WHERE segment_id = ?"
        return int(self._database.rows(query, self._texts)[0][0])

    def row_ids(self) -> set[str]:
        """The ids of its rows after Chroma has followed the log."""
        query = "SELECT embedding_id FROM embeddings WHERE segment_id = ?"
        stored = {row_id for (row_id,) in self._database.rows(query, self._texts)}
        return self._followed(stored, self.position())

    def indexed(self, saved: set[str]) -> set[str]:
        """The ids of the rows in its index after Chroma has followed the log.

        ``saved`` are those in the files of the index.
        """
        return self._followed(saved, self.indexed_up_to())

    def since(self, position: int) -> dict[str, int]:
        """The rows whose texts were written after an operation, and in which, in that order."""
        return dict(
            self._database.rows(
                "SELECT embedding_id, seq_id FROM embeddings WHERE segment_id = ? "
                "AND typeof(seq_id) = 'integer' AND seq_id > ? ORDER BY seq_id",
                self._texts,
                position,
            )
        )

    def logged(self, after: int) -> list[tuple[str, int]]:
        """The row and the kind of each operation that is still in the log, the oldest first.

        Those after `position` are not done yet, as after a kill. Chroma does them when the
        collection is next read.
        """
        return self._database.rows(
            "SELECT id, operation FROM embeddings_queue "
            "WHERE seq_id > ? AND topic LIKE '%/' || ? ORDER BY seq_id",
            after,
            self._collection_id,
        )

    def rows(self, ids: Sequence[str]) -> Iterator[Row]:
        """Rows by their id; lists in metadata are left out."""
        cells = self._database.rows(
            "SELECT e.embedding_id, m.key, m.string_value, m.int_value, m.float_value, "
            "m.bool_value FROM embeddings e LEFT JOIN embedding_metadata m ON m.id = e.id "
            "WHERE e.segment_id = ? AND e.embedding_id IN (SELECT value FROM json_each(?))",
            self._texts,
            json.dumps([*ids]),
        )
        rows: dict[str, dict[str, MetadataValue]] = {row_id: {} for row_id in ids}
        for row_id, key, *values in cells:
            value = next((each for each in values if each is not None), None)
            if value is not None:
                rows[row_id][key] = bool(value) if values[3] is not None else value
        for row_id, metadata in rows.items():
            document = metadata.pop(_DOCUMENT, None)
            yield row_id, document if isinstance(document, str) else None, metadata

    def close(self) -> None:
        """Let the file go."""
        self._database.close()

    def _followed(self, ids: set[str], after: int) -> set[str]:
        """The ids after the operations of the log."""
        followed = set(ids)
        for row_id, operation in self.logged(after):
            if operation == _DELETE:
                followed.discard(row_id)
            elif operation != _UPDATE:
                followed.add(row_id)
        return followed
