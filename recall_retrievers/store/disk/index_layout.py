"""How Chroma lays out the files of an index: their names, their header, and a row of vectors.

Chroma (1.5.9) writes the files in the order of `FILES`. The layout is that of hnswlib: see
``persistDirty`` and ``loadPersistedIndex`` of chroma-core/hnswlib.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

HEADER, ROWS, LENGTHS, LINKS, NAMES = FILES = (
    "header.bin",
    "data_level0.bin",
    "length.bin",
    "link_lists.bin",
    "index_metadata.pickle",
)
"""In the order in which Chroma writes them."""

_HEADER = struct.Struct("<i6QiI3QdQ")
_VERSION = 1
_VERSIONS_TO_COME = range(_VERSION + 1, 10)  # garbage reads as far more
_MOST_NEIGHBOURS = 4096  # far above what anybody sets: garbage reads as more


class DamagedIndexError(Exception):
    """The files of an index contradict each other; the message says how."""


class UnknownLayoutError(Exception):
    """Chroma keeps a collection in a way that was never tested; the message says how it differs."""


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


def layout_of(folder: Path, dimension: int, *, neighbours: int, normalised: bool) -> Layout:
    """The layout of an index.

    Args:
        folder: The folder of the index.
        dimension: The length of a vector.
        neighbours: The number of neighbours in the collection's settings. An index that exists
            keeps the number that it was made with.
        normalised: Whether vectors are kept at length 1.

    Raises:
        UnknownLayoutError: When another version of Chroma made it: it has other files, or a header
            of another version.
    """
    names = {each.name for each in folder.iterdir()} if folder.is_dir() else set()
    others = sorted(each for each in names - set(FILES) if not each.startswith("."))
    if others and not names.issuperset(FILES):
        raise UnknownLayoutError(f"{folder} holds {others[0]!r} and lacks a file of Chroma 1.5")
    header = read_header(folder / HEADER)
    return Layout(dimension, header.neighbours if header else neighbours, normalised)


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


def read_header(path: Path) -> Header | None:
    """The header of an index; None where the file is no header.

    Raises:
        UnknownLayoutError: When it is the header of another version.
    """
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
