"""A memory as the flat metadata of documents and nodes, and back.

The steps of a score are written twice: as flat values for people, and as one `Trace` for our own
code. Anybody can write a ``recall_similarity`` into metadata, so our code reads the `Trace` alone.
Only `marked_trace` and `flat_sources` write one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from numbers import Real
from typing import Self, cast

from recall_retrievers.core.candidate import Candidate, Note, Step, copied
from recall_retrievers.core.citation import Citation
from recall_retrievers.core.memory import SCORE_KEY, TRACE_PREFIX, MetadataValue
from recall_retrievers.core.scope import Scope
from recall_retrievers.timeline import TimeRange, parse_time
from recall_retrievers.timeline.parse_time import in_zone
from recall_retrievers.timeline.wording import format_interval, parse_interval
from recall_retrievers.timeline.written_time import written_time

TRACE = TRACE_PREFIX + "trace"
"""The key of the `Trace`."""

BESIDE_TEXT = frozenset({"said_before", "turn_before"})
"""The fields of a turn that serve the search only; a reader has no use for them."""

_TEXTS = ("when_to_use", "author", "said_before", "turn_before")

DOCUMENT_FIELDS = "document_fields"
"""The metadata key that names the fields which a document of a vector store had."""

_BOOKKEEPING = ("langgraph_", DOCUMENT_FIELDS)

_KNOWN = frozenset(
    {"memory_type", "created_at", "expires_at", "when_to_use", "author", "quality", "event_ranges"}
    | BESIDE_TEXT
    | {SCORE_KEY, *Scope.model_fields}
    # Further keys of our rows, which the framework's own stores pass on.
    | {"created_day", "created_month", "event_start", "event_end", "list_values", "may_expire"}
)


def is_bookkeeping(key: str) -> bool:
    """Whether a metadata key serves a framework's own store; a reader has no use for it.

    Examples:
        >>> [is_bookkeeping(key) for key in ("langgraph_key", "document_fields", "topic")]
        [True, True, False]
    """
    return key.startswith(_BOOKKEEPING)


def to_flat(memory: Candidate, timezone: tzinfo | None) -> dict[str, object]:
    """The fields and the trace of a memory; times in ISO 8601 in a time zone, no nested values.

    Examples:
        >>> to_flat(Candidate(content="Tea.", author="Ann").scored(0.5, similarity=0.5), None)
        {'memory_type': 'observation', 'author': 'Ann', 'recall_similarity': 0.5}
    """
    return stored_fields(memory, timezone) | flat_trace(memory.trace)


def stored_fields(memory: Candidate, timezone: tzinfo | None) -> dict[str, object]:
    """The same without the trace."""
    flat: dict[str, object] = {**copied(memory.metadata), "memory_type": memory.memory_type}
    if memory.created_at:
        flat["created_at"] = in_zone(memory.created_at, timezone).isoformat()
    for name in _TEXTS:
        if text := getattr(memory, name):
            flat[name] = text
    flat |= memory.scope.fields()
    if memory.events:
        flat["event_ranges"] = " ".join(map(format_interval, memory.events))
    if memory.expires_at:
        flat["expires_at"] = in_zone(memory.expires_at, timezone).isoformat()
    if memory.quality is not None:
        flat["quality"] = memory.quality
    return flat


class Trace(str):
    """The steps of a score on their way through metadata; as a text, the names of their values.

    Our code recognises a trace by this type. The framework's components copy it and pass it on.
    JSON and databases turn it into a plain text, and anybody can write a plain text. So a plain
    text is no trace.

    Attributes:
        steps: The steps.
        memories: For a text, the memories it was made of, best first.
        citations: For a text, its sentences with their sources.
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
        """Make a trace for metadata.

        Examples:
            >>> Trace.of(["similarity", "keyword"])
            'similarity, keyword'
        """
        trace = cls(", ".join(names))
        trace.steps, trace.memories, trace.citations = steps, memories, citations
        return trace


def flat_trace(trace: Mapping[str, Note]) -> dict[str, object]:
    """The trace as flat values: ``recall_similarity``, ``recall_time_ratio`` and so on."""
    return {TRACE_PREFIX + name: value for name, value in trace.items()}


def marked_trace(memory: Candidate) -> dict[str, object]:
    """The flat trace of a candidate, with the `Trace` from which our code reads the steps."""
    if not memory.steps:
        return {}
    trace = memory.trace
    flat = flat_trace(trace)
    flat[TRACE] = Trace.of(trace, memory.steps)
    return flat


class FoundMetadata(dict[str, object]):
    """The metadata of a result: equal for one memory, whatever the question was.

    The comparison of two of these ignores score and trace. So two LangChain documents of one memory
    are equal, and `MultiQueryRetriever` returns one of them. The comparison with any other mapping
    is that of a dict.
    """

    def __eq__(self, other: object) -> bool:
        """Whether both belong to the same memory."""
        if isinstance(other, FoundMetadata):
            return _stored(self) == _stored(other)
        return super().__eq__(other)

    __hash__ = None  # as of every dict

    def __ne__(self, other: object) -> bool:
        return not self == other


def _stored(metadata: Mapping[str, object]) -> dict[str, object]:
    return {k: v for k, v in untraced(metadata).items() if k != SCORE_KEY}


def trace_in(metadata: Mapping[str, object]) -> Trace | None:
    """The trace that this library wrote into metadata; None if there is none.

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
    """Metadata without a trace, whoever wrote it."""
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
    """Read a memory from any metadata. A value that cannot be read counts as absent.

    A trace that this library did not write counts as absent too, and a score that is not finite.

    Args:
        content: The text. It may be empty here; a stored memory needs a text.
        metadata: The metadata. Nested values are passed on; `RecallStore.add` refuses them.
        memory_id: The id, if there is one.
        score: The relevance score, if there is one; higher is better.
        timezone: The zone for times without a zone; None = the zone of the machine.
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
        # Not checked here: `RecallStore.add` checks the values.
        metadata=cast("dict[str, MetadataValue]", rest),
        quality=float(quality) if isinstance(quality, int | float) else None,
        expires_at=_moment(flat.get("expires_at"), timezone),
        score=_finite(score),
        steps=trace.steps if trace else (),
        source=source,
    )


def scope_in(metadata: Mapping[str, object]) -> Scope:
    """The scope in the flat metadata of a memory that is to be stored.

    Raises:
        ScopeError: When a field is empty, or not a text.
    """
    return Scope.model_validate({k: v for k, v in metadata.items() if k in Scope.model_fields})


def _finite(score: object) -> float | None:
    if not isinstance(score, Real) or isinstance(score, bool):
        return None
    return float(score) if math.isfinite(score) else None


def _moment(value: object, timezone: tzinfo | None) -> datetime | None:
    if not isinstance(value, int | float | str | datetime) or value == "":
        return None
    if not isinstance(value, datetime):
        return written_time(value, timezone)  # None for another form: the memory has no time
    return parse_time(value, timezone)


def _events(text: object) -> tuple[TimeRange, ...]:
    if not isinstance(text, str):
        return ()
    try:
        return tuple(parse_interval(interval) for interval in text.split())
    except ValueError:
        return ()
