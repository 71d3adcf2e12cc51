"""The memories of one call, all checked before the first of them is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import MemoryFormatError, ScopeError
from recall_retrievers.core.memory import Memory, MetadataValue, UnreadEvents
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import ANYBODY, Scope, with_scope
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.epoch import new_id
from recall_retrievers.store.chroma.framework_objects import (
    DocumentLike,
    NodeLike,
    is_document,
    is_node,
    stored_memory,
)
from recall_retrievers.store.chroma.row_fields import (
    CREATED_KEYS,
    EVENT_KEYS,
    KEYWORD_VECTOR,
    WRITTEN_AT,
)
from recall_retrievers.store.chroma.rows import as_stored, to_metadata, without_strays
from recall_retrievers.store.chroma.search_text import READ_CHARACTERS
from recall_retrievers.timeline.event_times import event_times

MemoryInput = Memory | Mapping[str, object] | str | DocumentLike | NodeLike


@dataclass(frozen=True, slots=True)
class Ready:
    """A memory that can be written."""

    memory: Candidate  # as its row returns it, with an id and a time
    metadata: dict[str, MetadataValue]
    is_new: bool  # whether its id was made in this call, so that no row can have it yet
    made_now: frozenset[str] = frozenset()  # keys that come from the clock, not from the caller
    guard: Scope = ANYBODY  # the scope in which a row must be that it replaces

    def may_replace(self, metadata: Mapping[str, MetadataValue]) -> bool:
        """Whether it may take the place of a row with this metadata."""
        return self.guard.fields().items() <= metadata.items()

    def is_stored_as(
        self, document: str | None = None, metadata: Mapping[str, MetadataValue] | None = None
    ) -> bool:
        """Whether a row holds this memory already; a row without a text never does.

        Keys that come from the clock are not compared: a memory that is added again without a time
        keeps its first one.
        """
        if document != self.memory.content or metadata is None:
            return False
        ignored = self.made_now | {WRITTEN_AT, KEYWORD_VECTOR}
        old, new = (
            {key: value for key, value in each.items() if key not in ignored}
            for each in (without_strays(dict(metadata)), self.metadata)
        )
        return old == new


def make_ready(
    memories: Iterable[MemoryInput],
    clock: Callable[[], datetime],
    *,
    read_events: bool,
    within: Scope = ANYBODY,
    progress: bool = False,
) -> list[Ready]:
    """Check all memories, and give an id and a time to those that have none.

    Args:
        memories: The memories as the caller passes them.
        clock: Gives the time of a memory that has none.
        read_events: Whether to read the events of a memory from its text, unless it names them
            itself; an empty list says that there are none.
        within: The scope of all of them; fields that a memory does not set are filled in.
        progress: Show a progress bar on standard error if it is a terminal.

    Raises:
        MemoryFormatError: When a memory cannot be stored, or two memories have one id.
        ScopeError: When a memory has another scope.
    """
    if isinstance(memories, str | Mapping | Memory) or is_document(memories) or is_node(memories):
        raise MemoryFormatError(
            f"add takes a list of memories; got one {type(memories).__name__}: put it in a list"
        )
    ready: dict[str, Ready] = {}
    shown = progress_bar(memories, desc="reading", unit="memories", wanted=progress)
    for memory in (filled_in(_as_memory(each), within) for each in shown):
        made_now = frozenset[str]() if memory.created_at else CREATED_KEYS
        created_at = memory.created_at or clock()
        memory_id = memory.id or new_id(created_at)
        if memory_id in ready:
            raise MemoryFormatError(
                f"two memories of one call have the id {got(memory_id)}; give each its own"
            )
        events = memory.events
        if read_events and isinstance(events, UnreadEvents):
            events = event_times(memory.content[:READ_CHARACTERS], created_at)
            made_now |= EVENT_KEYS if made_now else frozenset()
        whole = as_stored(memory, memory_id, created_at, events)
        ready[memory_id] = Ready(whole, to_metadata(whole), not memory.id, made_now)
    return list(ready.values())


def distinct_ids(ids: Sequence[str]) -> list[str]:
    """The ids, each of them once, in order.

    Raises:
        TypeError: When they are not a list of texts.
    """
    if isinstance(ids, str):
        raise TypeError(f"expected a list of ids; got the text {got(ids)}: put it in a list")
    if not isinstance(ids, Iterable):
        raise TypeError(f"ids must be a list of texts; got {got(ids)} ({type(ids).__name__})")
    listed = list(ids)
    for row_id in listed:
        if not isinstance(row_id, str):
            raise TypeError(
                f"ids must be a list of texts; got {got(row_id)} ({type(row_id).__name__})"
            )
    return list(dict.fromkeys(listed))


def filled_in(memory: Memory, within: Scope) -> Memory:
    """A memory in a scope; fields that it does not set are filled in.

    Raises:
        ScopeError: When it has another scope.
    """
    if within.holds(memory.scope):
        return memory
    return memory.model_copy(update={"scope": within.narrow(memory.scope)})


def id_is_taken(row_id: str, scope: Scope) -> ScopeError:
    """The error for a memory that would replace one outside a scope."""
    return ScopeError(
        f"a memory with the id {got(row_id)} is there already, outside the scope "
        f"{got(scope.fields())}; give the new one another id"
    )


def _as_memory(source: MemoryInput) -> Memory:
    if isinstance(source, Memory):
        return source
    if not isinstance(source, str | Mapping):
        if is_document(source) or is_node(source):
            return stored_memory(source)
        raise MemoryFormatError(
            "a memory is a Memory, a mapping of its fields, a text, a document of LangChain or a "
            f"node of LlamaIndex; got {type(source).__name__}"
        )
    fields = {"content": source} if isinstance(source, str) else with_scope(source)
    try:
        return Memory.model_validate(fields)
    except (ValueError, TypeError) as error:  # pydantic lets a validator's TypeError through
        own = [str(name) for name in fields if name not in Memory.model_fields]
        named = ", ".join(f"{got(name)}: ..." for name in own)
        hint = f". A name of your own goes into metadata: metadata={{{named}}}" if own else ""
        raise MemoryFormatError(f"not a memory that can be stored: {error}{hint}") from error
