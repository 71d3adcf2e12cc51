"""A memory as a row of a collection, and back; and the memories of a call, checked.

Rows are neutral: bare text, flat metadata, no framework's bookkeeping. Times are whole epoch
milliseconds, because Chroma truncates fractions when it compares. The day is stored too, because
equality is fast in Chroma and ranges are slow.
"""

import json
import logging
import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Candidate, copied
from recall_retrievers.core.errors import MemoryFormatError, ScopeError
from recall_retrievers.core.memory import (
    SCORE_KEY,
    TRACE_PREFIX,
    Memory,
    MetadataValue,
    UnreadEvents,
    check_values,
)
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.scope import ANYBODY, Scope, with_scope
from recall_retrievers.core.settings_messages import got
from recall_retrievers.store.chroma.fields import (
    EARLIEST,
    EXPIRES_AT,
    LATEST,
    MAY_EXPIRE,
    NODE_SOURCE,
    OWN_FIELDS,
    SUPERSEDED_AT,
    SUPERSEDED_BY,
    SUPERSEDES,
    WRITTEN_AT,
    Fields,
    Row,
    day_of,
    event_hull,
    from_milliseconds,
    is_ours,
    new_id,
    read_time,
    to_milliseconds,
)
from recall_retrievers.store.chroma.framework_objects import (
    DocumentLike,
    NodeLike,
    is_document,
    is_node,
    stored_memory,
)
from recall_retrievers.store.chroma.search_text import READ_CHARACTERS
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.event_times import event_times
from recall_retrievers.timeline.parse_time import in_zone
from recall_retrievers.timeline.time_range import format_interval, parse_interval

_log = logging.getLogger(__name__)

# LlamaIndex's own keys: it drops or misreads a row whose metadata has them, and writes them into
# rows of its own, where they are of no use to a reader.
FRAMEWORK_KEYS = frozenset(
    {"_node_content", "_node_type", "document_id", "doc_id", "ref_doc_id"}
    | {"relationships", "node_info", "text"}
)

# The fields of a memory that are texts, times and owners, and the keys of a row beside them.
_TEXTS = ("memory_type", "when_to_use", "author", "said_before", "turn_before", SUPERSEDED_BY)
_TIMES = ("created_at", EXPIRES_AT, SUPERSEDED_AT)
_OWNERS = tuple(Scope.model_fields)
_EVENT_KEYS = frozenset({"event_start", "event_end", "event_ranges"})
OWN_KEYS = frozenset(
    {*_TEXTS, *_TIMES, *_OWNERS, *_EVENT_KEYS, "quality"}
    | {"created_day", "list_values", MAY_EXPIRE, WRITTEN_AT}
)
_CREATED_KEYS = frozenset({"created_at", "created_day"})
_SUPERSEDED_KEYS = frozenset({SUPERSEDED_BY, SUPERSEDED_AT, MAY_EXPIRE})
# Metadata with the name of a field belongs into the field.
FIELD_KEYS = OWN_KEYS & (Memory.model_fields.keys() | Scope.model_fields.keys())
_NOT_METADATA = OWN_KEYS | FRAMEWORK_KEYS | {SCORE_KEY}
_APART = "metadata."  # before a name of the user's that rows keep something else under
_REFUSED_KEY = re.compile(r"([#$].*|chroma:document)?", re.DOTALL)  # names Chroma does not take
_LLAMAINDEX = "_node_content"  # in every row that LlamaIndex writes


def row_key(name: str) -> str:
    """The key under which a row keeps metadata with this name.

    Examples:
        >>> row_key("topic"), row_key("document_id")
        ('topic', 'metadata.document_id')
    """
    taken = name in OWN_KEYS or name in FRAMEWORK_KEYS or name.startswith(_APART)
    return _APART + name if taken else name


def name_of(key: str) -> str:
    """The name of the metadata that a row keeps under this key; see `row_key`."""
    name = key.removeprefix(_APART)
    return name if row_key(name) == key else key


def to_metadata(memory: Memory | Candidate) -> dict[str, MetadataValue]:
    """The metadata of a memory's row; an error where Chroma would refuse it."""
    if memory.created_at is None:
        raise MemoryFormatError(f"memory {got(memory.id)} needs a created_at before it is stored")
    taken = [k for k in sorted(FIELD_KEYS & {*memory.metadata}) if _is_a_field(memory.metadata, k)]
    if taken:
        raise MemoryFormatError(
            f"metadata may not use the name{'s' * (len(taken) > 1)} {', '.join(taken)}: a memory "
            "has a field of that name; set the field, or rename the metadata"
        )
    # A copy: the caller may change the lists of his own mapping later.
    row = {row_key(name): value for name, value in copied(memory.metadata).items()}
    if lists := {key: value for key, value in row.items() if isinstance(value, list)}:
        row["list_values"] = json.dumps(lists, sort_keys=True)  # the order of Chroma is not ours
    texts = {name: str(getattr(memory, name)) for name in _TEXTS} | memory.scope.fields()
    row |= {name: text for name, text in texts.items() if text}
    times = {name: getattr(memory, name) for name in _TIMES}
    row |= {name: to_milliseconds(moment) for name, moment in times.items() if moment is not None}
    row["created_day"] = day_of(to_milliseconds(memory.created_at))
    if memory.ends_at is not None:
        row[MAY_EXPIRE] = True
    if memory.quality is not None:
        row["quality"] = memory.quality
    if memory.events:
        row |= event_hull(memory.events)
        row["event_ranges"] = " ".join(format_interval(each) for each in memory.events)
    _check_storable(memory.id, row)
    return row


def to_candidate(
    row_id: str,
    document: str | None,
    metadata: Mapping[str, MetadataValue] | None,
    fields: Fields = OWN_FIELDS,
) -> Candidate | None:
    """Read a row; None where it holds no text, which a collection of others may."""
    row = without_strays(dict(metadata or {}))
    content = document if fields.content is None else row.pop(fields.content, document)
    if not isinstance(content, str) or not content.strip():
        _log.debug("row %s holds no text and is passed over", row_id)
        return None
    return _read(row_id, content, row, fields)


def _read(
    row_id: str, content: str, row: Mapping[str, MetadataValue], fields: Fields = OWN_FIELDS
) -> Candidate:
    ours = is_ours(row)
    superseded = ours and SUPERSEDED_AT in row
    created, expires = row.get(fields.created_at), row.get(fields.expires_at)
    memory = Candidate(
        id=row_id,
        content=content,
        memory_type=_text(row, fields.memory_type),
        created_at=_moment(created) if ours else read_time(created, fields),
        events=_events(row_id, row),
        when_to_use=_text(row, "when_to_use"),
        author=_text(row, fields.author),
        said_before=_text(row, "said_before"),
        turn_before=_text(row, "turn_before"),
        scope=scope_of(*[_text(row, getattr(fields, name)) for name in _OWNERS]),
        quality=_quality(row.get("quality")),
        expires_at=_moment(expires) if ours else read_time(expires, fields),
        superseded_by=_text(row, SUPERSEDED_BY) if superseded else "",
        superseded_at=_moment(row[SUPERSEDED_AT]) if superseded else None,
        metadata={name_of(k): x for k, x in _metadata(row, _NOT_METADATA).items()} if ours else {},
    )
    return memory if ours else replace(memory, metadata=_metadata(row, _shown(row, memory)))


def _metadata(row: Mapping[str, MetadataValue], hidden: Container[str]) -> dict[str, MetadataValue]:
    # Others may have written anything; what looks like a trace of ours is none.
    return {k: x for k, x in row.items() if k not in hidden and not k.startswith(TRACE_PREFIX)}


def _is_a_field(metadata: Mapping[str, MetadataValue], name: str) -> bool:
    value = metadata[name]
    return _quality(value) is not None if name == "quality" else value != ""


@lru_cache(maxsize=1024)
def scope_of(*owners: str) -> Scope:
    values = zip(Scope.model_fields, owners, strict=True)
    return Scope.model_construct(None, **{name: value or None for name, value in values})


def without_strays(row: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
    """A row of ours without the lists that it was not written with.

    Chroma 1.5 keeps the lists of a deleted collection, and a new row in their place inherits
    them, such as somebody else's tags. So our rows hold their lists a second time, as text.
    """
    if "created_day" not in row or list not in map(type, row.values()):
        return row
    try:
        own: dict[str, MetadataValue] = dict(json.loads(str(row.get("list_values", "{}"))))
    except (ValueError, TypeError) as error:  # written by somebody else
        _log.debug("a row has lists that cannot be read: %s", error)
        own = {}
    return {key: value for key, value in row.items() if not isinstance(value, list)} | own


def _shown(row: Mapping[str, MetadataValue], memory: Candidate) -> Container[str]:
    """The keys of a row of others that are no metadata: a field of the memory has their name."""
    fields = (*_TEXTS, *_TIMES, "quality")
    read = {name for name in fields if getattr(memory, name) not in (None, "")}
    events = {"event_ranges"} if memory.events else set()
    hidden = {SCORE_KEY} | read | events | memory.scope.fields().keys()
    if _LLAMAINDEX in row:
        origin = row.get(NODE_SOURCE, "None")  # it writes "None" for a node without one
        hidden |= FRAMEWORK_KEYS if origin == "None" else FRAMEWORK_KEYS - {NODE_SOURCE}
    return hidden


def _text(row: Mapping[str, MetadataValue], key: str) -> str:
    value = row.get(key)
    return "" if value is None else str(value)


# Others may have anything under our names: it is then no time, no event, no quality of ours.


def _moment(value: MetadataValue | None) -> datetime | None:
    if not isinstance(value, int) or isinstance(value, bool) or not EARLIEST <= value <= LATEST:
        return None
    return from_milliseconds(value)


def _events(row_id: str, row: Mapping[str, MetadataValue]) -> tuple[TimeRange, ...]:
    text = row.get("event_ranges")
    try:
        return tuple(parse_interval(each) for each in text.split()) if isinstance(text, str) else ()
    except ValueError as error:
        _log.debug("row %s has events that cannot be read: %s", row_id, error)
        return ()


def _quality(value: MetadataValue | None) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return None


def _check_storable(memory_id: str, row: Mapping[str, MetadataValue]) -> None:
    """Refuse what Chroma would refuse later, when some of the memories are stored already."""
    check_values(row)
    for key, value in row.items():
        if _REFUSED_KEY.fullmatch(key):
            raise MemoryFormatError(
                f"metadata cannot have the name {got(key)}: Chroma takes no empty name, none that "
                "begins with # or $, and not chroma:document; rename it"
            )
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str | int | float) for part in parts):
            raise MemoryFormatError(  # a mapping can change after its memory was checked
                f"metadata {got(key)} must be text, a number, a boolean or a list of one of these; "
                f"got {got(value)}"
            )
        for text in (memory_id, key, *(part for part in parts if isinstance(part, str))):
            if not text.isascii() and text != text.encode("utf-8", "replace").decode("utf-8"):
                raise MemoryFormatError(
                    f"{got(text)} cannot be stored: it holds half a character (a lone surrogate); "
                    "decode the text anew, or cut it elsewhere"
                )


# -- the memories of one call --------------------------------------------------------------------

MemoryInput = Memory | Mapping[str, object] | str | DocumentLike | NodeLike

ANY_ROW: Final[Row] = ("", None, None)  # stands for whatever is there


@dataclass(frozen=True, slots=True)
class Ready:
    memory: Candidate  # as its row returns it, with an id and a time
    metadata: dict[str, MetadataValue]
    is_new: bool  # whether its id was made in this call, so that no row can have it yet
    made_now: frozenset[str] = frozenset()  # keys that come from the clock, not from the caller
    guard: Scope = ANYBODY  # the scope in which a row must be that it replaces
    before: Row | None = ANY_ROW  # the row that it replaces, as it was read; None = there was none
    vector: NDArray[np.float32] | None = None  # None = its text is embedded

    def is_stored_as(
        self, document: str | None = None, metadata: Mapping[str, MetadataValue] | None = None
    ) -> bool:
        """Whether a row holds this memory already; a row without a text never does.

        Keys that come from the clock are not compared: a memory that is added again without a time
        keeps its first one, and what supersedes it.
        """
        if document != self.memory.content or metadata is None:
            return False
        ignored = self.made_now | {WRITTEN_AT, SUPERSEDES}
        ignored |= set() if SUPERSEDED_AT in self.metadata else _SUPERSEDED_KEYS
        old, new = (
            {key: value for key, value in each.items() if key not in ignored}
            for each in (without_strays(dict(metadata)), self.metadata)
        )
        return old == new


def make_ready(  # noqa: PLR0913 - the settings of a store, each by name
    memories: Iterable[MemoryInput],
    clock: Callable[[], datetime],
    *,
    read_events: bool,
    timezone: tzinfo | None = None,
    within: Scope = ANYBODY,
    progress: bool = False,
) -> list[Ready]:
    """Check all memories, and give an id and a time to those that have none.

    Fields of the scope ``within`` that a memory does not set are filled in. With ``read_events``
    the events of a memory are read from its text, unless it names them itself; an empty list says
    that there are none. They are read in the time zone of its writers: None = that of its time.
    """
    if isinstance(memories, str | Mapping | Memory) or is_document(memories) or is_node(memories):
        raise MemoryFormatError(
            f"add takes a list of memories; got one {type(memories).__name__}: put it in a list"
        )
    ready: dict[str, Ready] = {}
    shown = progress_bar(memories, desc="reading", unit="memories", wanted=progress)
    for memory in (filled_in(as_memory(each), within) for each in shown):
        made_now = frozenset[str]() if memory.created_at else _CREATED_KEYS
        created_at = memory.created_at or clock()
        memory_id = memory.id or new_id(created_at)
        if memory_id in ready:
            raise MemoryFormatError(
                f"two memories of one call have the id {got(memory_id)}; give each its own"
            )
        events = memory.events
        if read_events and isinstance(events, UnreadEvents):
            written_at = created_at if timezone is None else in_zone(created_at, timezone)
            events = event_times(memory.content[:READ_CHARACTERS], written_at)
            made_now |= _EVENT_KEYS if made_now else frozenset()
        own = {"id": memory_id, "created_at": created_at, "events": events}
        row = to_metadata(memory.model_copy(update=own))
        stored = _read(memory_id, memory.content, without_strays(row))
        ready[memory_id] = Ready(stored, row, not memory.id, made_now)
    return list(ready.values())


def filled_in(memory: Memory, within: Scope) -> Memory:
    """A memory in a scope; fields that it does not set are filled in."""
    if within.holds(memory.scope):
        return memory
    return memory.model_copy(update={"scope": within.narrow(memory.scope)})


def id_is_taken(row_id: str, scope: Scope) -> ScopeError:
    return ScopeError(
        f"a memory with the id {got(row_id)} is there already, outside the scope "
        f"{got(scope.fields())}; give the new one another id"
    )


def as_memory(source: MemoryInput) -> Memory:
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
        named = ", ".join(f"{got(name)}: ..." for name in own[:10])
        hint = f". A name of your own goes into metadata: metadata={{{named}}}" if own else ""
        raise MemoryFormatError(f"not a memory that can be stored: {error}{hint}") from error
