"""The metadata of rows as columns, so that a user's filter is checked without Chroma.

A value is kept as a number or a hash. The rows that a filter lets through here may be too many,
never too few: text and lists are not compared. `fulfils` then checks the rows that are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import ge, gt, le, lt
from struct import Struct
from typing import cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.store.chroma.where import DOCUMENT, Where
from recall_retrievers.store.rows.append_file import AppendFile
from recall_retrievers.store.rows.columns import hashed

_CELL = np.dtype([("place", "<u4"), ("key", "<u4"), ("value", "<u8")])
_LEFT_OUT = frozenset({"written_at", "created_day", "created_month", "list_values", "event_ranges"})
_NUMBER, _FLOAT = Struct("<Q"), Struct("<d")
_IN_LISTS = frozenset({"$contains", "$not_contains"})
_EXACT = 2**53  # the largest whole number that a float holds exactly
_ORDER: Mapping[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    "$lt": lt,
    "$lte": le,
    "$gt": gt,
    "$gte": ge,
}

Cell = tuple[int, int]
"""A key and a value, as numbers."""

Fits = NDArray[np.bool_]
"""Whether each row may fulfil a condition; all may where that cannot be told here."""


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of one key.

    Attributes:
        places: The places of the rows that have it.
        values: Its values there.
        read: How many cells of all keys were looked through.
    """

    places: NDArray[np.uint32]
    values: NDArray[np.uint64]
    read: int


class Cells:
    """The keys and values of all rows.

    Args:
        cells: The bytes of the cells.
    """

    def __init__(self, cells: AppendFile) -> None:
        self._cells = cells
        self._columns: dict[int, _Column] = {}  # of the keys that filters have named

    def append(self, cells: Mapping[int, Sequence[Cell]]) -> None:
        """Add the cells of rows, by place."""
        flat = [(place, *cell) for place, each in cells.items() for cell in each]
        self._cells.append(np.array(flat, dtype=_CELL).tobytes())

    def fitting(self, where: Where, rows: int) -> Fits:
        """Whether the row at each place may fulfil a where clause.

        Args:
            where: The clause.
            rows: How many places there are.
        """
        parts = [self._condition(key, wanted, rows) for key, wanted in where.items()]
        fits: Fits = np.logical_and.reduce(parts)
        return fits

    def _condition(self, key: str, wanted: object, rows: int) -> Fits:
        if key in ("$and", "$or"):
            arms = [self.fitting(arm, rows) for arm in cast("Sequence[Where]", wanted)]
        else:
            conditions = cast("Mapping[str, object]", wanted).items()
            arms = [self._compared(key, each, bound, rows) for each, bound in conditions]
        fits: Fits = (np.logical_or if key == "$or" else np.logical_and).reduce(arms)
        return fits

    def _compared(self, key: str, operator: str, bound: object, rows: int) -> Fits:
        if not _is_decided(key, operator, bound):
            return np.ones(rows, dtype=np.bool_)
        values = bound if isinstance(bound, list) else [bound]
        if operator in _ORDER:
            places, coded = self._column(_key("n", key))
            numbers = coded.view(np.float64)
            return _fits(places[_ORDER[operator](numbers, cast("float", bound))], rows)
        fits = np.zeros(rows, dtype=np.bool_)
        cells = [_coded(key, each) for each in values]
        for code in {code for code, _ in cells}:
            wanted = np.array([value for kind, value in cells if kind == code], dtype=np.uint64)
            places, coded = self._column(code)
            fits |= _fits(places[np.isin(coded, wanted)], rows)
        return ~fits if operator in ("$ne", "$nin") else fits

    def _column(self, key: int) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
        """The places of the rows that have a key, and its values there."""
        cells: NDArray[np.void] = self._cells.view().view(_CELL)
        known = self._columns.get(key)
        if known is None or known.read < len(cells):
            new = cells[known.read if known else 0 :]
            new = new[new["key"] == key]
            places, values = new["place"], new["value"]
            if known is not None:
                places = np.concatenate([known.places, places])
                values = np.concatenate([known.values, values])
            parts = np.ascontiguousarray(places), np.ascontiguousarray(values)
            known = self._columns[key] = _Column(*parts, read=len(cells))
        return known.places, known.values


def _fits(places: NDArray[np.uint32], rows: int) -> Fits:
    fits = np.zeros(rows, dtype=np.bool_)
    fits[places[places < rows]] = True
    return fits


def cells_of(metadata: Mapping[str, MetadataValue]) -> list[Cell]:
    """The cells of a row."""
    return [
        _coded(key, value)
        for key, value in metadata.items()
        if key not in _LEFT_OUT and not isinstance(value, list)
    ]


def decided(where: Where) -> bool:
    """Whether the cells of a row decide a where clause, so that its text need not be read.

    Examples:
        >>> decided({"stars": {"$gte": 3}}), decided({"tags": {"$contains": "tea"}})
        (True, False)
    """
    return all(
        all(map(decided, cast("Sequence[Where]", wanted)))
        if key in ("$and", "$or")
        else all(_is_decided(key, *each) for each in cast("Mapping[str, object]", wanted).items())
        for key, wanted in where.items()
    )


def _is_decided(key: str, operator: str, bound: object) -> bool:
    if key == DOCUMENT or key in _LEFT_OUT or operator in _IN_LISTS:
        return False
    values = bound if isinstance(bound, list) else [bound]
    return not any(_is_number(each) and abs(cast("float", each)) >= _EXACT for each in values)


def _coded(key: str, value: object) -> Cell:
    if isinstance(value, bool):
        return _key("b", key), int(value)
    if isinstance(value, int | float):
        [number] = _NUMBER.unpack(_FLOAT.pack(value + 0.0))  # so that -0.0 is 0.0
        return _key("n", key), number
    return _key("s", key), hashed(str(value))


@lru_cache(maxsize=4096)
def _key(kind: str, key: str) -> int:
    return crc32(f"{kind}{key}".encode("utf-8", "surrogatepass"))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
