"""A memory as flat metadata, and back: what documents and nodes both carry.

The steps of a score are written twice: flat, for whoever reads the metadata, and in one `Trace`,
which is all that our own code reads. Anybody can write a ``recall_similarity`` into metadata;
nobody writes a `Trace` but `marked_trace`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from numbers import Real
from typing import Self, cast

from recall_stages.core.candidate import Candidate, Note, Step, copied
from recall_stages.core.citation import Citation
from recall_stages.core.memory import SCORE_KEY, TRACE_PREFIX, MetadataValue, Scope
from recall_stages.timeline import TimeRange, parse_time
from recall_stages.timeline.interval import format_interval, parse_interval

TRACE = TRACE_PREFIX + "trace"
"""The key of the `Trace`."""

BESIDE_TEXT = frozenset({"said_before", "turn_before"})
"""What a turn of a conversation carries for the search, and a reader has no use for."""

_KNOWN = frozenset(
    {"memory_type", "created_at", "when_to_use", "author", "quality", "event_ranges"}
    | BESIDE_TEXT
    | {SCORE_KEY, *Scope.model_fields}
    # What a row of ours has besides, which a stock reader hands on.
    | {"created_day", "created_month", "event_start", "event_end", "list_values"}
)


def to_flat(memory: Candidate, timezone: tzinfo | None) -> dict[str, object]:
    """The memory's fields and its trace; times in ISO 8601 in a time zone, no nested values.

    Examples:
        >>> to_flat(Candidate(content="Tea.", author="Ann").scored(0.5, similarity=0.5), None)
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
    flat: dict[str, object] = {**copied(memory.metadata)}
    flat |= {name: text for name, text in fields.items() if text}
    if memory.quality is not None:
        flat["quality"] = memory.quality
    return flat | flat_trace(memory.trace)


class Trace(str):
    """The steps of a score on their way through metadata; as a text, the names of their values.

    It is known by its type. The framework's pieces copy it and hand it on. What comes out of JSON
    or a database is a plain text instead, and so is whatever stood in somebody's metadata: that
    is no trace.

    Attributes:
        steps: The steps.
        memories: For a text, the memories that it was made of, best first.
        citations: For a text, its sentences and what each rests on.
    """

    __slots__ = ("citations", "memories", "steps")

    steps: tuple[Step, ...]
    memories: tuple[Candidate, ...]
    citations: tuple[Citation, ...]

    @classmethod
    def of(
        cls,
        names: Iterable[str],
        steps: tuple[Step, ...] = (),
        memories: tuple[Candidate, ...] = (),
        citations: tuple[Citation, ...] = (),
    ) -> Self:
        """A trace to be put into metadata.

        Examples:
            >>> Trace.of(["similarity", "keyword"])
            'similarity, keyword'
        """
        trace = cls(", ".join(names))
        trace.steps, trace.memories, trace.citations = steps, memories, citations
        return trace


def flat_trace(trace: Mapping[str, Note]) -> dict[str, object]:
    """How a score came about: ``recall_similarity``, ``recall_time_ratio`` and so on."""
    return {TRACE_PREFIX + name: value for name, value in trace.items()}


def marked_trace(memory: Candidate) -> dict[str, object]:
    """The same of a candidate, and the `Trace` by which our own code knows its steps again."""
    if not memory.steps:
        return {}
    trace = memory.trace
    return {**flat_trace(trace), TRACE: Trace.of(trace, memory.steps)}


class FoundMetadata(dict[str, object]):
    """The metadata of a memory that was found: the same one whatever question found it.

    Two of these are equal when they are so without score and trace, so two LangChain documents of
    one memory are equal, and `MultiQueryRetriever` keeps one of them. Beside any other mapping it
    is a dict like all others.
    """

    def __eq__(self, other: object) -> bool:
        """Whether both are of one memory."""
        if isinstance(other, FoundMetadata):
            return _stored(self) == _stored(other)
        return super().__eq__(other)

    __hash__ = None  # as of every dict

    def __ne__(self, other: object) -> bool:
        return not self == other


def _stored(metadata: Mapping[str, object]) -> dict[str, object]:
    return {k: v for k, v in untraced(metadata).items() if k != SCORE_KEY}


def trace_in(metadata: Mapping[str, object]) -> Trace | None:
    """The trace that this library left in metadata; None where it left none.

    Examples:
        >>> fused = Candidate(content="Tea.").scored(0.5, similarity=0.5)
        >>> trace_in(marked_trace(fused)).steps == fused.steps
        True
        >>> trace_in({"recall_trace": "similarity"}) is None
        True
    """
    trace = metadata.get(TRACE)
    return trace if isinstance(trace, Trace) else None


def untraced(metadata: Mapping[str, object]) -> dict[str, object]:
    """Metadata without a trace, whoever left it there."""
    return {k: v for k, v in metadata.items() if not k.startswith(TRACE_PREFIX)}


def from_flat(  # noqa: PLR0913 - one argument for each thing a framework's object has
    content: str,
    metadata: Mapping[str, object],
    *,
    memory_id: str = "",
    score: object = None,
    timezone: tzinfo | None = None,
    source: object = None,
) -> Candidate:
    """Read a memory out of anybody's metadata; what cannot be read is taken as absent.

    So is a trace that is none of ours, and a score that is no finite number.

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
    trace = trace_in(flat)
    return Candidate(
        content=content,
        id=memory_id,
        memory_type=str(flat.get("memory_type", "")),
        created_at=_moment(flat.get("created_at"), timezone),
        events=_events(flat.get("event_ranges")),
        when_to_use=str(flat.get("when_to_use", "")),
        author=str(flat.get("author", "")),
        said_before=str(flat.get("said_before", "")),
        turn_before=str(flat.get("turn_before", "")),
        scope=Scope(**scope),
        metadata=cast(
            "dict[str, MetadataValue]", rest
        ),  # what it really is, `RecallStore.add` checks
        quality=float(quality) if isinstance(quality, int | float) else None,
        score=_finite(score),
        steps=trace.steps if trace else (),
        source=source,
    )


def scope_in(metadata: Mapping[str, object]) -> Scope:
    """Whose a memory is that is to be stored, by its flat metadata.

    Raises:
        ScopeError: When a field is there, and is empty or no text.
    """
    return Scope.model_validate({k: v for k, v in metadata.items() if k in Scope.model_fields})


def _finite(score: object) -> float | None:
    if not isinstance(score, Real) or isinstance(score, bool):
        return None
    return float(score) if math.isfinite(score) else None


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
