"""A private copy of a Chroma path, to read where nothing may be written.

Chroma's engine writes to a path when it opens it, and may save its index when it reads. So with
``read_only=True`` the path is copied, and the copy is opened.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from uuid import UUID
from weakref import finalize

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.chroma.path_lock import locked, unlocked
from recall_retrievers.store.disk.closing import index_root

# Bytes. A million memories of a sentence take 2.5 GB; a damaged index may look like terabytes.
_MOST = 8 * 1024**3


class PathCopy:
    """A copy of a path; it is removed at the latest when the process ends.

    Args:
        folder: The path.

    Raises:
        StoreLockedError: When the path is open, or changes while it is copied.
        StoreError: When there are no memories, or the path cannot be read or copied.

    Attributes:
        path: Where the copy is.
    """

    def __init__(self, folder: Path) -> None:
        with unlocked(folder):
            files = _files(folder)
            self.path = Path(os.path.realpath(_room(folder, files)))
            self._removed = finalize(self, _remove, self.path, os.getpid())
            try:
                for file in files:
                    target = self.path / file.relative_to(folder)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)
                    _, changed = files[file]
                    os.utime(target, ns=(changed, changed))  # the row index trusts unchanged files
            except OSError as error:
                self.close()
                raise StoreError(f"{folder} cannot be copied to {self.path}: {error}") from error
            if _files(folder) != files:
                self.close()
                raise locked(folder)

    def close(self) -> None:
        """Remove the copy."""
        self._removed()


def _files(folder: Path) -> dict[Path, tuple[int, int]]:
    """The files of a path, with sizes and times: the database, its indexes, our row indexes."""
    try:
        indexes = [each for each in folder.glob("*-*/") if _is_index(each)]
        rows = [each for each in index_root(folder).glob("*-*/**/*") if each.is_file()]
        chroma = [*folder.glob("chroma.sqlite3*"), *(x for each in indexes for x in each.iterdir())]
        files = [*chroma, *rows]
        stats = {file: file.stat() for file in sorted(files)}
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error}") from error
    if folder / "chroma.sqlite3" not in stats:
        raise StoreError(
            f"there are no memories in {folder}: read_only=True makes nothing. Check the path, or "
            "leave read_only out"
        )
    return {file: (each.st_size, each.st_mtime_ns) for file, each in stats.items()}


def _is_index(folder: Path) -> bool:
    try:
        return bool(UUID(folder.name)) and folder.is_dir()
    except ValueError:
        return False


def _room(folder: Path, files: dict[Path, tuple[int, int]]) -> str:
    """A folder for the copy, where there is room for it."""
    size = sum(size for size, _ in files.values())
    try:
        place = tempfile.mkdtemp(prefix="recall-")
        free = shutil.disk_usage(place).free
    except OSError as error:
        raise StoreError(
            f"{folder} is read from a copy, and there is no place for one: {error}. Name a folder "
            "that can be written in TMPDIR"
        ) from error
    if size <= min(free, _MOST):
        return place
    Path(place).rmdir()
    used = sum(getattr(file.stat(), "st_blocks", 0) for file in files) * 512  # not on Windows
    raise StoreError(
        f"{folder} is read from a copy, and is too large for one: {size:,} bytes (on the disk "
        f"{used:,}; far fewer are a sign of damage), at most {_MOST:,}, and {free:,} are free in "
        f"{tempfile.gettempdir()}. Copy it yourself to a place that can be written, or serve it: "
        f"run `chroma run --path {folder} --port 8000`"
    )


def _remove(path: Path, process: int) -> None:
    if os.getpid() == process:  # a fork leaves its parent's copy alone
        shutil.rmtree(path, ignore_errors=True)
