"""Who else writes to a path: the times of Chroma's database say so.

Each commit changes the time of the file. Nothing of it is read: a process that closes a descriptor
of a file drops all its locks on it, Chroma's as well (sqlite.org, "How To Corrupt", 2.2.1).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DATABASE = "chroma.sqlite3"


class Watch:
    """Tells the writes of others to a path from those of this process, which are announced.

    A write of others between the first and the last moment of one of ours is taken for ours.

    Attributes:
        others: How often others were seen to have written.
        changed_at: When they were last seen, or this process wrote beside them; on the clock of
            `time.monotonic`.
    """

    def __init__(self, folder: Path) -> None:
        # Besides the database: its log, if Chroma ever keeps one.
        self._files = folder / DATABASE, folder / f"{DATABASE}-wal"
        self._lock = threading.RLock()
        self._writing = 0
        self._state = self._first = self._now()
        self._noted: dict[str, int] = {}
        self.others, self.changed_at = 0, float("-inf")

    def look(self) -> int:
        """Look once, and return ``others``."""
        with self._lock:
            state = self._now()
            if state != self._state and not self._writing:
                self.others += 1
                self.changed_at = time.monotonic()
            self._state = state
            return self.others

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Let this process write."""
        with self._lock:
            self.look()
            self._writing += 1
        try:
            yield
        finally:
            with self._lock:
                self._writing -= 1
                self._state = self._now()
                if self.others:
                    self.changed_at = time.monotonic()

    def mark(self, name: str, others: int) -> str:
        """What to keep of the path for the next opening of a collection.

        Empty if others have written since ``others``, or this process writes now.
        """
        with self._lock:
            now = self.look()
            if self._writing or others != now:
                return ""
            self._noted[name] = now
            return self._state

    def is_as(self, name: str, mark: str) -> bool:
        """Whether nobody else has written since a mark of a collection was kept."""
        others = self.look()
        if name in self._noted:  # in this process, while the path stayed open
            return self._noted[name] == others
        return bool(mark) and mark == self._first and not others

    def _now(self) -> str:
        states = []
        for file in self._files:
            with suppress(OSError):  # it is not there
                stat = file.stat()
                states.append(f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns}")
        return " ".join(states)
