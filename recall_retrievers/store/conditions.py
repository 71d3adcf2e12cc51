"""Which memories a call is about: their scope, time, type and metadata; and in what order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Literal, Self

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.clock import TimeInput
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Filter
from recall_retrievers.core.requests import Search
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.epoch import EARLIEST, to_milliseconds
from recall_retrievers.store.chroma.row_fields import OWN_FIELDS, Fields
from recall_retrievers.store.chroma.where import filter_where
from recall_retrievers.timeline import TimeRange, parse_time

RangeInput = TimeRange | tuple[TimeInput | None, TimeInput | None]
"""A range of time: a `TimeRange`, or its two ends; None = open."""

TypeInput = str | Sequence[str]
Order = Literal["newest", "oldest"]

UNDATED = EARLIEST - 1
"""The milliseconds of a memory without a time: it counts as older than all others."""

_READ = 250  # rows that are read at once: below every limit


@dataclass(frozen=True, slots=True, init=False)
class Position:
    """A place in a listing by recorded time; memories of one moment are ordered by id.

    It stays valid when memories are added, changed or deleted, also the one that it was made of.

    Args:
        timestamp: When the memory was recorded: epoch seconds, ISO 8601 or datetime. None = that
            is not known; such a memory counts as older than all others.
        id: The id of the memory.

    Examples:
        >>> Position("2024-03-12T15:20:00Z", "tea").timestamp.isoformat()
        '2024-03-12T15:20:00+00:00'
    """

    timestamp: datetime | None
    id: str

    def __init__(self, timestamp: TimeInput | None, id: str) -> None:
        moment = None if timestamp is None else parse_time(timestamp, name="timestamp")
        object.__setattr__(self, "timestamp", moment)
        object.__setattr__(self, "id", id)

    @classmethod
    def of(cls, memory: Memory | Candidate) -> Self:
        """The place of a stored memory.

        Raises:
            ValueError: When the memory has no id, so it is not a stored one.
        """
        if not memory.id:
            raise ValueError(
                "after takes a memory of the page before, as the store returned it; this one has "
                "no id"
            )
        return cls(memory.created_at, memory.id)

    @property
    def key(self) -> tuple[int, str]:
        """The place as a value that sorts, the oldest first."""
        return _place(self.timestamp, self.id)


def place_of(memory: Candidate) -> tuple[int, str]:
    """The place of a memory as a value that sorts, the oldest first."""
    return _place(memory.created_at, memory.id)


def _place(moment: datetime | None, id: str) -> tuple[int, str]:
    return UNDATED if moment is None else to_milliseconds(moment), id


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a call; a memory must fulfil all of them."""

    scope: Scope = field(default_factory=Scope)
    recorded: TimeRange | None = None  # when it was recorded; None = at any time, or at none
    filter: Filter | None = None  # on metadata, as Chroma writes it
    types: tuple[str, ...] = ()  # the memory types; empty = any
    moment: datetime | None = None  # when it must not have expired; None = it may have
    newest: bool = True  # whether the newest memory is the first
    after: tuple[int, str] | None = None  # the place before the first one; see `Position.key`
    limit: int | None = None  # how many are wanted at most; None = all

    @classmethod
    def of(
        cls,
        scope: Scope,
        time_range: RangeInput | None = None,
        filter: Filter | None = None,
        memory_type: TypeInput | None = None,
        moment: datetime | None = None,
    ) -> Conditions:
        """The conditions as a caller passes them, checked.

        Raises:
            FilterError: When the filter cannot match anything.
            ValueError: When the time range or the memory type is empty.
        """
        conditions = cls(scope, _range(time_range), filter, _types(memory_type), moment)
        filter_where(filter)  # also where there is no collection yet
        return conditions

    @property
    def limited(self) -> bool:
        """Whether anything but the scope is limited."""
        where = filter_where(self.filter)  # None for a filter that every row fulfils
        return self.recorded is not None or bool(self.types) or where is not None

    def check_deleting(self, ids: Sequence[str] | None, everything: bool) -> None:
        """Check that a deletion is limited by more than the scope, or is of everything.

        Raises:
            SettingsError: When it is neither or both, or has a condition that fits every memory.
        """
        time, limited = self.recorded, ids is not None or self.limited
        if not isinstance(everything, bool):
            problem = f"everything must be True or False; got {got(everything)}"
        elif self.filter is not None and filter_where(self.filter) is None:
            problem = f"filter must be a condition; got {got(self.filter)}, which fits every memory"
        elif time is not None and not (time.start or time.end or time.recurrence):
            problem = f"time_range must have a start or an end; got {time}"
        elif everything is limited:
            problem = (
                "delete takes a condition (ids, a time, filter or memory_type), or everything=True "
                f"for all of the scope; got {'both' if limited else 'neither'}"
            )
        else:
            return
        raise SettingsError("delete", (problem,))

    def search(self, fields: Fields = OWN_FIELDS) -> Search:
        """Scope, filter and type as those of a search; `admits` checks the time."""
        parts: list[Filter] = [] if self.filter is None else [self.filter]
        if self.types:
            parts.append({fields.memory_type: {"$in": list(self.types)}})
        whole = {"$and": parts} if len(parts) > 1 else next(iter(parts), None)
        return Search("", 1, self.scope, whole, moment=self.moment)

    def follows(self, place: tuple[int, str]) -> bool:
        """Whether a place comes after the one where the listing begins."""
        if self.after is None:
            return True
        return place < self.after if self.newest else place > self.after

    def pages(self, ids: Iterable[str]) -> Iterator[list[str]]:
        """Ids in order, as many at once as are read; of the first page, no more than are wanted."""
        rest, size = iter(ids), min(self.limit or _READ, _READ)
        while page := list(islice(rest, size)):
            yield page
            size = _READ

    def admits(self, memory: Candidate) -> bool:
        """Whether scope, time and expiry admit a memory; the filter is for who has the row."""
        if not self.scope.holds(memory.scope):
            return False
        if self.moment is not None and memory.expired(self.moment):
            return False
        if self.recorded is None:
            return True
        return memory.created_at is not None and self.recorded.contains(memory.created_at)


def _range(time_range: RangeInput | None) -> TimeRange | None:
    if time_range is None or isinstance(time_range, TimeRange):
        return time_range
    if not isinstance(time_range, tuple) or len(time_range) != 2:
        raise ValueError(
            "time_range must be a TimeRange or (start, end), with None for an open end; got "
            f"{got(time_range)}"
        )
    start, end = (None if each is None else _moment(each) for each in time_range)
    if start is None and end is None:
        raise ValueError("time_range needs a start or an end; got (None, None)")
    return TimeRange(start, end, "day", text="the range given")


def _moment(value: TimeInput) -> datetime:
    return parse_time(value, name="time_range")


def _types(memory_type: TypeInput | None) -> tuple[str, ...]:
    if memory_type is None:
        return ()
    types = (memory_type,) if isinstance(memory_type, str) else tuple(memory_type)
    if not types or not all(isinstance(each, str) and each for each in types):
        raise ValueError(
            "memory_type must be a text, such as 'insight', or a list of such texts; got "
            f"{got(memory_type)}"
        )
    return types
