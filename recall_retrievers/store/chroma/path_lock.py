"""The lock on a path; all stores of this process that have the path open share it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from weakref import WeakKeyDictionary

from filelock import FileLock, Timeout

from recall_retrievers.core.errors import StoreError, StoreLockedError

LOCK = ".recall.lock"


@dataclass(frozen=True, slots=True)
class HeldPath:
    """A path that this process has locked."""

    folder: Path  # without links
    lock: FileLock  # it counts its holders: a process may lock a path several times
    stuck: Event  # see `chroma_errors`
    # For each collection that was checked: what notes its state, when nobody has the path open.
    at_close: dict[str, Callable[[], None]]

    @property
    def is_last(self) -> bool:
        """Whether no other store of this process has the path open."""
        return self.lock.lock_counter == 1

    def close(self) -> None:
        """Release the path."""
        self.lock.release()


_Shared = tuple[str, Event, dict[str, Callable[[], None]]]

# The spelling by which Chroma's engine knows a locked path, and what its holders share.
_engines: WeakKeyDictionary[FileLock, _Shared] = WeakKeyDictionary()
_holding = Lock()


def hold(folder: Path, spelling: str) -> HeldPath:
    """Lock a path, so that no other process opens it.

    Args:
        folder: The path, without links.
        spelling: The path as Chroma's engine gets it; it keeps one index for each spelling, and
            the last to save wins.

    Raises:
        StoreLockedError: When another process has it open.
        StoreError: When this process has it open under another spelling, or it cannot be locked.
    """
    lock = FileLock(folder / LOCK, timeout=0, thread_local=False, is_singleton=True)
    with _holding:  # held for a moment only
        new = spelling, Event(), dict[str, Callable[[], None]]()
        known, stuck, at_close = _engines.get(lock, ("", *new[1:])) if lock.is_locked else new
        if known != spelling:
            raise StoreError(
                f"this program has {folder} open as {known!r} already; Chroma loses vectors where "
                f"one path is open as {spelling!r} too. Make the client of {known!r}, or hand in "
                "the one that is open"
            )
        try:
            lock.acquire()
        except Timeout as error:
            raise locked(folder) from error
        except (OSError, NotImplementedError) as error:
            raise StoreError(
                f"{folder} cannot be written: {error}. Chroma writes to every path that it opens: "
                "copy the folder, and open the copy"
            ) from error
        _engines[lock] = (spelling, stuck, at_close)
    return HeldPath(folder, lock, stuck, at_close)


def locked(folder: Path) -> StoreLockedError:
    """The error for a path that another process has open."""
    return StoreLockedError(
        f"{folder} is open in another process ({os.getpid()} is this one), and two processes on "
        f"one Chroma path lose vectors. Close the other one, or serve the path to both: run "
        f"`chroma run --path {folder} --port 8000`, and open "
        "RecallStore(chromadb.HttpClient(port=8000))"
    )
