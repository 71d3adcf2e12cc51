"""The owner and the times of each row, as columns that are compared in one go.

Chroma compares them in SQLite, which reads each side of a range as a whole: 100 ms and more at
100,000 rows. The columns need less than 1 ms, and about 250 bytes a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from recall_stages.core.candidate import Candidate
from recall_stages.core.memory import Scope
from recall_stages.store.chroma.epoch import bounds_of, event_hull, to_milliseconds
from recall_stages.timeline import TimeRange

Places = NDArray[np.intp]
"""The places of rows in the columns; a row keeps its place until it is deleted."""

_NEVER = 2**62  # milliseconds; in no range
_OWNERS = tuple(Scope.model_fields)
_TIMES = ("created_at", "event_start", "event_end")
_MATCHES = 4  # recent conditions whose rows are remembered; a question has two
_FEW_OWNERS = 1024  # from this number on, owners without rows are forgotten


class Roster:
    """The rows of one collection, by id and by place."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._ids: list[str] = []
        self._written: list[int] = []
        self._free: list[int] = []  # the places of rows that were deleted
        self._times = np.full((len(_TIMES), 1024), _NEVER, dtype=np.int64)
        self._owners = np.zeros((len(_OWNERS), 1024), dtype=np.int32)  # 0 = nobody, -1 = no row
        self._numbers: dict[tuple[str, str], int] = {}  # by the name of a field and its value
        self._last_number = 0
        self._most_numbers = _FEW_OWNERS
        self._matches: dict[tuple[Scope, tuple[TimeRange, ...]], Places] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, row_id: str) -> bool:
        return row_id in self._places

    def ids(self) -> list[str]:
        """The ids of all rows, in the order of their arrival."""
        return list(self._places)

    def arrange(self, row_ids: Iterable[str]) -> None:
        """Put rows in another order; rows that are not named come last."""
        places = {each: self._places[each] for each in row_ids if each in self._places}
        self._places = places | self._places

    def put(self, row_id: str, memory: Candidate | None, written: int) -> int:
        """Add a row or its new version, and return its place.

        Args:
            row_id: The id of the row.
            memory: Its memory. None = it has no text, and matches nothing.
            written: When it was written, in epoch milliseconds; 0 if that is not known.
        """
        self._matches.clear()
        place = self._places.get(row_id)
        if place is None:
            place = self._new_place(row_id)
        self._written[place] = written
        created = None if memory is None else memory.created_at
        hull = event_hull(memory.events) if memory else {}
        self._times[:, place] = (
            _NEVER if created is None else to_milliseconds(created),
            hull.get("event_start", _NEVER),
            hull.get("event_end", -_NEVER),
        )
        if len(self._numbers) >= self._most_numbers:
            self._forget_owners()
        scope = memory.scope if memory else Scope()
        self._owners[:, place] = [self._number(name, getattr(scope, name)) for name in _OWNERS]
        return place

    def drop(self, row_id: str) -> int | None:
        """Forget a row, and return its place; None if the row is unknown."""
        place = self._places.pop(row_id, None)
        if place is not None:
            self._matches.clear()
            self._owners[:, place] = -1
            self._written[place] = 0
            self._free.append(place)
        return place

    def written(self, row_id: str) -> int | None:
        """When a row was written, in epoch milliseconds; None if the row is unknown."""
        place = self._places.get(row_id)
        return None if place is None else self._written[place]

    def places(self, row_ids: Iterable[str]) -> Places:
        """The places of rows; -1 for an unknown one."""
        return np.array([self._places.get(each, -1) for each in row_ids], dtype=np.intp)

    def ids_at(self, places: Places) -> list[str]:
        """The ids of the rows at these places."""
        return [self._ids[place] for place in places.tolist()]

    def matching(self, scope: Scope, within: Sequence[TimeRange]) -> Places:
        """The places of the rows in a scope that may be from a time, in ascending order.

        Recent answers are remembered until a row changes, as a question needs each one twice.

        Args:
            scope: The scope.
            within: If not empty, the recorded time or the hull of the events must touch a range.
        """
        conditions = (scope, tuple(within))
        if conditions not in self._matches:
            if len(self._matches) == _MATCHES:
                self._matches.clear()
            fits = self._fits(slice(len(self._ids)), scope, within)
            self._matches[conditions] = np.flatnonzero(fits)
        return self._matches[conditions]

    def fitting(
        self, places: Places, scope: Scope, within: Sequence[TimeRange]
    ) -> NDArray[np.bool_]:
        """Whether the row at each of these places is in a scope and may be from a time."""
        return self._fits(places, scope, within)

    def _fits(
        self, places: Places | slice, scope: Scope, within: Sequence[TimeRange]
    ) -> NDArray[np.bool_]:
        owners, times = self._owners[:, places], self._times[:, places]
        fits: NDArray[np.bool_] = owners[0] >= 0
        for name, value in scope.fields().items():
            fits &= owners[_OWNERS.index(name)] == self._numbers.get((name, value), -2)
        if within:
            fits &= np.logical_or.reduce([_touching(times, each) for each in within])
        return fits

    def _new_place(self, row_id: str) -> int:
        if self._free:
            place = self._free.pop()
            self._ids[place] = row_id
        else:
            place = len(self._ids)
            self._ids.append(row_id)
            self._written.append(0)
            if place == self._times.shape[1]:
                self._times = np.concatenate([self._times, self._times], axis=1)
                self._owners = np.concatenate([self._owners, self._owners], axis=1)
        self._places[row_id] = place
        return place

    def _number(self, name: str, value: str | None) -> int:
        if value is None:
            return 0
        number = self._numbers.get((name, value))
        if number is None:
            number = self._last_number = self._last_number + 1
            self._numbers[name, value] = number
        return number

    def _forget_owners(self) -> None:
        """Forget owners without rows; the next time is when their number has doubled."""
        used = set(np.unique(self._owners).tolist())
        self._numbers = {owner: n for owner, n in self._numbers.items() if n in used}
        self._most_numbers = max(2 * len(self._numbers), _FEW_OWNERS)


def _touching(times: NDArray[np.int64], time_range: TimeRange) -> NDArray[np.bool_]:
    first, last = bounds_of(time_range)
    created, start, end = times
    recorded = (first <= created) & (created <= last)
    touching: NDArray[np.bool_] = recorded | ((start <= last) & (first <= end))
    return touching
