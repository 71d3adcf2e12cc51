"""The state of a row index on disk: what it holds, how far it has followed, if it is whole.

The state is replaced after everything else is on the disk. It notes each file: how much of it is
whole, the time of its last change, and a checksum, which is compared when the index is loaded. What
does not fit is never trusted. Only a large file whose size and time are as noted is compared later.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.store.chroma.row_fields import Row
from recall_retrievers.store.rows.append_file import Mark, checksum
from recall_retrievers.store.rows.cache import Cache
from recall_retrievers.store.rows.table import COUNTS, FILES, TOKENS, WORDS, Table

_log = logging.getLogger(__name__)

FORMAT = 7
_STATE = "state.json"
_LOCKS = frozenset({".tantivy-meta.lock", ".tantivy-writer.lock", ".managed.json"})

_PART = 1000  # rows at once
_AT_ONCE = 16_000_000  # bytes whose checksums are compared when an index is loaded

Part = tuple[list[str], NDArray[np.float32]]
"""The ids of rows, and their vectors."""

_Noted = tuple[int, int, int]  # whole bytes of a file, when it was changed last, their checksum


@dataclass(frozen=True, slots=True)
class Known:
    """What a state says of a row index.

    Attributes:
        form: What its rows were read as: the collection, its model, its fields.
        position: The number of the last operation of Chroma that is in it.
        folder: The name of the folder of its files.
        dimension: The length of its vectors; 0 = not known yet.
        whole: Whether all rows are in it; else a build was ended, and can go on.
    """

    form: str
    position: int
    folder: str
    dimension: int
    whole: bool = True


def save(root: Path, known: Known, marks: Mapping[str, Mark]) -> None:
    """Write the state of an index whose words are committed.

    Args:
        root: The folder of the index.
        known: What is known of it.
        marks: How much of each file belongs to it.
    """
    folder = root / known.folder
    files: dict[str, _Noted] = {
        name: (size, _changed(folder / name), crc) for name, (size, crc) in marks.items()
    }
    before = _noted(root)
    for name in _words(folder):  # only what has changed is read again
        file = folder / name
        noted, size, changed = before.get(name), file.stat().st_size, _changed(file)
        as_before = noted is not None and noted[:2] == (size, changed)
        crc = noted[2] if noted and as_before else checksum(file, size)
        files[name] = size, changed, crc
    state = {"format": FORMAT, "known": asdict(known), "files": files}
    partial = root / f"{_STATE}.new"
    partial.write_text(json.dumps(state), encoding="utf-8")
    partial.replace(root / _STATE)


def load(
    root: Path,
    form: str | None,
    read: Callable[[Row], Candidate | None],
    cache: Cache | None = None,
) -> tuple[Table, Known, set[str]] | None:
    """The rows of an index on disk; None where there is none, or none that can be trusted.

    The third part names the large files that were not read; see `torn_files`.

    Args:
        root: The folder of the index.
        form: What its rows have to be read as; None = whatever they were read as.
        read: Makes a memory of a row.
        cache: The memory that they may take. None = next to none.
    """
    try:
        state = _read(root)
        if state["format"] != FORMAT or form not in (None, state["known"]["form"]):
            return None
        known = Known(**state["known"])
        folder, files = root / Path(known.folder).name, _noted(root)
        unread = _large(folder, files)
        torn = torn_files(root, set(FILES) - unread)
        if files["vectors"][0] * 8 != files["slots"][0] * 4 * known.dimension:
            torn.add(_STATE)
        if torn.difference(TOKENS, COUNTS):
            _log.warning("the row index in %s is built again: %s are torn", root, sorted(torn))
            return None
        marks = {name: (files[name][0], files[name][2]) for name in FILES}
        if torn.intersection(TOKENS):  # without them rows are compared by their own vector
            _log.warning("the token vectors in %s are not whole, and are left out", folder)
            marks |= dict.fromkeys(TOKENS, (0, 0))
        words = set(_words(folder))
        as_noted = words == files.keys() - set(FILES) and not torn.intersection(COUNTS)
        if not as_noted or torn_files(root, words):
            _log.info("the words of the rows are read again: their files are not whole")
            shutil.rmtree(folder / WORDS, ignore_errors=True)
            marks |= dict.fromkeys(COUNTS, (0, 0))
        table = Table(read, folder, marks, known.dimension, cache)
    except FileNotFoundError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, it is built again
        _log.warning("the row index in %s is not whole, and is built again: %r", root, error)
        return None
    return table, known, unread


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
    table, known, unread = loaded
    if torn_files(root, unread):
        table.close()
        return
    unknown = newer(known.position)
    living = table.living()
    places = living[~table.missing(living)]
    for start in range(0, len(places), _PART):
        part = places[start : start + _PART]
        ids = [table.texts.id_at(place) for place in part.tolist()]
        current = [n for n, row_id in enumerate(ids) if row_id not in unknown]
        yield [ids[n] for n in current], table.vectors(part)[current]
    table.close()


def torn_files(root: Path, names: AbstractSet[str] | None = None) -> set[str]:
    """The files of an index on disk that have other bytes than were noted.

    Args:
        root: The folder of the index.
        names: Only these. None = all.
    """
    noted = _noted(root)
    if names is None and not noted and (root / _STATE).exists():
        return {_STATE}
    folder = root / Path(_read(root)["known"]["folder"]).name if noted else root
    checked = noted.keys() if names is None else names
    return {name for name in checked if not _is_whole(folder / name, noted[name])}


def _large(folder: Path, noted: Mapping[str, _Noted]) -> set[str]:
    """The files that are not read at once: the largest, where size and time are as noted."""
    left, large = _AT_ONCE, set()
    for name, (size, changed, _) in sorted(noted.items(), key=lambda each: each[1]):
        left -= size
        file = folder / name
        if left < 0 and name in FILES and file.exists():
            stat = file.stat()
            large |= {name} if (stat.st_size, stat.st_mtime_ns) == (size, changed) else set()
    return large


def _read(root: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((root / _STATE).read_text(encoding="utf-8"))
    return state


def _noted(root: Path) -> dict[str, _Noted]:
    """What was noted of each file when the state was saved last."""
    try:
        files = _read(root)["files"]
        return {name: (int(a), int(b), int(c)) for name, (a, b, c) in files.items()}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _is_whole(file: Path, noted: _Noted) -> bool:
    """Whether a file has the bytes that were noted; one that is only appended may be longer."""
    size, _, crc = noted
    if not file.exists():
        return False
    there = file.stat().st_size
    fits = there >= size if file.name in FILES else there == size
    return fits and checksum(file, size) == crc


def _words(folder: Path) -> list[str]:
    """The files of words, in the folder of the index."""
    files = (folder / WORDS).iterdir() if (folder / WORDS).is_dir() else ()
    return [f"{WORDS}/{each.name}" for each in files if each.name not in _LOCKS]


def _changed(file: Path) -> int:
    return file.stat().st_mtime_ns
