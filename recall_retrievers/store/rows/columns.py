"""What rows are chosen by: their owner and times as columns in memory, their metadata as cells.

To compare a column of 100,000 rows takes less than a millisecond; SQLite takes ten times as long.
The database has the columns of a row in one blob.

A filter of the user's is looked up in a table of cells. The rows that it lets through there may be
too many, never too few: parts of texts and of lists are not compared. `fulfils` then checks the
rows that are wanted.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256
from math import isnan
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import ALWAYS, MetadataValue, Standing
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.fields import (
    bounds_of,
    event_bounds,
    event_hull,
    to_milliseconds,
)
from recall_retrievers.store.chroma.where import DOCUMENT, Where
from recall_retrievers.store.rows.database import IN, hashed, listed
from recall_retrievers.text.words import PROFILE
from recall_retrievers.timeline import TimeRange

_A_MOMENT = timedelta(seconds=10)  # that a question may take until it searches

Fits = NDArray[np.bool_]  # whether each row may fulfil a condition
Slots = NDArray[np.intp]  # of rows: where each is in the columns, and among the vectors


@dataclass(frozen=True, slots=True)
class Wanted:
    scope: Scope
    within: Sequence[TimeRange] = ()  # the recorded time or an event lies in one
    standing: Standing = ALWAYS

    def at(self, now: datetime) -> Self:
        """The same; what was asked a moment ago is asked now.

        Else a memory that is superseded since then would count, and the one that supersedes it too.
        """
        standing = self.standing
        asked = standing.moment
        if asked is None or standing.as_it_stood or not now - _A_MOMENT < asked <= now:
            return self
        return replace(self, standing=standing._replace(moment=now))


@dataclass(frozen=True)
class Selection:
    """The rows that fulfil the conditions of a search; these may be too many, never too few."""

    fits: NDArray[np.bool_]  # whether the row at each slot does
    whole: bool  # whether these are all rows

    @cached_property
    def slots(self) -> Slots:
        return np.flatnonzero(self.fits)

    def holds(self, slots: Slots) -> NDArray[np.bool_]:
        """Whether each of these rows fits; a row that is newer than the selection does not."""
        known = slots < len(self.fits)
        known[known] = self.fits[slots[known]]
        return known


NEVER = 2**62  # milliseconds; in no range
SEGMENT = 1 << 12  # slots
_OWNERS = tuple(Scope.model_fields)

RECORD = np.dtype(
    [
        ("id", "<u8"),  # as a number; 0 = the slot is free
        ("created", "<i8"),
        ("event_start", "<i8"),
        ("event_end", "<i8"),
        ("expires", "<i8"),
        ("ends", "<i8"),  # when it expires or is superseded, whichever is first
        *((name, "<u8") for name in _OWNERS),
        ("memory_type", "<u8"),  # as a number; 0 = the row has no text
        ("length", "<u2"),  # how many words it has
        ("check", "<u4"),  # the checksum of its vector; 0 = that is not known
        ("profile", "u1", (PROFILE,)),  # see `Wording`
    ]
)
Record = tuple[object, ...]


def record(row_id: str, memory: Candidate | None) -> Record:
    """The columns of a row whose words and vector are not known yet; without a memory, as it is."""
    if memory is None:
        times, no_words = (NEVER, NEVER, -NEVER, NEVER, NEVER), (0,) * PROFILE
        return (hashed(row_id), *times, *(0,) * len(_OWNERS), 0, 0, 0, no_words)
    hull = event_hull(memory.events)
    return (
        hashed(row_id),
        _moment(memory.created_at),
        hull.get("event_start", NEVER),
        hull.get("event_end", -NEVER),
        _moment(memory.expires_at),
        _moment(memory.ends_at),
        *(_owner(getattr(memory.scope, name)) for name in _OWNERS),
        hashed(memory.memory_type),
        0,
        0,
        memory.wording.profile,
    )


class Columns:
    """The columns of all rows, by slot. One thread at a time may change them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._records = np.empty(0, dtype=RECORD)
        self._columns: dict[str, NDArray[Any]] = {}
        read = connection.execute("SELECT slot, columns FROM record").fetchall()
        slots = [slot for slot, _ in read]
        self.grow(slots)
        self.take(slots, np.frombuffer(b"".join([columns for _, columns in read]), dtype=RECORD))

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            self._columns[name] = np.ascontiguousarray(self._records[name])
        return self._columns[name]

    @property
    def live(self) -> NDArray[np.bool_]:
        live: NDArray[np.bool_] = self["id"] != 0
        return live

    def grow(self, slots: Sequence[int]) -> None:
        """Make room for rows, which are not there yet."""
        last = max(slots, default=-1) + 1
        if last > len(self._records):
            grown = np.zeros(-(-last // SEGMENT) * SEGMENT, dtype=RECORD)
            grown[: len(self._records)] = self._records
            self._records, self._columns = grown, {}

    def take(self, slots: Sequence[int], records: NDArray[np.void]) -> None:
        at = np.array(slots, dtype=np.intp)
        self._records[at] = records
        for name, column in self._columns.items():
            column[at] = records[name]
        self.count = int(np.count_nonzero(self["id"]))

    def at(self, slots: Sequence[int]) -> NDArray[np.void]:
        return self._records[list(slots)]

    def fitting(self, wanted: Wanted) -> Selection:
        """The rows that are in the scope, may be from the time, and are there."""
        fits, standing = self.live, wanted.standing
        number = np.count_nonzero(fits)
        for name, value in wanted.scope.fields().items():
            fits &= self[name] == np.uint64(_owner(value))
        if wanted.within:
            fits &= np.logical_or.reduce([self._touching(each) for each in wanted.within])
        if standing.moment is not None:
            moment = to_milliseconds(standing.moment)
            fits &= self["expires" if standing.include_superseded else "ends"] > moment
            if standing.as_it_stood:
                fits &= self["created"] <= moment
        return Selection(fits, whole=np.count_nonzero(fits) == number)

    def _touching(self, time_range: TimeRange) -> NDArray[np.bool_]:
        first, last = bounds_of(time_range)
        created = self["created"]
        touching: NDArray[np.bool_] = (first <= created) & (created <= last)
        first, last = event_bounds(time_range)
        touching |= (self["event_start"] <= last) & (first <= self["event_end"])
        return touching


def _moment(moment: datetime | None) -> int:
    return NEVER if moment is None else to_milliseconds(moment)


def _owner(value: str | None) -> int:
    return 0 if value is None else hashed(value)


# -- cells ----------------------------------------------------------------------------------------

Cell = tuple[str, str | int | float]  # a key of metadata and a value, as they are compared

_LEFT_OUT = frozenset({"written_at", "created_day", "list_values", "event_ranges"})
_IN_LISTS = frozenset({"$contains", "$not_contains"})
_SIGNS = {"$eq": "=", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}
_LONGEST = 64  # characters of a text that is compared as it is


def may_fulfil(connection: sqlite3.Connection, where: Where, rows: int) -> Fits:
    """Whether the row at each slot may fulfil a where clause, of so many rows."""
    [(key, wanted)] = where.items()  # `all_of` joins several
    if key in ("$and", "$or"):
        arms = [may_fulfil(connection, arm, rows) for arm in cast("Sequence[Where]", wanted)]
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
