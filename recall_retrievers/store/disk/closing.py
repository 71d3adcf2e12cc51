"""The state of files when a path is closed: their bytes are compared when it is opened again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from zlib import crc32

import numpy as np

from recall_retrievers.store.disk.index_layout import FILES, DamagedIndexError

FOLDER = ".recall"
"""The folder inside a Chroma path that is ours."""

_NOTE = "closed.json"
_PART = 1 << 20  # bytes that are summed up together
_ROW = 1 << 13
_LARGE = 16_000_000  # bytes of a file of ours that is not compared before the first answer

State = dict[str, list[int]]
"""The size and the time of the last change of each file, in bytes and nanoseconds.

In a note the checksum comes third.
"""


def own_folder(path: Path) -> Path:
    """The folder inside a Chroma path that is ours; it is made for this user alone."""
    folder = path / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def make_private(folder: Path) -> None:
    """Make a folder and the one above it for this user alone; one that exists keeps its mode."""
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)


def index_root(path: Path) -> Path:
    """The folder that has a folder for the row index of each collection in a path."""
    return path / FOLDER


def note_closing(path: Path, whole: Iterable[str]) -> None:
    """Write down the state of the index files in a path, and their checksums, for `is_as_closed`.

    Call it after the last client of the path has been closed: then nobody writes to them. Only
    files that have changed since the last note are read. All is on the disk when it returns.

    Args:
        path: The Chroma path.
        whole: The folders of indexes that were checked. Of others, the last note stays.
    """
    states: dict[str, State] = {}
    for folder in index_folders(path):
        noted = _noted(folder)
        if folder.name not in whole:
            states[folder.name] = noted
            continue
        states[folder.name] = _summed(folder, state(folder), noted)
    _write(own_folder(path) / _NOTE, states)


def note_files(folder: Path, names: Iterable[str]) -> None:
    """Write down the state of other files of ours, for `torn_files`; nobody may write to them.

    Args:
        folder: Their folder, which has the note, too.
        names: Their names.
    """
    noted = _entries(folder / _NOTE, folder.name)
    there = _summed(folder, state(folder, names), noted)
    if there != noted:
        _write(folder / _NOTE, {folder.name: there})


def is_noted(folder: Path) -> bool:
    """Whether `note_files` has noted the files of a folder, and they have not changed since."""
    return (folder / _NOTE).exists()


def forget_note(folder: Path) -> None:
    """Take back what `note_files` has noted, before a file changes."""
    (folder / _NOTE).unlink(missing_ok=True)


def torn_files(folder: Path, *, large: bool) -> set[str]:
    """The files that have other bytes than `note_files` has noted.

    Args:
        folder: Their folder.
        large: Whether large ones are looked at, or small ones.
    """
    noted = _entries(folder / _NOTE, folder.name)
    there = state(folder, noted)
    return {
        name
        for name, (size, _, checksum) in noted.items()
        if (size > _LARGE) is large
        and (name not in there or there[name][0] != size or _checksum(folder / name) != checksum)
    } or (set() if noted else {_NOTE})


def _summed(folder: Path, there: State, noted: State) -> State:
    """The state of files with their checksums; only files that have changed are read."""
    for name, entry in there.items():
        if noted.get(name, [])[:2] == entry:
            entry.append(noted[name][2])
        else:
            _sync(folder / name)
            entry.append(_checksum(folder / name))
    return there


def _write(note: Path, states: Mapping[str, State]) -> None:
    partial = note.with_suffix(".new")
    partial.write_text(json.dumps(states), encoding="utf-8")
    _sync(partial)
    partial.replace(note)
    _sync(note.parent)


def is_as_closed(folder: Path) -> bool:
    """Whether the files of an index are unchanged since the path was closed.

    Raises:
        DamagedIndexError: When a file has other bytes, though its size and time are the same.
    """
    noted = _noted(folder)
    if not noted or {name: entry[:2] for name, entry in noted.items()} != state(folder):
        return False
    for name, (*_, checksum) in noted.items():
        if _checksum(folder / name) != checksum:
            raise DamagedIndexError(f"{name} has other bytes than when the path was closed")
    return True


def _noted(folder: Path) -> State:
    """What was noted of the files of an index; empty = nothing."""
    return _entries(folder.parent / FOLDER / _NOTE, folder.name)


def _entries(note: Path, folder: str) -> State:
    """What a note says of the files of a folder; empty = nothing."""
    try:
        notes = json.loads(note.read_text(encoding="utf-8"))
        return {name: [int(a), int(b), int(c)] for name, (a, b, c) in notes[folder].items()}
    # Never closed, by an older version, or the note itself was damaged.
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return {}


def _checksum(file: Path) -> int:
    """A checksum of a file; mostly of sums of its columns, as CRC-32 of all takes twice as long."""
    if not file.stat().st_size:  # an empty file cannot be mapped
        return 0
    data = np.memmap(file, dtype=np.uint8, mode="r")
    parts, value = data[: len(data) // _PART * _PART], 0
    for part in parts.view("<u8").reshape(-1, _PART // _ROW, _ROW // 8):
        value = crc32(part.sum(axis=0), value)
    return crc32(data[len(parts) :].tobytes(), value)


def _sync(file: Path) -> None:
    """See that a file or a folder is on the disk."""
    if os.name == "nt" and file.is_dir():  # there a folder cannot be opened
        return
    opened = os.open(file, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def state(folder: Path, names: Iterable[str] = FILES) -> State:
    """The size and the last change of each file of an index; missing files are left out."""
    known: State = {}
    for name in names:
        try:
            stat = (folder / name).stat()
        except OSError:
            continue
        known[name] = [stat.st_size, stat.st_mtime_ns]
    return known


def index_folders(path: Path) -> list[Path]:
    """The folders in a Chroma path that hold, or held, an index."""
    return [each for each in path.iterdir() if (each / FILES[0]).exists()]
