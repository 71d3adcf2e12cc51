"""What a caller hands over to be stored, made ready as a whole before any of it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recall_stages.core.errors import MemoryFormatError
from recall_stages.core.memory import Memory, MetadataValue, UnreadEvents, with_scope
from recall_stages.core.progress import progress_bar
from recall_stages.store.chroma.epoch import new_id
from recall_stages.store.chroma.row_fields import CREATED_KEYS, EVENT_KEYS, WRITTEN_AT
from recall_stages.store.chroma.rows import as_stored, to_metadata, without_strays
from recall_stages.store.chroma.search_text import READ_CHARACTERS
from recall_stages.timeline.event_times import event_times

MemoryInput = Memory | Mapping[str, object] | str

# How a document of LangChain's and a node of LlamaIndex's are known, and what stores them.
_METHODS = {"page_content": "add_documents", "node_id": "add_nodes"}


@dataclass(frozen=True, slots=True)
class Ready:
    """A memory that can be written.

    Attributes:
        memory: The memory as its row returns it, with an id and a time.
        metadata: The metadata of its row.
        is_new: Whether its id was made just now, so that no row can have it yet.
        made_now: The keys of its metadata that the clock has filled, not the caller.
    """

    memory: Memory
    metadata: dict[str, MetadataValue]
    is_new: bool
    made_now: frozenset[str] = frozenset()

    def is_stored_as(
        self, document: str | None = None, metadata: Mapping[str, MetadataValue] | None = None
    ) -> bool:
        """Whether a row holds this memory already; a row without a text never does.

        What the clock has filled is not compared: a memory that comes again without a time keeps
        the one it was first stored with.
        """
        if document != self.memory.content or metadata is None:
            return False
        ignored = self.made_now | {WRITTEN_AT}
        old, new = (
            {key: value for key, value in each.items() if key not in ignored}
            for each in (without_strays(dict(metadata)), self.metadata)
        )
        return old == new


def make_ready(
    given: Iterable[MemoryInput],
    clock: Callable[[], datetime],
    *,
    read_events: bool,
    progress: bool = False,
) -> list[Ready]:
    """Check everything that is to be stored, and give ids and times to what has none.

    Args:
        given: What the caller hands over.
        clock: What tells the time of a memory that comes without one.
        read_events: Whether to read the events of a memory from its text, where it does not say
            what they are; one that says it has none, has none.
        progress: Show a progress bar on standard error, where that is a terminal.

    Raises:
        MemoryFormatError: When anything of it cannot be stored, or two memories have one id.
    """
    if isinstance(given, str | Mapping | Memory):
        raise MemoryFormatError(
            f"add takes a list of memories; got one {type(given).__name__}: put it in a list"
        )
    ready: dict[str, Ready] = {}
    shown = progress_bar(given, desc="reading", unit="memories", wanted=progress)
    for memory in map(_as_memory, shown):
        made_now = frozenset[str]() if memory.created_at else CREATED_KEYS
        created_at = memory.created_at or clock()
        memory_id = memory.id or new_id(created_at)
        if memory_id in ready:
            raise MemoryFormatError(
                f"two memories of one call have the id {memory_id!r}; give each its own"
            )
        events = memory.events
        if read_events and isinstance(events, UnreadEvents):
            events = event_times(memory.content[:READ_CHARACTERS], created_at)
            made_now |= EVENT_KEYS if made_now else frozenset()
        whole = as_stored(memory, memory_id, created_at, events)
        ready[memory_id] = Ready(whole, to_metadata(whole), not memory.id, made_now)
    return list(ready.values())


def distinct_ids(ids: Sequence[str]) -> list[str]:
    """Each id once, in order.

    Raises:
        TypeError: When they are no texts, or one text alone.
    """
    if isinstance(ids, str):
        raise TypeError(f"expected a list of ids; got the text {ids!r}: put it in a list")
    if not isinstance(ids, Iterable):
        raise TypeError(f"ids must be a list of texts; got {ids!r} ({type(ids).__name__})")
    given = list(ids)
    for each in given:
        if not isinstance(each, str):
            raise TypeError(f"ids must be a list of texts; got {each!r} ({type(each).__name__})")
    return list(dict.fromkeys(given))


def _as_memory(given: MemoryInput) -> Memory:
    if not isinstance(given, str | Mapping | Memory):
        method = next((_METHODS[name] for name in _METHODS if hasattr(given, name)), "")
        hint = f": store it with retriever.{method}([...])" if method else ""
        raise MemoryFormatError(
            "a memory is a Memory, a mapping of its fields or a text; got "
            f"{type(given).__name__}{hint}"
        )
    if isinstance(given, Memory):
        return given
    fields = {"content": given} if isinstance(given, str) else with_scope(given)
    try:
        return Memory.model_validate(fields)
    except (ValueError, TypeError) as error:  # pydantic lets a validator's TypeError through
        raise MemoryFormatError(f"not a memory that can be stored: {error}") from error
