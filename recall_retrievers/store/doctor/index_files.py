"""The files in which Chroma keeps the vectors of a collection, read without its engine.

Chroma (1.5.9) writes them in the order of `FILES`, in place, without a temporary file, and as
hnswlib does: see ``persistDirty`` and ``loadPersistedIndex`` of chroma-core/hnswlib. A process that
is killed meanwhile leaves a mixture. The engine reads such a mixture without a check: it
fails, crashes, or loses rows without a word.
"""

from __future__ import annotations

import pickle
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Never

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.chroma.database import Tables, UnknownLayoutError

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

HEADER, ROWS, LENGTHS, LINKS, NAMES = FILES = (
    "header.bin",
    "data_level0.bin",
    "length.bin",
    "link_lists.bin",
    "index_metadata.pickle",
)
"""In the order in which Chroma writes them."""

_TESTED = (1, 5)  # the newest minor version of chromadb whose files were tested
_HEADER = struct.Struct("<i6QiI3QdQ")
_VERSION = 1
_VERSIONS_TO_COME = range(_VERSION + 1, 10)  # garbage reads as far more
_MOST_NEIGHBOURS = 4096  # far above what anybody sets: garbage reads as more
_LABEL = 8  # bytes
_LARGEST_NAMES = 2 << 30  # bytes: the names of some twenty million rows
_SLACK = 1 << 20  # bytes
_COUNT = 0xFFFF  # the part of a list's first number that counts its links
_CHUNK = 8192  # rows looked at together: some 14 MB
_UNIT = 1e-3  # how far from 1 the length of a normalised vector may be


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a row in its file."""

    dimension: int  # of a vector
    neighbours: int  # of a row above the lowest level; there it has twice as many
    normalised: bool  # whether vectors are kept at length 1, as in cosine space

    @property
    def row(self) -> np.dtype[np.void]:
        """A row: the number of its links, a mark of deletion, the links, the vector, the label."""
        return np.dtype(
            [
                ("links", "<u2"),
                ("deleted", "u1"),
                ("unused", "u1"),
                ("linked", "<u4", (2 * self.neighbours,)),
                ("vector", "<f4", (self.dimension,)),
                ("label", "<u8"),
            ]
        )


class Header(NamedTuple):
    """The header of an index, in the order of the file; sizes and places in bytes."""

    version: int
    level0_at: int
    room: int
    rows: int
    row_size: int
    label_at: int
    vector_at: int
    top_level: int
    entry: int
    neighbours: int
    neighbours_below: int
    also_neighbours: int
    level_factor: float
    ef_construction: int


def layout_of(folder: Path, collection: Collection, tables: Tables) -> Layout | None:
    """The layout of a collection's index; None where it has no vectors yet.

    Raises:
        UnknownLayoutError: When chromadb is newer than what was tested, or the index has other
            files, or a header of another version.
    """
    import chromadb  # noqa: PLC0415 - a second to import

    if tuple(map(int, re.findall(r"\d+", chromadb.__version__)[:2])) > _TESTED:
        raise UnknownLayoutError(
            f"chromadb {chromadb.__version__} is newer than {'.'.join(map(str, _TESTED))}, whose "
            "files are known"
        )
    dimension, settings = tables.dimension(), collection.configuration_json.get("hnsw")
    if dimension is None or settings is None:
        return None
    names = {each.name for each in folder.iterdir()} if folder.is_dir() else set()
    others = sorted(each for each in names.difference(FILES) if not each.startswith("."))
    if others and not names.issuperset(FILES):
        raise UnknownLayoutError(f"{folder} holds {others[0]!r} and lacks a file of Chroma 1.5")
    header = _read_header(folder / HEADER)
    # An index keeps the number of neighbours that it was made with.
    neighbours = header.neighbours if header else settings["max_neighbors"]
    return Layout(dimension, neighbours, normalised=settings["space"] == "cosine")


def _read_header(path: Path) -> Header | None:
    """The header of an index; None where the file is no header."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size + 1)
    except OSError:
        return None
    if len(head) < _HEADER.size:
        return None
    header = Header(*_HEADER.unpack(head[: _HEADER.size]))
    is_longer = len(head) > _HEADER.size
    is_plausible = (
        0 < header.neighbours <= _MOST_NEIGHBOURS
        and header.neighbours_below == 2 * header.neighbours
        and header.rows <= header.room
    )
    if header.version in _VERSIONS_TO_COME and (is_longer or is_plausible):
        raise UnknownLayoutError(f"{path} has the version {header.version}; {_VERSION} is known")
    return header if header.version == _VERSION and is_plausible and not is_longer else None


# -- checks, and reading ---------------------------------------------------------------------------


class DamagedIndexError(Exception):
    """The files of an index contradict each other; the message says how."""


def check_files(folder: Path, layout: Layout) -> set[str]:
    """Check every file of an index, and return the ids of the rows in it.

    Raises:
        DamagedIndexError: When Chroma would crash on it, fail, or miss rows.
    """
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise DamagedIndexError(f"{', '.join(missing)} is missing")
    head = _checked_header(folder, layout)
    names = _read_names(folder / NAMES)
    live = np.concatenate([np.empty(0, np.uint64), *_checked_labels(folder, layout, head.rows)])
    if len(live) != len(names) or set(live.tolist()) != set(names):
        raise DamagedIndexError(f"{ROWS} holds other rows than {NAMES}")
    _check_links(folder / LINKS, layout, head)
    return set(names.values())


def readable_vectors(
    folder: Path, layout: Layout
) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    """The whole vectors of an index that may be damaged, a few thousand at a time.

    A vector is whole when its label has a name and its numbers are finite, and its length is 1 if
    all of them are scaled. One of zeros may be a hole in the file. The header is not needed.
    """
    try:
        names = _read_names(folder / NAMES)
        size = (folder / ROWS).stat().st_size
    except (DamagedIndexError, OSError):
        return
    # A torn file can look terabytes large. Labels count the rows, so no named row is beyond them.
    count = min(size // layout.row.itemsize, max(names, default=0))
    for rows in _chunks(folder / ROWS, layout, count):
        named = np.array([label in names for label in rows["label"].tolist()], dtype=bool)
        usable = rows[named & _is_whole(rows["vector"], layout)]
        usable = usable[usable["vector"].any(axis=1)]
        if len(usable):
            yield [names[label] for label in usable["label"].tolist()], usable["vector"]


def _read_names(path: Path) -> dict[int, str]:
    """The ids of the rows of an index by the labels of their vectors."""
    if path.stat().st_size > _LARGEST_NAMES:
        raise DamagedIndexError(f"{path.name} is too large: {path.stat().st_size} bytes")
    try:
        with path.open("rb") as file:
            known: Any = _PlainUnpickler(file).load()
        names = known["label_to_id"]
        whole = known["id_to_label"] == {row_id: label for label, row_id in names.items()}
    # Bytes that are no pickle raise nearly anything; the file itself was opened.
    except Exception as error:
        raise DamagedIndexError(f"{path.name} cannot be read") from error
    if not whole:
        raise DamagedIndexError(f"{path.name} contradicts itself")
    return dict(names)


class _PlainUnpickler(pickle.Unpickler):
    """Reads numbers, texts, lists and dictionaries; nothing that could run code."""

    def find_class(self, module_name: str, global_name: str, /) -> Never:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} has no place in an index")


def _checked_header(folder: Path, layout: Layout) -> Header:
    """The header, checked against the sizes of the files."""
    header, row = _read_header(folder / HEADER), layout.row
    if (
        header is None
        or header.neighbours != layout.neighbours
        or (header.row_size, header.label_at) != (row.itemsize, row.itemsize - _LABEL)
        or header.vector_at != row.itemsize - _LABEL - 4 * layout.dimension
        or header.rows > header.room
        or header.entry >= max(header.rows, 1)
    ):
        raise DamagedIndexError(f"{HEADER} does not describe an index of this collection")
    for name, width in ((ROWS, row.itemsize), (LENGTHS, 4)):
        needed, have = header.rows * width, (folder / name).stat().st_size
        if not needed <= have <= header.room * width:  # a new index has room for more rows
            raise DamagedIndexError(f"{name} has {have} bytes; {header.rows} rows need {needed}")
    return header


def _checked_labels(folder: Path, layout: Layout, count: int) -> Iterator[NDArray[np.uint64]]:
    """The labels of the rows that are not deleted; every row is checked."""
    for rows in _chunks(folder / ROWS, layout, count):
        linked = np.arange(2 * layout.neighbours)[None, :] < rows["links"][:, None]
        if rows["links"].max() > 2 * layout.neighbours or rows["linked"][linked].max(initial=0) >= (
            count
        ):
            raise DamagedIndexError(f"{ROWS} links to rows that are not there")
        if not _is_whole(rows["vector"], layout).all():
            raise DamagedIndexError(f"{ROWS} holds vectors that no model made")
        yield rows["label"][rows["deleted"] & 1 == 0]


def _check_links(path: Path, layout: Layout, head: Header) -> None:
    """Walk the links of the levels above the lowest: a list for each row, mostly empty."""
    count, width = head.rows, 1 + layout.neighbours
    # One row in ``neighbours`` has such links at all, so this is far above what a walk needs.
    if path.stat().st_size > 4 * count * width + _SLACK:
        raise DamagedIndexError(f"{path.name} is too large: {path.stat().st_size} bytes")
    links = path.read_bytes()
    levels = np.zeros(max(count, 1), dtype=np.int64)
    places: dict[int, int] = {}
    at = 0
    for row in range(count):
        size = int.from_bytes(links[at : at + 4], "little")
        at += 4
        if size:
            levels[row], places[row] = size // (4 * width), at
            at += size
        if size % (4 * width) or at > len(links):
            raise DamagedIndexError(f"{path.name} ends in the middle of its lists")
    if at != len(links) or levels[head.entry] != max(head.top_level, 0):
        raise DamagedIndexError(f"{path.name} does not fit {HEADER}")
    for row, place in places.items():
        lists = np.frombuffer(links, "<u4", int(levels[row]) * width, place).reshape(-1, width)
        for level, (size, *linked) in enumerate(lists.tolist(), 1):
            used = linked[: size & _COUNT]
            if len(used) < size & _COUNT or any(x >= count or levels[x] < level for x in used):
                raise DamagedIndexError(f"{path.name} links to rows that are not there")


def _chunks(path: Path, layout: Layout, count: int) -> Iterator[NDArray[np.void]]:
    if not count:  # an empty file cannot be mapped
        return
    rows = np.memmap(path, dtype=layout.row, mode="r", shape=(count,))
    for start in range(0, count, _CHUNK):
        yield rows[start : start + _CHUNK]


def _is_whole(vectors: NDArray[np.float32], layout: Layout) -> NDArray[np.bool_]:
    with np.errstate(over="ignore", invalid="ignore"):  # garbage need not be numbers
        squares = np.einsum("ij,ij->i", vectors, vectors)
        # A vector of nothing but zeros has no direction, and stays as it is.
        unit = (np.abs(squares - 1) < _UNIT) | (squares == 0)
    whole: NDArray[np.bool_] = unit if layout.normalised else np.isfinite(squares)
    return whole
