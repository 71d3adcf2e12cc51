"""The state of index files when a path is closed: unchanged files are not checked again."""

from __future__ import annotations

import json
from pathlib import Path

from recall_stages.store.disk.index_layout import FILES

FOLDER = ".recall"
"""The folder inside a Chroma path that is ours."""

_NOTE = "closed.json"

State = dict[str, list[int]]
"""The size and the time of the last change of each file, in bytes and nanoseconds."""


def index_root(path: Path) -> Path:
    """The folder that has a folder for the row index of each collection in a path."""
    return path / FOLDER


def note_closing(path: Path) -> None:
    """Write down the state of the index files in a path, for `is_as_closed`.

    Call it after the last client of the path has been closed: then nobody writes to them.
    """
    states = {folder.name: state(folder) for folder in index_folders(path)}
    note = path / FOLDER / _NOTE
    note.parent.mkdir(exist_ok=True)
    partial = note.with_suffix(".new")
    partial.write_text(json.dumps(states), encoding="utf-8")
    partial.replace(note)


def is_as_closed(folder: Path) -> bool:
    """Whether the files of an index are unchanged since the path was closed."""
    try:
        noted = json.loads((folder.parent / FOLDER / _NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # never closed, or the note itself was cut off
        return False
    return isinstance(noted, dict) and noted.get(folder.name) == state(folder)


def state(folder: Path) -> State:
    """The size and the last change of each file of an index; missing files are left out."""
    known: State = {}
    for name in FILES:
        try:
            stat = (folder / name).stat()
        except OSError:
            continue
        known[name] = [stat.st_size, stat.st_mtime_ns]
    return known


def index_folders(path: Path) -> list[Path]:
    """The folders in a Chroma path that hold, or held, an index."""
    return [each for each in path.iterdir() if (each / FILES[0]).exists()]
