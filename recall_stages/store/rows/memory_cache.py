"""Memories as they stand in the collection: Chroma takes 0.1 ms to hand one over, this 0.003."""

from __future__ import annotations

import marshal

from recall_stages.core.memory import Memory, Scope
from recall_stages.store.chroma.epoch import from_milliseconds, to_milliseconds
from recall_stages.store.chroma.rows import scope_of
from recall_stages.timeline.interval import format_interval, parse_interval

_MOST = 256_000_000  # bytes: 700,000 memories of a sentence; further ones are read from Chroma
_FIELDS = set(Memory.model_fields)
_OWNERS = tuple(Scope.model_fields)


class KeptMemories:
    """Memories by their place in the `Roster`, written down: a third of the room."""

    def __init__(self) -> None:
        self._written: dict[int, bytes] = {}
        self._size = 0

    def keep(self, place: int, memory: Memory) -> None:
        """Keep a memory, in place of what was there, as long as there is room."""
        self.forget(place)
        written = _write(memory)
        if self._size + len(written) <= _MOST:
            self._written[place] = written
            self._size += len(written)

    def forget(self, place: int) -> None:
        """The row at a place is gone."""
        self._size -= len(self._written.pop(place, b""))

    def get(self, place: int) -> Memory | None:
        """The memory at a place; None where it is not kept."""
        written = self._written.get(place)
        return None if written is None else _read(written)


def _write(memory: Memory) -> bytes:
    created = memory.created_at
    # Read again by this process alone, which is what marshal is for. Named one by one it
    # takes two thirds of the time of JSON, or of a loop over the names; a question reads a hundred.
    return marshal.dumps(
        (
            memory.content,
            memory.id,
            memory.memory_type,
            None if created is None else to_milliseconds(created),
            [format_interval(each) for each in memory.events],
            memory.when_to_use,
            memory.author,
            memory.said_before,
            memory.turn_before,
            [getattr(memory.scope, name) or "" for name in _OWNERS],
            memory.metadata,
            memory.quality,
        )
    )


def _read(written: bytes) -> Memory:
    (
        content,
        row_id,
        memory_type,
        created,
        events,
        when_to_use,
        author,
        said_before,
        turn_before,
        owners,
        metadata,
        quality,
    ) = marshal.loads(written)  # noqa: S302 - written above
    values: dict[str, object] = {
        "content": content,
        "id": row_id,
        "memory_type": memory_type,
        "created_at": None if created is None else from_milliseconds(created),
        "events": tuple([parse_interval(each) for each in events]) if events else (),
        "when_to_use": when_to_use,
        "author": author,
        "said_before": said_before,
        "turn_before": turn_before,
        "scope": scope_of(*owners),
        "metadata": metadata,
        "quality": quality,
        "score": None,
        "trace": {},
        "source": None,
    }
    return Memory.trusted(values, _FIELDS)
