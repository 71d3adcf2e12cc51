"""The SQLite file of the rows: its tables, its connections, and what is noted at its end.

The file is made of what Chroma has, so it may be made anew at any time. It is in WAL mode: one
connection writes, and others read meanwhile what was committed before. A commit outlives the
process that made it.
"""

import json
import logging
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

from pydantic import BaseModel

from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.system import make_private, open_private, write_to_disk

_log = logging.getLogger(__name__)

FORMAT = 8  # a file of another form is made anew
FILE = "rows.sqlite"
NOTE = "closed.json"  # what is noted of the files of a row index, beside them
LARGE = 16_000_000  # bytes of a file that is not compared before the first answer
# What is raised by files that hold other bytes than were written.
DAMAGED = (OSError, sqlite3.Error, ValueError, LookupError)
_LONGEST_S = 10.0  # seconds that a search may read
_PART = 1 << 20  # bytes that are read at once

_TABLES = """
-- What is known of all rows together.
CREATE TABLE fact(name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- A row of the collection, as Chroma returned it.
CREATE TABLE row(
    slot INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    written INTEGER,        -- when it was written last, in epoch milliseconds
    answers TEXT,           -- the id of the turn that it answers
    memory_type TEXT NOT NULL,
    author TEXT NOT NULL,
    document TEXT,
    metadata TEXT           -- as JSON
);
CREATE INDEX row_answers ON row(answers) WHERE answers IS NOT NULL;

-- Its owner and its times; see `columns`. Of a row that is gone, zeros.
CREATE TABLE record(slot INTEGER PRIMARY KEY, columns BLOB NOT NULL);

-- How often each word counts for it, and the rows that have a word; see `words`.
CREATE TABLE said(slot INTEGER PRIMARY KEY, words BLOB NOT NULL);
CREATE TABLE posting(key INTEGER PRIMARY KEY, rows BLOB NOT NULL);

-- The vectors of its tokens; see `vectors`.
CREATE TABLE token(slot INTEGER PRIMARY KEY, vectors BLOB NOT NULL);

-- Its metadata; see `columns`.
CREATE TABLE cell(key TEXT, value, slot INTEGER, PRIMARY KEY(key, value, slot)) WITHOUT ROWID;

INSERT INTO fact VALUES
    ('format', {format}),
    ('rows', 0), ('words', 0),  -- how many rows have words, and how many they have
    ('dimension', 0);           -- of their vectors
"""


class Database:
    """The file, or without a folder a database in memory. Several threads may use it.

    What a proper close has noted is compared; after a kill SQLite checks. A damaged file raises
    `sqlite3.DatabaseError`, one that cannot be made an `OSError`.
    """

    def __init__(self, folder: Path | None) -> None:
        self._file = folder and folder / FILE
        self.writing = threading.RLock()  # whoever has it lets no other change begin
        self._pool = threading.Condition()
        self._reading = 0
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        # Whether a proper close has noted its bytes, and nothing has changed since.
        self.noted = folder is not None and (folder / NOTE).exists()
        if self._file is not None:
            os.close(open_private(self._file))
            if self.noted and is_torn(self._file.parent, large=False):
                raise sqlite3.DatabaseError("it has other bytes than when it was closed")
        self._writer = self._opened()
        try:
            if not self._writer.execute("SELECT 1 FROM sqlite_master").fetchone():
                self._writer.executescript(f"BEGIN; {_TABLES.format(format=FORMAT)} COMMIT;")
            elif not self.noted:  # as after a kill
                [[state]] = self._writer.execute("PRAGMA quick_check(1)")
                if state != "ok":
                    raise sqlite3.DatabaseError(state)  # noqa: TRY301 - it is closed below
        except BaseException:
            self._writer.close()
            raise

    def _opened(self) -> sqlite3.Connection:
        name = self._file or ":memory:"
        connection = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A commit waits for no disk: what a power cut takes is read from Chroma again.
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that reads one state of the rows, until it is given back."""
        if self._file is None:
            with self.writing:
                self._check_open()
                yield self._writer
            return
        with self._pool:
            self._check_open()
            connection = self._idle.pop() if self._idle else None
            self._reading += 1
        try:
            connection = connection or self._opened()
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM fact").fetchone()  # from now on it sees this state
            yield connection
            connection.execute("ROLLBACK")
            self._idle.append(connection)
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        finally:
            with self._pool:
                self._reading -= 1
                self._pool.notify_all()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """The connection that writes, for changes that are committed together or not at all."""
        with self.writing:
            self._check_open()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                if self.noted and self._file is not None:
                    self._file.with_name(NOTE).unlink(missing_ok=True)
                    self.noted = False
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._writer.execute("ROLLBACK")
                raise

    def facts(self) -> dict[str, Any]:
        with self.reading() as connection:
            facts = dict(connection.execute("SELECT name, value FROM fact").fetchall())
        if self.noted and self._file is not None:
            facts["mark"] = _noted(self._file.with_name(NOTE)).mark
        return facts

    def note(self, **facts: object) -> None:
        """Store facts about all rows; other facts stay as they are."""
        with self.changing() as connection:
            connection.executemany("INSERT OR REPLACE INTO fact VALUES (?, ?)", [*facts.items()])

    def close(self) -> None:
        """Close all connections; those that read are waited for: they take milliseconds."""
        with self.writing:
            if self._closed:
                return
            with self._pool:
                self._closed = True
                self._pool.wait_for(lambda: not self._reading, _LONGEST_S)
                idle, self._idle = self._idle, []
            for each in (*idle, self._writer):
                each.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosedError("the store was closed while it was searched")


@lru_cache(maxsize=65_536)
def hashed(text: str) -> int:
    """A text as 64 bits that are the same in every process."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


IN = "IN (SELECT value FROM json_each(?))"  # however many there are, they are one argument


def listed(values: Iterable[object]) -> str:
    """The argument of `IN`."""
    return json.dumps(list(values), separators=(",", ":"))


def select_in(
    connection: sqlite3.Connection, query: str, values: Iterable[object]
) -> list[tuple[Any, ...]]:
    """What a query finds that ends in the column in which one of the values must be."""
    return connection.execute(f"{query} {IN}", (listed(values),)).fetchall()


# -- the end --------------------------------------------------------------------------------------


class _Note(BaseModel):
    files: dict[str, tuple[int, int, int]] = {}  # the size, the last change and the checksum
    mark: str = ""


def own_folder(path: Path) -> Path:
    """The folder inside a Chroma path that is ours; it need not be there."""
    return path / ".recall"


def note_files(note: Path, folder: Path, names: Iterable[str], mark: str = "") -> None:
    """Note the size, the last change and the checksum of files, for `changed_files`; and a mark.

    Nobody may write to them. Only files that have changed since the last note are read. All is on
    the disk when it returns. A disk that fails leaves no new note: then all is looked through when
    it is opened again.
    """
    noted, there = _noted(note), _Note(mark=mark)
    try:
        for name, file in ((x, folder / x) for x in names if (folder / x).is_file()):
            size, time = file.stat().st_size, file.stat().st_mtime_ns
            there.files[name] = noted.files.get(name, (0, 0, 0))
            if there.files[name][:2] != (size, time):
                write_to_disk(file)
                there.files[name] = size, time, _checksum(file)
        if there != noted:
            make_private(note.parent)
            partial = note.with_suffix(".new")
            partial.write_text(there.model_dump_json(), encoding="utf-8")
            write_to_disk(partial)
            partial.replace(note)
            write_to_disk(note.parent)
    except OSError as error:
        _log.warning("nothing is noted of the files in %s: %r", folder, error)


def changed_files(
    note: Path, folder: Path, names: Iterable[str], *, large: bool | None = None
) -> dict[str, bool]:
    """The files, of these and of those that were noted, that have other bytes than were noted.

    Of each: whether its size or its time say so too. With ``large`` the large files alone are
    compared, or the small ones.
    """
    noted = _noted(note).files
    changed = {name: True for name in names if name not in noted}
    for name, (size, time, checksum) in noted.items():
        file = folder / name
        if large in (None, size > LARGE):
            there = file.stat() if file.is_file() else None
            # A damaged file can look terabytes large: one of another size is not read.
            if there is None or there.st_size != size:
                changed[name] = True
            elif _checksum(file) != checksum:
                changed[name] = there.st_mtime_ns != time
    return changed


def is_torn(folder: Path, *, large: bool) -> bool:
    """Whether the database has other bytes than were noted; if it is large, or if it is small."""
    return bool(changed_files(folder / NOTE, folder, [FILE], large=large))


def _noted(note: Path) -> _Note:
    try:
        return _Note.model_validate_json(note.read_bytes())
    except (OSError, ValueError):  # never closed, or the note itself was damaged
        return _Note()


def _checksum(file: Path) -> int:
    # It is read, not mapped: a bad sector is an `OSError`, and no signal.
    value = 0
    with file.open("rb") as opened:
        while part := opened.read(_PART):
            value = crc32(part, value)
    return value
