"""The place of a memory in a listing: where the next page begins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Self

from recall_stages.core.candidate import Candidate
from recall_stages.core.clock import TimeInput
from recall_stages.core.memory import Memory
from recall_stages.store.chroma.epoch import EARLIEST, to_milliseconds
from recall_stages.timeline import parse_time

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
        if self.timestamp is None:
            return UNDATED, self.id
        return to_milliseconds(self.timestamp), self.id


def place_of(memory: Candidate) -> tuple[int, str]:
    """The place of a memory as a value that sorts, the oldest first."""
    created = memory.created_at
    return UNDATED if created is None else to_milliseconds(created), memory.id
