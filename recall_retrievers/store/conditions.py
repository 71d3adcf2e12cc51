"""The arguments of a call, checked: which memories it is about, and how they change."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import ClassVar, Literal, Self, TypedDict

from pydantic import Field

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import QueryError, SettingsError
from recall_retrievers.core.memory import (
    ALWAYS,
    Memory,
    MetadataValue,
    Standing,
    Text,
    check_values,
)
from recall_retrievers.core.query import Filter
from recall_retrievers.core.requests import Search
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import AwareTime, Settings, Share, TimeInput
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.fields import EARLIEST, to_milliseconds
from recall_retrievers.store.chroma.where import Where, filter_where, joined
from recall_retrievers.timeline import TimeRange, parse_time
from recall_retrievers.timeline.parse_time import in_zone

RangeInput = TimeRange | tuple[TimeInput | None, TimeInput | None]
"""A range of time: a `TimeRange`, or its two ends; None = open."""

TypeInput = str | Sequence[str]
Order = Literal["newest", "oldest"]

UNDATED = EARLIEST - 1
"""The milliseconds of a memory without a time: it counts as older than all others."""


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
        object.__setattr__(self, "timestamp", moment)  # it is frozen
        object.__setattr__(self, "id", id)

    @classmethod
    def of(cls, memory: Memory | Candidate) -> Self:
        if not isinstance(memory, Memory | Candidate) or not memory.id:
            raise TypeError(
                "after takes the last memory of the page before, as the store returned it, or "
                f"Position(timestamp, id); got {got(memory)}"
            )
        return cls(memory.created_at, memory.id)

    @classmethod
    def read(cls, text: str) -> Self:
        """The place in a text of `written`."""
        try:
            moment, memory_id = json.loads(base64.urlsafe_b64decode(text.encode()))
            return cls(moment or None, str(memory_id))
        except (ValueError, TypeError, RecursionError):
            raise QueryError("after must be the `next` of the page before, as it was") from None

    def written(self) -> str:
        """The place as a text for a URL or a message; `read` reads it."""
        moment = "" if self.timestamp is None else self.timestamp.isoformat()
        return base64.urlsafe_b64encode(json.dumps([moment, self.id]).encode()).decode()

    @property
    def key(self) -> tuple[int, str]:
        """The place as a value that sorts, the oldest first."""
        return UNDATED if self.timestamp is None else to_milliseconds(self.timestamp), self.id


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a call; a memory must fulfil all of them."""

    scope: Scope = field(default_factory=Scope)
    recorded: TimeRange | None = None  # when it was recorded; None = at any time, or at none
    filter: Filter | None = None  # on metadata, as Chroma writes it
    types: tuple[str, ...] = ()  # the memory types; empty = any
    standing: Standing = ALWAYS  # at which moment it must count
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
        standing: Standing = ALWAYS,
    ) -> Conditions:
        filter_where(filter)  # also where there is no collection yet
        return cls(scope, _range(time_range), filter, _types(memory_type), standing)

    @property
    def limited(self) -> bool:
        where = filter_where(self.filter)  # None for a filter that every row fulfils
        return self.recorded is not None or bool(self.types) or where is not None

    def check_deleting(self, ids: Sequence[str] | None, everything: bool) -> None:
        """Refuse a deletion that is neither limited by more than the scope nor of everything."""
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

    def where(self, collection: Collection) -> Where | None:
        key = collection.fields.memory_type
        types = {key: {"$in": list(self.types)}} if self.types else None
        return collection.filter_where(Search("", 1, filter=joined(self.filter, types)))

    def admits(self, memory: Candidate) -> bool:
        """Whether scope, time and end admit a memory; the filter is for who has the row."""
        if not self.scope.holds(memory.scope) or not self.standing.counts(memory):
            return False
        moment, recorded = memory.created_at, self.recorded
        return recorded is None or (moment is not None and recorded.contains(moment))


def _range(time_range: RangeInput | None) -> TimeRange | None:
    if time_range is None or isinstance(time_range, TimeRange):
        return time_range
    if not isinstance(time_range, tuple) or len(time_range) != 2:
        raise ValueError(
            "time_range must be a TimeRange or (start, end), with None for an open end; got "
            f"{got(time_range)}"
        )
    start, end = (x if x is None else parse_time(x, name="time_range") for x in time_range)
    if start is None and end is None:
        raise ValueError("time_range needs a start or an end; got (None, None)")
    return TimeRange(start, end, "day", text="the range given")


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


def distinct_ids(ids: Sequence[str]) -> list[str]:
    """The ids, each of them once, in order; anything but a list of texts is refused."""
    if isinstance(ids, str):
        raise TypeError(f"expected a list of ids; got the text {got(ids)}: put it in a list")
    listed = [*ids] if isinstance(ids, Iterable) else [ids]
    for wrong in (each for each in listed if not isinstance(each, str)):
        raise TypeError(f"ids must be a list of texts; got {got(wrong)} ({type(wrong).__name__})")
    return list(dict.fromkeys(listed))


# -- the changes of `update` -----------------------------------------------------------------------

_FIELDS = {"text": "content", "timestamp": "created_at"}  # where a memory calls them otherwise
_OWNER = "the owner of a memory cannot be changed; add it anew. scope= says whose it is"


class MemoryChanges(TypedDict, total=False):
    """What `update` can change; what is left out stays as it is."""

    text: str
    metadata: Mapping[str, MetadataValue | None]  # other names stay; None takes a name out
    timestamp: TimeInput
    memory_type: str
    expires_at: TimeInput | None
    events: Sequence[TimeRange]
    author: str
    when_to_use: str
    quality: float | None


class Changes(Settings):
    public_name: ClassVar[str] = "update"
    elsewhere: ClassVar[Mapping[str, str]] = {
        "content": "here it is text",
        "created_at": "here it is timestamp",
        **dict.fromkeys(("user_id", "agent_id", "session_id", "workspace"), _OWNER),
    }

    text: Text = ""
    metadata: Mapping[str, object] = Field(default_factory=dict)
    timestamp: AwareTime = datetime.min.replace(
        tzinfo=UTC
    )  # never None: a stored memory always has one
    memory_type: str = ""
    expires_at: AwareTime | None = None
    events: tuple[TimeRange, ...] = ()
    author: str = ""
    when_to_use: str = ""
    quality: Share | None = None

    def made_to(self, memory: Candidate, zone: tzinfo | None, *, read_events: bool) -> Memory:
        """The memory as it is after the changes; with ``zone``, in which "today" is read.

        Its events are read again if its text or its time has changed, unless they are among the
        changes.
        """
        fields = vars(memory.memory())
        fields["created_at"] = memory.created_at and in_zone(memory.created_at, zone)
        for name in self.model_fields_set - {"metadata"}:
            fields[_FIELDS.get(name, name)] = getattr(self, name)
        metadata = {**fields["metadata"], **self.metadata}
        check_values(metadata)
        fields["metadata"] = {name: x for name, x in metadata.items() if x is not None}
        moved = (fields["content"], fields["created_at"]) != (memory.content, memory.created_at)
        if moved and read_events and "events" not in self.model_fields_set:
            del fields["events"]
        return Memory.model_validate(fields)
