"""What a text was made of, as flat metadata that any framework carries, and back."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import tzinfo
from typing import TypeVar

from pydantic import TypeAdapter

from recall_stages.core.citation import Citation
from recall_stages.core.flat_metadata import from_flat, marked_trace, to_flat, trace_in
from recall_stages.core.memory import TRACE_PREFIX, Memory
from recall_stages.core.stage import Recall

CITATIONS = "citations"
MEMORIES = "memories"

T = TypeVar("T")

_CITATIONS = TypeAdapter(list[Citation])
_MEMORIES = TypeAdapter(list[dict[str, object]])
_NO_METADATA = frozenset({"content", "id", "score"})


def flat_told(recall: Recall) -> dict[str, object]:
    """The sources of a text: their ids, who cites what, the memories whole; and what it cost.

    ``recall_ids`` has commas between the ids; ``recall_citations`` and ``recall_memories`` are
    JSON texts. `citations_in` and `memories_in` read them out of the trace.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.core.memory import Query
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> told = flat_told(Recall(asked, (Memory(content="Tea.", id="a"),), "Memory 1: Tea."))
        >>> told["recall_ids"], [memory.content for memory in memories_in(told)]
        ('a', ['Tea.'])
    """
    zone = recall.query.reference_time.tzinfo
    notes = recall.told()
    told: dict[str, float | str] = {
        "ids": ", ".join(memory.id for memory in recall.memories),
        MEMORIES: _json([_fields(memory, zone, without=notes) for memory in recall.memories]),
    }
    if recall.citations:
        told[CITATIONS] = _json([asdict(each) for each in recall.citations])
    if recall.memories and "left_out" in recall.memories[0].trace:
        told["left_out"] = recall.memories[0].trace["left_out"]
    return marked_trace(told | notes)


def citations_in(metadata: Mapping[str, object]) -> list[Citation]:
    """The sentences of a text that a model wrote, and what each rests on; empty where none are.

    Metadata that no stage of this program wrote has none, whatever stands in it.

    Examples:
        >>> written = '[{"sentence": "Tea.", "numbers": [1], "ids": ["a"]}]'
        >>> citations_in(marked_trace({"citations": written}))
        [Citation(sentence='Tea.', numbers=(1,), ids=('a',))]
        >>> citations_in({"recall_citations": written})
        []
    """
    return _read(_CITATIONS, metadata, CITATIONS)


def memories_in(metadata: Mapping[str, object]) -> list[Memory]:
    """The memories that a text was made of, best first, with their scores and how these came.

    Metadata that no stage of this program wrote has none, whatever stands in it.
    """
    return [_memory(each) for each in _read(_MEMORIES, metadata, MEMORIES)]


def _memory(fields: Mapping[str, object]) -> Memory:
    trace = {
        name.removeprefix(TRACE_PREFIX): value
        for name, value in fields.items()
        if name.startswith(TRACE_PREFIX) and isinstance(value, float | str)
    }
    memory = from_flat(
        str(fields["content"]),
        {name: value for name, value in fields.items() if name not in _NO_METADATA},
        memory_id=str(fields["id"]),
        score=fields.get("score"),
    )
    return memory.model_copy(update={"trace": trace})


def _fields(memory: Memory, zone: tzinfo | None, without: Collection[str]) -> dict[str, object]:
    score = {} if memory.score is None else {"score": memory.score}
    fields = {**to_flat(memory, zone), "id": memory.id, "content": memory.content, **score}
    left_out = {TRACE_PREFIX + name for name in without}
    # In an order of their own: Chroma hands on the keys of a row in any.
    return {name: _plain(fields[name]) for name in sorted(fields) if name not in left_out}


def _plain(value: object) -> object:
    """A value that JSON has; of what another retriever put into metadata, its text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(shape: TypeAdapter[list[T]], metadata: Mapping[str, object], name: str) -> list[T]:
    return shape.validate_python(json.loads(str(trace_in(metadata).get(name, "[]"))))
