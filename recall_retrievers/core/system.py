"""Where operating systems differ: private files, locks, mapped files, what is on the disk, signals.

Windows neither deletes nor replaces a file that is mapped or locked, has no bits for other users,
and ends a process without a signal.
"""

import asyncio
import mmap
import os
import signal
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from filelock import FileLock, Timeout

LOCKED = Timeout  # what `file_lock(...).acquire()` raises while another process has the lock


def make_private(folder: Path) -> None:
    """Make a folder, and what is missing above it, for this user alone; others keep their mode."""
    for part in (*reversed(folder.parents), folder):
        part.mkdir(mode=0o700, exist_ok=True)


def open_private(file: Path) -> int:
    """Open a file to read and write its bytes. A new one is for this user alone."""
    return os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)


def new_private(file: Path) -> TextIO:
    """Begin a file of text for this user alone, in the place of one that is there."""
    file.unlink(missing_ok=True)
    opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(opened, "w", encoding="utf-8", newline="\n")


def others_can_read(file: Path) -> bool:
    """Whether other users of this machine can read a file, where its mode says so."""
    return os.name == "posix" and bool(file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def write_to_disk(path: Path) -> None:
    """See that the bytes of a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():  # there a folder cannot be opened
        return
    opened = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def read_at(file: int, size: int, at: int) -> bytes:
    """Bytes of an open file; a bad sector is an `OSError`, where a mapped file means a signal."""
    if hasattr(os, "pread"):
        return os.pread(file, size, at)
    os.lseek(file, at, os.SEEK_SET)  # Windows
    return os.read(file, size)


def mapped(file: int, size: int) -> mmap.mmap:
    """The first bytes of an open file; drop what refers to them before the file is deleted."""
    return mmap.mmap(file, size, access=mmap.ACCESS_READ)


def file_lock(file: Path) -> FileLock:
    """A lock between processes, which ends with its process; any thread may release it."""
    return FileLock(file, timeout=0, mode=0o600, thread_local=False)


def on_signals(do: Callable[[], object], *signals: signal.Signals) -> None:
    """Do something in the running event loop when one of these signals comes."""
    with suppress(NotImplementedError):  # on Windows none comes
        for one in signals:
            asyncio.get_running_loop().add_signal_handler(one, do)
