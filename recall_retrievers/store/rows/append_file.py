"""Bytes that are only ever appended, in a file or in memory, and read as they lie there."""

from __future__ import annotations

import mmap
import os
import zlib
from pathlib import Path
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

_FIRST = 4096  # bytes of a new buffer in memory
_PART = 1 << 18  # bytes: what is checked at once

Mark = tuple[int, int]
"""A size in bytes, and the checksum of the bytes up to there."""


class AppendFile:
    """Bytes in a file, or in memory; one thread at a time may append.

    A view stays valid while more is appended.

    Args:
        path: The file, which is cut off at the mark. None = in memory.
        mark: How much of it is there already, and its checksum.
    """

    def __init__(self, path: Path | None, mark: Mark = (0, 0)) -> None:
        self.size, self._checksum = mark
        self._buffer = np.zeros(_FIRST if path is None else 0, dtype=np.uint8)
        self._file: int | None = None
        if path is not None:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            self._closed = finalize(self, os.close, self._file)
            if os.fstat(self._file).st_size != self.size:
                os.ftruncate(self._file, self.size)  # which is a change, even to the same size
            os.lseek(self._file, self.size, os.SEEK_SET)

    @property
    def mark(self) -> Mark:
        """Its size, and its checksum."""
        return self.size, self._checksum

    def append(self, data: bytes) -> None:
        """Add bytes at the end."""
        end = self.size + len(data)
        if self._file is None:
            if end > len(self._buffer):
                grown = np.zeros(max(end, len(self._buffer) * 3 // 2), dtype=np.uint8)
                grown[: self.size] = self._buffer[: self.size]
                self._buffer = grown
            self._buffer[self.size : end] = np.frombuffer(data, dtype=np.uint8)
        else:
            left = memoryview(data)
            while left:
                left = left[os.write(self._file, left) :]
            self._checksum = zlib.crc32(data, self._checksum)
        self.size = end

    def view(self) -> NDArray[np.uint8]:
        """All of its bytes."""
        if self._file is not None and len(self._buffer) < self.size:
            mapped = mmap.mmap(self._file, self.size, access=mmap.ACCESS_READ)
            self._buffer = np.frombuffer(mapped, dtype=np.uint8)
        return self._buffer[: self.size]

    def sync(self) -> None:
        """See that what was appended is on the disk."""
        if self._file is not None:
            os.fsync(self._file)

    def close(self) -> None:
        """Let the file go; views that are in use stay valid."""
        self._buffer = np.zeros(0, dtype=np.uint8)
        self.size = 0
        if self._file is not None:
            self._closed()


def make_private(folder: Path) -> None:
    """Make a folder and the one above it for this user alone; one that exists keeps its mode."""
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)


def checksum(path: Path, size: int) -> int:
    """The checksum of the first bytes of a file."""
    value, left = 0, size
    part = memoryview(bytearray(min(size, _PART)))
    with path.open("rb") as file:
        while left and (read := file.readinto(part[:left])):
            value = zlib.crc32(part[:read], value)
            left -= read
    return value
