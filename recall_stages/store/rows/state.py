"""The state of a row index on disk: what it holds, how far it has followed, if it is whole.

The file is replaced after everything else is on the disk. A file whose size and time are as noted
is trusted. Any other is read, and its checksum compared. What does not fit is never trusted.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.candidate import Candidate
from recall_stages.store.chroma.row_fields import Row
from recall_stages.store.rows.append_file import Mark, checksum
from recall_stages.store.rows.cache import Cache
from recall_stages.store.rows.table import FILES, TOKENS, WORDS, Table

_log = logging.getLogger(__name__)

FORMAT = 4
_STATE = "state.json"
_LOCKS = frozenset({".tantivy-meta.lock", ".tantivy-writer.lock", ".managed.json"})

_PART = 1000  # rows at once

Part = tuple[list[str], NDArray[np.float32]]
"""The ids of rows, and their vectors."""

Stamp = tuple[int, int]
"""The size of a file, and the time of its last change."""


@dataclass(frozen=True, slots=True)
class Known:
    """What a state says of a row index.

    Attributes:
        form: What its rows were read as: the collection, its model, its fields.
        position: The number of the last operation of Chroma that is in it.
        folder: The name of the folder of its files.
        dimension: The length of its vectors; 0 = not known yet.
        marks: How much of each file belongs to it.
        whole: Whether all rows are in it; else a build was ended, and can go on.
    """

    form: str
    position: int
    folder: str
    dimension: int
    marks: Mapping[str, Mark]
    whole: bool = True


def save(root: Path, known: Known) -> None:
    """Write the state of an index whose words are committed."""
    folder = root / known.folder
    before = _noted(root)
    words = {}
    for name, file in _words(folder).items():  # only what has changed is read again
        stamp, noted = _stamp(file), before.get(name)
        words[name] = noted if noted and noted[:2] == stamp else (*stamp, _whole(file))
    state = {
        "format": FORMAT,
        "form": known.form,
        "position": known.position,
        "folder": known.folder,
        "dimension": known.dimension,
        "marks": known.marks,
        "stamps": {name: _stamp(folder / name) for name in FILES},
        "words": words,
        "whole": known.whole,
    }
    partial = root / f"{_STATE}.new"
    partial.write_text(json.dumps(state), encoding="utf-8")
    partial.replace(root / _STATE)


def load(
    root: Path,
    form: str | None,
    read: Callable[[Row], Candidate | None],
    cache: Cache | None = None,
) -> tuple[Table, Known] | None:
    """The rows of an index on disk; None where there is none, or none that can be trusted.

    Args:
        root: The folder of the index.
        form: What its rows have to be read as; None = whatever they were read as.
        read: Makes a memory of a row.
        cache: The memory that they may take. None = next to none.
    """
    try:
        state: dict[str, Any] = json.loads((root / _STATE).read_text(encoding="utf-8"))
        marks = {name: (int(size), int(crc)) for name, (size, crc) in state["marks"].items()}
        known = Known(
            str(state["form"]),
            int(state["position"]),
            Path(state["folder"]).name,
            int(state["dimension"]),
            marks,
            bool(state["whole"]),
        )
        folder = root / known.folder
        fits = state["format"] == FORMAT and form in (None, known.form)
        needed = set(FILES) - set(TOKENS)
        if not fits or not needed <= set(marks):
            return None
        stamps = {name: tuple(stamp) for name, stamp in state["stamps"].items()}
        for name in needed:
            _check(folder / name, marks[name], stamps[name])
        if not _has_tokens(folder, marks, stamps):
            marks |= dict.fromkeys(TOKENS, (0, 0))
        if not _are_whole(folder, _noted(root)):
            _log.info("the words of the rows are read again: their files are not whole")
            shutil.rmtree(folder / WORDS, ignore_errors=True)
        table = Table(read, folder, marks, known.dimension, cache)
    except FileNotFoundError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is built again
        _log.warning("the row index in %s is not whole, and is built again: %r", root, error)
        return None
    return table, known


def kept_vectors(root: Path, newer: Callable[[int], AbstractSet[str]]) -> Iterator[Part]:
    """The vectors of length 1 that an index on disk has, a thousand at a time.

    Args:
        root: The folder of the index.
        newer: The ids of the rows that were written after an operation of Chroma's.

    Yields:
        The ids of rows, and their vectors.
    """
    loaded = load(root, None, lambda _: None)
    if loaded is None:
        return
    table, known = loaded
    unknown = newer(known.position)
    living = table.living()
    places = living[~table.missing(living)]
    for start in range(0, len(places), _PART):
        part = places[start : start + _PART]
        ids = [table.row(place)[0] for place in part.tolist()]
        current = [n for n, row_id in enumerate(ids) if row_id not in unknown]
        yield [ids[n] for n in current], table.vectors(part)[current]
    table.close()


def _has_tokens(
    folder: Path, marks: Mapping[str, Mark], stamps: Mapping[str, tuple[int, ...]]
) -> bool:
    """Whether the token vectors are whole; without them rows are compared by their own vector."""
    if not set(TOKENS) <= set(marks):
        return False  # of a version that had none
    try:
        for name in TOKENS:
            _check(folder / name, marks[name], stamps[name])
    except (OSError, ValueError) as error:
        _log.warning("the token vectors in %s are not whole, and are left out: %r", folder, error)
        return False
    return True


def _check(file: Path, mark: Mark, stamp: tuple[int, ...]) -> None:
    if _stamp(file) != stamp or stamp[0] != mark[0]:
        size, value = mark
        if _stamp(file)[0] < size or checksum(file, size) != value:
            raise ValueError(f"{file.name} is not as it was written")


def _noted(root: Path) -> dict[str, tuple[int, int, int]]:
    """The size, the time and the checksum of each file of words, as they were saved last."""
    try:
        words = json.loads((root / _STATE).read_text(encoding="utf-8"))["words"]
        return {name: (int(a), int(b), int(c)) for name, (a, b, c) in words.items()}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _are_whole(folder: Path, noted: Mapping[str, tuple[int, int, int]]) -> bool:
    there = _words(folder)
    if set(there) != set(noted):
        return False
    for name, (size, changed, value) in noted.items():
        stamp = _stamp(there[name])
        if stamp != (size, changed) and (stamp[0] != size or _whole(there[name]) != value):
            return False
    return True


def _words(folder: Path) -> dict[str, Path]:
    files = (folder / WORDS).iterdir() if (folder / WORDS).is_dir() else ()
    return {each.name: each for each in files if each.name not in _LOCKS}


def _stamp(file: Path) -> Stamp:
    stat = file.stat()
    return stat.st_size, stat.st_mtime_ns


def _whole(file: Path) -> int:
    return checksum(file, file.stat().st_size)
