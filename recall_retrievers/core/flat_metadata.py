"""A memory as the flat metadata of documents and nodes, and back.

The steps of a score are written twice: as flat values for people, and as one `Trace` for our own
code. Anybody can write a ``recall_similarity`` into metadata, so our code reads the `Trace` alone.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime, tzinfo
from numbers import Real
from typing import Any, Protocol, Self

from recall_retrievers.core.candidate import Candidate, Note, Step, copied
from recall_retrievers.core.memory import SCORE_KEY, TRACE_PREFIX
from recall_retrievers.core.query import OUTCOME, Citation, Recall
from recall_retrievers.core.scope import Scope
from recall_retrievers.timeline import TimeRange, parse_time
from recall_retrievers.timeline.parse_time import in_zone
from recall_retrievers.timeline.time_range import format_interval, parse_interval
from recall_retrievers.timeline.written_time import written_time

TRACE = TRACE_PREFIX + "trace"  # the key of the `Trace`
BESIDE_TEXT = frozenset({"said_before", "turn_before"})
"""The fields of a turn that serve the search only; a reader has no use for them."""

_TEXTS = ("when_to_use", "author", "said_before", "turn_before", "superseded_by")
_TIMES = ("created_at", "expires_at", "superseded_at")

DOCUMENT_FIELDS = "document_fields"  # names the fields which a document of a vector store had

_BOOKKEEPING = ("langgraph_", DOCUMENT_FIELDS)

_KNOWN = frozenset(
    {"memory_type", "created_at", "expires_at", "when_to_use", "author", "quality", "event_ranges"}
    | {"superseded_by", "superseded_at"}
    | BESIDE_TEXT
    | {SCORE_KEY, *Scope.model_fields}
    # Further keys of our rows, which the framework's own stores pass on.
    | {"created_day", "event_start", "event_end", "list_values", "may_expire"}
)


def is_bookkeeping(key: str) -> bool:
    """Whether a metadata key serves a framework's own store; a reader has no use for it."""
    return key.startswith(_BOOKKEEPING)


def to_flat(memory: Candidate, timezone: tzinfo | None) -> dict[str, object]:
    """The fields and the trace of a memory; times in ISO 8601 in a time zone, no nested values."""
    return stored_fields(memory, timezone) | _flat(memory.trace)


def stored_fields(memory: Candidate, timezone: tzinfo | None) -> dict[str, object]:
    flat: dict[str, object] = {**copied(memory.metadata), "memory_type": memory.memory_type}
    if memory.created_at:
        flat["created_at"] = in_zone(memory.created_at, timezone).isoformat()
    for name in _TEXTS:
        if text := getattr(memory, name):
            flat[name] = text
    flat |= memory.scope.fields()
    if memory.events:
        flat["event_ranges"] = " ".join(map(format_interval, memory.events))
    for name in ("expires_at", "superseded_at"):
        if moment := getattr(memory, name):
            flat[name] = in_zone(moment, timezone).isoformat()
    if memory.quality is not None:
        flat["quality"] = memory.quality
    return flat


class Trace(str):
    """The steps of a score on their way through metadata; as a text, the names of their values.

    Our code recognises a trace by this type: anybody can write a plain text. That of a text has the
    memories it was made of, and its citations.
    """

    __slots__ = ("citations", "memories", "steps")

    steps: tuple[Step, ...]
    memories: tuple[Candidate, ...]
    citations: tuple[Citation, ...]

    @classmethod
    def of(
        cls,
        trace: Mapping[str, Note],
        steps: tuple[Step, ...] = (),
        memories: tuple[Candidate, ...] = (),
        citations: tuple[Citation, ...] = (),
    ) -> Self:
        made = cls(", ".join(trace))
        made.steps, made.memories, made.citations = steps, memories, citations
        return made


def _flat(trace: Mapping[str, Note]) -> dict[str, object]:
    return {TRACE_PREFIX + name: value for name, value in trace.items()}


def marked_trace(memory: Candidate) -> dict[str, object]:
    """The flat trace of a candidate, with the `Trace` from which our code reads the steps."""
    if not memory.steps:
        return {}
    trace = memory.trace
    return {**_flat(trace), TRACE: Trace.of(trace, memory.steps)}


class FoundMetadata(dict[str, object]):
    """The metadata of a result: equal for one memory, whatever its score and its trace.

    So two LangChain documents of one memory are equal, and `MultiQueryRetriever` returns one.
    """

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FoundMetadata):
            return _stored(self) == _stored(other)
        return super().__eq__(other)

    __hash__ = None  # as of every dict

    def __ne__(self, other: object) -> bool:
        return not self == other


def _stored(metadata: Mapping[str, object]) -> dict[str, object]:
    return {k: v for k, v in untraced(metadata).items() if k != SCORE_KEY}


def trace_in(metadata: Mapping[str, object]) -> Trace | None:
    """The trace that this library wrote into metadata; None if there is none."""
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
    """Read a memory from any metadata; what cannot be read, or is no `Trace`, counts as absent."""
    flat, trace = metadata, trace_in(metadata)
    # The values of the rest are not checked here: `RecallStore.add` does that.
    rest: Any = {k: v for k, v in untraced(flat).items() if k not in _KNOWN}
    quality = flat.get("quality")
    scope = {name: str(flat[name]) for name in Scope.model_fields if flat.get(name)}
    fields: dict[str, Any] = {name: str(flat.get(name, "")) for name in (*_TEXTS, "memory_type")}
    fields |= {name: _moment(flat.get(name), timezone) for name in _TIMES}
    return Candidate(
        **fields,
        content=content,
        id=memory_id,
        events=_events(flat.get("event_ranges")),
        scope=Scope(**scope),
        metadata=rest,
        quality=float(quality) if isinstance(quality, int | float) else None,
        score=_finite(score),
        steps=trace.steps if trace else (),
        source=source,
    )


def scope_in(metadata: Mapping[str, object]) -> Scope:
    """The scope in the flat metadata of a memory that is to be stored, checked."""
    return Scope.model_validate({k: v for k, v in metadata.items() if k in Scope.model_fields})


def flat_sources(recall: Recall) -> dict[str, object]:
    """The sources of a text: ids, citations, whole memories; and the cost of the models.

    Citations and memories are JSON texts; `citations` and `memories_in` return them as objects.
    """
    zone = recall.query.reference_time.tzinfo
    memories = tuple(
        # Without the framework's objects, and without the step about the whole question.
        replace(memory, steps=tuple(s for s in memory.steps if s.stage != OUTCOME), source=None)
        for memory in recall.memories
    )
    trace: dict[str, float | str] = {
        "ids": ", ".join(memory.id for memory in memories),
        "memories": _json([_fields(memory, zone) for memory in memories]),
    }
    if recall.citations:
        trace["citations"] = _json(list(map(asdict, recall.citations)))
    left_out = memories[0].noted("left_out") if memories else None
    if left_out is not None:
        trace["left_out"] = left_out
    trace |= recall.notes()
    mark = Trace.of(trace, memories=memories, citations=recall.citations)
    return {**_flat(trace), TRACE: mark}


class Result(Protocol):
    """A document or a node."""

    @property
    def metadata(self) -> Mapping[str, object]: ...


def citations(result: Result) -> list[Citation]:
    """The sentences of a text that a model wrote, with the ids of the memories they rest on.

    Args:
        result: A document or node from `RewriteMemory` or `Reflect`.

    Returns:
        The citations. The list is empty if no stage of this library wrote the result, or if the
        result was written as JSON and read again.
    """
    trace = trace_in(result.metadata)
    return [*trace.citations] if trace else []


def memories_in(metadata: Mapping[str, object]) -> list[Candidate]:
    """The memories that a text of ours was made of, best first, with their scores and steps."""
    trace = trace_in(metadata)
    return [*trace.memories] if trace else []


def _fields(memory: Candidate, zone: tzinfo | None) -> dict[str, object]:
    score = {} if memory.score is None else {"score": memory.score}
    fields = {**to_flat(memory, zone), "id": memory.id, "content": memory.content, **score}
    return dict(sorted(fields.items()))  # Chroma returns the keys of a row in any order


def _json(value: object) -> str:
    # What JSON does not have, from another retriever, becomes text.
    return json.dumps(value, ensure_ascii=False, skipkeys=True, default=str)


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
