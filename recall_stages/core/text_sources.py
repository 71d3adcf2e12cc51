"""What a text was made of, as flat metadata that any framework carries, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import tzinfo

from recall_stages.core.candidate import Candidate
from recall_stages.core.citation import Citation
from recall_stages.core.flat_metadata import TRACE, Trace, flat_trace, to_flat, trace_in
from recall_stages.core.recall import OUTCOME, Recall


def flat_sources(recall: Recall) -> dict[str, object]:
    """The sources of a text: their ids, who cites what, the memories whole; and what it cost.

    ``recall_ids`` has commas between the ids; ``recall_citations`` and ``recall_memories`` are
    JSON texts. `citations_in` and `memories_in` return them as objects.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.memory import Query
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> found = (Candidate(content="Tea.", id="a"),)
        >>> flat = flat_sources(Recall(asked, found, "Memory 1: Tea."))
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


def citations_in(metadata: Mapping[str, object]) -> list[Citation]:
    """The sentences of a text that a model wrote, and what each rests on; empty where none are.

    Metadata that no stage of this library wrote has none, whatever stands in it.

    Examples:
        >>> citations_in({"recall_citations": '[{"sentence": "Tea.", "numbers": [1]}]'})
        []
    """
    trace = trace_in(metadata)
    return [*trace.citations] if trace else []


def memories_in(metadata: Mapping[str, object]) -> list[Candidate]:
    """The memories that a text was made of, best first, with their scores and how these came.

    Metadata that no stage of this library wrote has none, whatever stands in it.
    """
    trace = trace_in(metadata)
    return [*trace.memories] if trace else []


def _source(memory: Candidate) -> Candidate:
    """A memory without the framework's object, and without what the text says itself."""
    steps = tuple([step for step in memory.steps if step.stage != OUTCOME])
    return replace(memory, steps=steps, source=None)


def _fields(memory: Candidate, zone: tzinfo | None) -> dict[str, object]:
    score = {} if memory.score is None else {"score": memory.score}
    fields = {**to_flat(memory, zone), "id": memory.id, "content": memory.content, **score}
    # In an order of their own: Chroma hands on the keys of a row in any.
    return {name: _plain(fields[name]) for name in sorted(fields)}


def _plain(value: object) -> object:
    """A value that JSON has; of what another retriever put into metadata, its text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
