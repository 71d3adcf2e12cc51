"""The owner and the times of each row, as columns that are compared in one go.

Chroma compares them in SQLite, which reads each side of a range as a whole: 100 ms and more at
100,000 rows. The columns need less than 1 ms, and 100 bytes a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.chroma.epoch import bounds_of, event_hull, to_milliseconds
from recall_retrievers.store.rows.append_file import AppendFile
from recall_retrievers.store.rows.numbers import grown
from recall_retrievers.store.rows.wanted import Places, Wanted
from recall_retrievers.timeline import TimeRange

NEVER = 2**62  # milliseconds; in no range
_OWNERS = tuple(Scope.model_fields)
_MOST_NEW = 10_000  # rows that are found by a dictionary, until all ids are sorted anew

RECORD = np.dtype(
    [
        ("id", "<u8"),
        ("written", "<i8"),
        ("created", "<i8"),
        ("event_start", "<i8"),
        ("event_end", "<i8"),
        ("expires", "<i8"),
        *((name, "<u8") for name in _OWNERS),
        ("answers", "<u8"),  # the turn that it answers; 0 = there is none
        ("row", "<u8"),  # where the row begins in the file of rows
        ("length", "<u4"),  # and its bytes
    ]
)


@lru_cache(maxsize=65_536)
def hashed(text: str) -> int:
    """A text as 64 bits that are the same in every process."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def record(
    row_id: str, memory: Candidate | None, written: int, row: tuple[int, int]
) -> tuple[int, ...]:
    """The columns of a row.

    Args:
        row_id: The id of the row.
        memory: Its memory; None = it has no text.
        written: When it was written, in epoch milliseconds; 0 if that is not known.
        row: Where the row is in the file of rows, and its bytes.
    """
    created = None if memory is None else memory.created_at
    hull = event_hull(memory.events) if memory else {}
    expires = None if memory is None else memory.expires_at
    scope = memory.scope if memory else Scope()
    return (
        hashed(row_id),
        written,
        NEVER if created is None else to_milliseconds(created),
        hull.get("event_start", NEVER),
        hull.get("event_end", -NEVER),
        NEVER if expires is None else to_milliseconds(expires),
        *(_owner(getattr(scope, name)) for name in _OWNERS),
        hashed(memory.turn_before) if memory and memory.turn_before else 0,
        *row,
    )


class Columns:
    """The columns of all rows, by place. A column is read from the file when it is first needed.

    Args:
        records: The file of the columns.
        dead: The places of rows that were replaced or deleted.
    """

    def __init__(self, records: AppendFile, dead: Places) -> None:
        self._file = records
        self._count = len(self._records())
        self._live = np.ones(self._count, dtype=np.bool_)
        self._live[dead] = False
        self._columns: dict[str, NDArray[Any]] = {}
        self.alive = int(np.count_nonzero(self._live))
        self._first: int | None = None  # when the first row expires; None = not known
        self._sort()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            self._columns[name] = np.ascontiguousarray(self._records()[name])
        return self._columns[name][: self._count]

    def span(self, place: int) -> tuple[int, int]:
        """Where a row is in the file of rows, and its bytes."""
        record = self._records()[place]
        return int(record["row"]), int(record["length"])

    def spans(self, places: Sequence[int]) -> list[tuple[int, int]]:
        """The same for several rows, without a numpy scalar for each."""
        records = self._records()[np.array(places, dtype=np.intp)]
        return list(zip(records["row"].tolist(), records["length"].tolist(), strict=True))

    @property
    def live(self) -> NDArray[np.bool_]:
        """Whether the row at each place is the newest version of a row that is there."""
        return self._live[: self._count]

    def append(self, records: Sequence[tuple[int, ...]]) -> None:
        """Add rows."""
        new = np.array(records, dtype=RECORD)
        first, self._count = self._count, self._count + len(new)
        self._file.append(new.tobytes())
        self._live = grown(self._live, first, self._count)
        for name, column in self._columns.items():
            self._columns[name] = grown(column, first, self._count)
            self._columns[name][first : self._count] = new[name]
        self._live[first : self._count] = True
        self._new.update(zip(new["id"].tolist(), range(first, self._count), strict=True))
        self.alive += len(new)
        if self._first is not None:
            self._first = min(self._first, int(new["expires"].min(initial=NEVER)))
        if len(self._new) > _MOST_NEW + self._count // 2:
            self._sort()

    def kill(self, place: int) -> None:
        """Take a row out."""
        self._live[place] = False
        self.alive -= 1
        if self._first is not None and self["expires"][place] <= self._first:
            self._first = None if self._first < NEVER else NEVER

    def places(self, hashes: Iterable[int]) -> Places:
        """The places of rows by the hash of their id; -1 for an unknown one."""
        wanted = list(hashes)
        found = np.full(len(wanted), -1, dtype=np.intp)
        if len(self._sorted):
            values = np.array(wanted, dtype=np.uint64)
            at = np.minimum(np.searchsorted(self._sorted, values), len(self._sorted) - 1)
            found = np.where(self._sorted[at] == values, self._order[at], -1)
        if self._new:
            new = np.array([self._new.get(each, -1) for each in wanted], dtype=np.intp)
            found = np.where(new >= 0, new, found)
        if self._count:
            found[~self._live[found]] = -1
        return found

    def have_expired(self, moment: datetime | None) -> bool:
        """Whether a row has expired by a moment; mostly none has, and no row is looked at."""
        if self._first is None:
            self._first = int(self["expires"][self.live].min(initial=NEVER))
        return moment is not None and self._first <= to_milliseconds(moment)

    def fitting(self, wanted: Wanted) -> NDArray[np.bool_]:
        """Whether the row at each place is in the scope, may be from the time, and is alive."""
        fits = self.live.copy()
        for name, value in wanted.scope.fields().items():
            fits &= self[name] == np.uint64(_owner(value))
        if wanted.within:
            fits &= np.logical_or.reduce([self._touching(each) for each in wanted.within])
        if wanted.moment is not None and self.have_expired(wanted.moment):
            fits &= self["expires"] > to_milliseconds(wanted.moment)
        return fits

    def _touching(self, time_range: TimeRange) -> NDArray[np.bool_]:
        first, last = bounds_of(time_range)
        created = self["created"]
        recorded = (first <= created) & (created <= last)
        touching: NDArray[np.bool_] = recorded | (
            (self["event_start"] <= last) & (first <= self["event_end"])
        )
        return touching

    def _sort(self) -> None:
        places = np.flatnonzero(self.live)
        hashes = self["id"][places]
        order = np.argsort(hashes)
        self._sorted, self._order = hashes[order], places[order]
        self._new: dict[int, int] = {}

    def _records(self) -> NDArray[np.void]:
        records: NDArray[np.void] = self._file.view().view(RECORD)
        return records


def _owner(value: str | None) -> int:
    return 0 if value is None else hashed(value)
