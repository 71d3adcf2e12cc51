"""A memory as flat metadata, and back: what documents and nodes both carry."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from numbers import Real
from typing import cast

from recall_stages.memory import Memory, MetadataValue, Scope
from recall_stages.timeline import TimeRange, parse_time
from recall_stages.timeline.interval import format_interval, parse_interval

TRACE_PREFIX = "recall_"

BESIDE_TEXT = frozenset({"said_before", "turn_before"})
"""What a turn of a conversation carries for the search, and a reader has no use for."""

_KNOWN = frozenset(
    {"memory_type", "created_at", "when_to_use", "author", "quality", "event_ranges"}
    | BESIDE_TEXT
    | {"relevance_score", *Scope.model_fields}
    # What a row of ours has besides, which a stock reader hands on.
    | {"created_day", "created_month", "event_start", "event_end", "list_values"}
)


def to_flat(memory: Memory, timezone: tzinfo | None) -> dict[str, object]:
    """The memory's fields and its trace; times in ISO 8601 in a time zone, no nested values.

    Examples:
        >>> to_flat(Memory(content="Tea.", author="Ann").scored(0.5, similarity=0.5), None)
        {'memory_type': 'observation', 'author': 'Ann', 'recall_similarity': 0.5}
    """
    created_at = memory.created_at.astimezone(timezone).isoformat() if memory.created_at else ""
    fields = {
        "memory_type": memory.memory_type,
        "created_at": created_at,
        "when_to_use": memory.when_to_use,
        "author": memory.author,
        "said_before": memory.said_before,
        "turn_before": memory.turn_before,
        **memory.scope.fields(),
        "event_ranges": " ".join(format_interval(event) for event in memory.events),
    }
    flat: dict[str, object] = {**memory.metadata, **{k: text for k, text in fields.items() if text}}
    if memory.quality is not None:
        flat["quality"] = memory.quality
    return flat | flat_trace(memory)


def flat_trace(memory: Memory) -> dict[str, object]:
    """How the score came about: ``recall_similarity``, ``recall_time_ratio`` and so on."""
    return {TRACE_PREFIX + name: value for name, value in memory.trace.items()}


def untraced(metadata: Mapping[str, object]) -> dict[str, object]:
    """Metadata without the trace that an earlier step left in it."""
    return {k: v for k, v in metadata.items() if not k.startswith(TRACE_PREFIX)}


def from_flat(  # noqa: PLR0913 - one argument for each thing a framework's object has
    content: str,
    metadata: Mapping[str, object],
    *,
    memory_id: str = "",
    score: object = None,
    timezone: tzinfo | None = None,
    source: object = None,
) -> Memory:
    """Read a memory out of anybody's metadata; what cannot be read is taken as absent.

    Args:
        content: The text; may be empty, which a stored memory's may not.
        metadata: Flat or not; `RecallStore.add` refuses what is not.
        memory_id: The id, where it has one.
        score: A relevance score, higher is better, where it has one.
        timezone: The zone in which a time without one is read; None = the machine's.
        source: The framework's own object.
    """
    flat = dict(metadata)
    rest = {k: v for k, v in untraced(flat).items() if k not in _KNOWN}
    quality = flat.get("quality")
    scope = {name: str(flat[name]) for name in Scope.model_fields if flat.get(name)}
    trace = {
        name.removeprefix(TRACE_PREFIX): value if isinstance(value, str) else float(value)
        for name, value in flat.items()
        if name.startswith(TRACE_PREFIX) and isinstance(value, str | Real)
    }
    events = _events(flat.get("event_ranges"))
    memory = Memory.model_construct(
        content=content,
        id=memory_id,
        memory_type=str(flat.get("memory_type", "")),
        created_at=_moment(flat.get("created_at"), timezone),
        when_to_use=str(flat.get("when_to_use", "")),
        author=str(flat.get("author", "")),
        said_before=str(flat.get("said_before", "")),
        turn_before=str(flat.get("turn_before", "")),
        scope=Scope(**scope),
        metadata=cast(
            "dict[str, MetadataValue]", rest
        ),  # what it really is, `RecallStore.add` checks
        quality=float(quality) if isinstance(quality, int | float) else None,
        score=float(score) if isinstance(score, Real) and not isinstance(score, bool) else None,
        trace=trace,
        source=source,
    )
    # What names no events does not say that there are none: they are read when it is stored.
    return memory.model_copy(update={"events": events}) if events else memory


def _moment(value: object, timezone: tzinfo | None) -> datetime | None:
    if not isinstance(value, int | float | str | datetime) or value == "":
        return None
    try:
        return parse_time(value, timezone)
    except (TypeError, ValueError):  # some other retriever's idea of a time: it is undated
        return None


def _events(text: object) -> tuple[TimeRange, ...]:
    if not isinstance(text, str):
        return ()
    try:
        return tuple(parse_interval(interval) for interval in text.split())
    except ValueError:
        return ()
