"""The bytes of files when they are closed, noted, and compared when they are opened again."""

import json
import logging
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from recall_retrievers.core.system import make_private, write_to_disk

_log = logging.getLogger(__name__)

NOTE = "closed.json"  # what is noted of the files of a row index, beside them
_PART = 1 << 20  # bytes that are read at once
LARGE = 16_000_000  # bytes of a file that is not compared before the first answer


def own_folder(path: Path) -> Path:
    """The folder inside a Chroma path that is ours; it need not be there."""
    return path / ".recall"


def note_files(note: Path, folder: Path, names: Iterable[str]) -> None:
    """Note the size, the last change and the checksum of files, for `changed_files`.

    Nobody may write to them. Only files that have changed since the last note are read. All is on
    the disk when it returns. A disk that fails leaves no new note: then all is looked through when
    it is opened again.
    """
    noted, there = _noted(note), dict[str, list[int]]()
    try:
        for name, file in ((x, folder / x) for x in names if (folder / x).is_file()):
            stat = file.stat()
            there[name] = noted.get(name, [])
            if there[name][:2] != [stat.st_size, stat.st_mtime_ns]:
                write_to_disk(file)
                there[name] = [stat.st_size, stat.st_mtime_ns, _checksum(file)]
        if there != noted:
            make_private(note.parent)
            partial = note.with_suffix(".new")
            partial.write_text(json.dumps(there), encoding="utf-8")
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
    noted = _noted(note)
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


def _noted(note: Path) -> dict[str, list[int]]:
    try:
        noted = json.loads(note.read_text(encoding="utf-8"))
        return {name: [int(a), int(b), int(c)] for name, (a, b, c) in noted.items()}
    # Never closed, or the note itself was damaged.
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _checksum(file: Path) -> int:
    # It is read, not mapped: a bad sector is an `OSError`, and no signal.
    value = 0
    with file.open("rb") as opened:
        while part := opened.read(_PART):
            value = crc32(part, value)
    return value
