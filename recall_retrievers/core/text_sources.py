"""The sources of a text as flat metadata, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import tzinfo
from typing import Protocol

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.citation import Citation
from recall_retrievers.core.flat_metadata import TRACE, Trace, flat_trace, to_flat, trace_in
from recall_retrievers.core.recall import OUTCOME, Recall


def flat_sources(recall: Recall) -> dict[str, object]:
    """The sources of a text: ids, citations, whole memories; and the cost of the models.

    ``recall_ids`` has commas between the ids. ``recall_citations`` and ``recall_memories`` are
    JSON texts; `citations` and `memories_in` return them as objects.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_retrievers.core.query import Query
        >>> query = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> memories = (Candidate(content="Tea.", id="a"),)
        >>> flat = flat_sources(Recall(query, memories, "Memory 1: Tea."))
        >>> flat["recall_ids"], [memory.content for memory in memories_in(flat)]
        ('a', ['Tea.'])
    """
    zone = recall.query.reference_time.tzinfo
    memories = tuple([_source(memory) for memory in recall.memories])
    trace: dict[str, float | str] = {
        "ids": ", ".join(memory.id for memory in memories),
        "memories": _json([_fields(memory, zone) for memory in memories]),
    }
    if recall.citations:
        trace["citations"] = _json([asdict(each) for each in recall.citations])
    left_out = memories[0].noted("left_out") if memories else None
    if left_out is not None:
        trace["left_out"] = left_out
    trace |= recall.notes()
    mark = Trace.of(trace, memories=memories, citations=recall.citations)
    return {**flat_trace(trace), TRACE: mark}


class Result(Protocol):
    """A document or a node."""

    @property
    def metadata(self) -> Mapping[str, object]:
        """Its metadata."""


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
    """The memories that a text was made of, best first, with their scores and steps.

    Only metadata that a stage of this library wrote has any.
    """
    trace = trace_in(metadata)
    return [*trace.memories] if trace else []


def _source(memory: Candidate) -> Candidate:
    """A memory without the framework's object, and without the step about the whole question."""
    steps = tuple([step for step in memory.steps if step.stage != OUTCOME])
    return replace(memory, steps=steps, source=None)


def _fields(memory: Candidate, zone: tzinfo | None) -> dict[str, object]:
    score = {} if memory.score is None else {"score": memory.score}
    fields = {**to_flat(memory, zone), "id": memory.id, "content": memory.content, **score}
    # Sorted by name, because Chroma returns the keys of a row in any order.
    return {name: _plain(fields[name]) for name in sorted(fields)}


def _plain(value: object) -> object:
    """A value as JSON has it; any other value from another retriever becomes text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
