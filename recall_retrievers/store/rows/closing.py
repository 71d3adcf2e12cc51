"""The bytes of files when they are closed, noted, and compared when they are opened again."""

import logging
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from pydantic import BaseModel

from recall_retrievers.core.system import make_private, write_to_disk

_log = logging.getLogger(__name__)

NOTE = "closed.json"  # what is noted of the files of a row index, beside them
_PART = 1 << 20  # bytes that are read at once
LARGE = 16_000_000  # bytes of a file that is not compared before the first answer


class _Note(BaseModel):
    files: dict[str, tuple[int, int, int]] = {}  # the size, the last change and the checksum
    mark: str = ""


def own_folder(path: Path) -> Path:
    """The folder inside a Chroma path that is ours; it need not be there."""
    return path / ".recall"


def note_files(note: Path, folder: Path, names: Iterable[str], mark: str = "") -> None:
    """Note the size, the last change and the checksum of files, for `changed_files`; and a mark.

    Nobody may write to them. Only files that have changed since the last note are read. All is on
    the disk when it returns. A disk that fails leaves no new note: then all is looked through when
    it is opened again.
    """
    noted, there = _noted(note), _Note(mark=mark)
    try:
        for name, file in ((x, folder / x) for x in names if (folder / x).is_file()):
            size, time = file.stat().st_size, file.stat().st_mtime_ns
            there.files[name] = noted.files.get(name, (0, 0, 0))
            if there.files[name][:2] != (size, time):
                write_to_disk(file)
                there.files[name] = size, time, _checksum(file)
        if there != noted:
            make_private(note.parent)
            partial = note.with_suffix(".new")
            partial.write_text(there.model_dump_json(), encoding="utf-8")
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
    noted = _noted(note).files
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


def noted_mark(note: Path) -> str:
    """The mark that was noted with the files; empty where there is none."""
    return _noted(note).mark


def _noted(note: Path) -> _Note:
    try:
        return _Note.model_validate_json(note.read_bytes())
    except (OSError, ValueError):  # never closed, or the note itself was damaged
        return _Note()


def _checksum(file: Path) -> int:
    # It is read, not mapped: a bad sector is an `OSError`, and no signal.
    value = 0
    with file.open("rb") as opened:
        while part := opened.read(_PART):
            value = crc32(part, value)
    return value
