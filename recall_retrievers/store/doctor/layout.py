"""How Chroma lays out the files of an index: their names, their header, and a row of vectors.

Chroma (1.5.9) writes the files in the order of `FILES`, in place, without a temporary file. The
layout is that of hnswlib: see ``persistDirty`` and ``loadPersistedIndex`` of chroma-core/hnswlib.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a row in its file.

    Attributes:
        dimension: The length of a vector.
        neighbours: How many neighbours a row has above the lowest level; twice as many there.
        normalised: Whether vectors are kept at length 1, as in cosine space.
    """

    dimension: int
    neighbours: int
    normalised: bool

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
    header = read_header(folder / HEADER)
    # An index keeps the number of neighbours that it was made with.
    neighbours = header.neighbours if header else settings["max_neighbors"]
    return Layout(dimension, neighbours, normalised=settings["space"] == "cosine")


def read_header(path: Path) -> Header | None:
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
