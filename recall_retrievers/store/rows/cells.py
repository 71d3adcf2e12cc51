"""The metadata of rows as a table of cells, so that a user's filter is checked without Chroma.

The rows that a filter lets through here may be too many, never too few: parts of texts and of lists
are not compared. `fulfils` then checks the rows that are wanted.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import isnan
from typing import cast

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.store.chroma.where import DOCUMENT, Where
from recall_retrievers.store.rows.database import IN, listed

Cell = tuple[str, str | int | float]  # a key and a value, as they are compared
Fits = NDArray[np.bool_]  # whether each row may fulfil a condition; all may if that is not known

_LEFT_OUT = frozenset({"written_at", "created_day", "list_values", "event_ranges"})
_IN_LISTS = frozenset({"$contains", "$not_contains"})
_SIGNS = {"$eq": "=", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}
_LONGEST = 64  # characters of a text that is compared as it is


def fitting(connection: sqlite3.Connection, where: Where, rows: int) -> Fits:
    """Whether the row at each slot may fulfil a where clause, of so many rows."""
    [(key, wanted)] = where.items()  # `all_of` joins several
    if key in ("$and", "$or"):
        arms = [fitting(connection, arm, rows) for arm in cast("Sequence[Where]", wanted)]
    else:
        conditions = cast("Mapping[str, object]", wanted).items()
        arms = [_compared(connection, key, each, bound, rows) for each, bound in conditions]
    fits: Fits = (np.logical_or if key == "$or" else np.logical_and).reduce(arms)
    return fits


def _compared(
    connection: sqlite3.Connection, key: str, operator: str, bound: object, rows: int
) -> Fits:
    if not _is_decided(key, operator):
        return np.ones(rows, dtype=np.bool_)
    fits = np.zeros(rows, dtype=np.bool_)
    if operator in _SIGNS:
        cells, sign = [_coded(key, bound)], f"{_SIGNS[operator]} ?"
    else:
        values = bound if isinstance(bound, list) else [bound]
        coded = [_coded(key, each) for each in values]
        cells = [(code, listed([y for x, y in coded if x == code])) for code in dict(coded)]
        sign = IN
    for cell in cells:
        found = connection.execute(
            f"SELECT slot FROM cell WHERE key = ? AND value {sign} AND slot < ?", (*cell, rows)
        ).fetchall()
        fits[np.fromiter((slot for (slot,) in found), dtype=np.intp, count=len(found))] = True
    return ~fits if operator in ("$ne", "$nin") else fits


def cells_of(metadata: Mapping[str, MetadataValue]) -> list[Cell]:
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
    [(key, wanted)] = where.items()
    if key in ("$and", "$or"):
        return all(map(decided, cast("Sequence[Where]", wanted)))
    return all(_is_decided(key, each) for each in cast("Mapping[str, object]", wanted))


def _is_decided(key: str, operator: str) -> bool:
    return key != DOCUMENT and key not in _LEFT_OUT and operator not in _IN_LISTS


def _coded(key: str, value: object) -> Cell:
    if isinstance(value, bool):
        return f"b{key}", int(value)
    if isinstance(value, int | float) and not isnan(value):  # which is equal to nothing
        return f"n{key}", value
    text = str(value)
    return f"s{key}", text if len(text) <= _LONGEST else sha256(text.encode()).hexdigest()
