"""What a text was made of, as flat metadata that any framework carries, and back."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from datetime import tzinfo
from typing import TypeVar

from pydantic import TypeAdapter

from recall_stages.citations import Citation
from recall_stages.errors import MemoryFormatError
from recall_stages.flat import TRACE_PREFIX, from_flat, to_flat
from recall_stages.memory import Memory
from recall_stages.stage import Recall

IDS = TRACE_PREFIX + "ids"
CITATIONS = TRACE_PREFIX + "citations"
MEMORIES = TRACE_PREFIX + "memories"
LEFT_OUT = TRACE_PREFIX + "left_out"

T = TypeVar("T")

_CITATIONS = TypeAdapter(list[Citation])
_MEMORIES = TypeAdapter(list[dict[str, object]])


def flat_told(recall: Recall) -> dict[str, object]:
    """The sources of a text: their ids, who cites what, the memories whole; and what it cost.

    ``recall_ids`` has commas between the ids; ``recall_citations`` and ``recall_memories`` are
    JSON texts, which `citations_in` and `memories_in` read.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from recall_stages.memory import Query
        >>> asked = Query(text="tea?", reference_time=datetime(2024, 3, 6, tzinfo=UTC))
        >>> told = flat_told(Recall(asked, (Memory(content="Tea.", id="a"),), "Memory 1: Tea."))
        >>> told["recall_ids"], [memory.content for memory in memories_in(told)]
        ('a', ['Tea.'])
    """
    zone = recall.query.reference_time.tzinfo
    notes = {TRACE_PREFIX + name: note for name, note in recall.told().items()}
    told: dict[str, object] = {
        IDS: ", ".join(memory.id for memory in recall.memories),
        MEMORIES: _json([_fields(memory, zone, without=notes) for memory in recall.memories]),
    }
    if recall.citations:
        told[CITATIONS] = _json([asdict(each) for each in recall.citations])
    if recall.memories and "left_out" in recall.memories[0].trace:
        told[LEFT_OUT] = recall.memories[0].trace["left_out"]
    return told | notes


def citations_in(metadata: Mapping[str, object]) -> list[Citation]:
    """The sentences of a text that a model wrote, and what each rests on; empty where none are.

    Raises:
        MemoryFormatError: When the metadata is not what a stage wrote.

    Examples:
        >>> written = '[{"sentence": "Tea.", "numbers": [1], "ids": ["a"]}]'
        >>> citations_in({"recall_citations": written})
        [Citation(sentence='Tea.', numbers=(1,), ids=('a',))]
    """
    return _read(_CITATIONS, metadata, CITATIONS)


def memories_in(metadata: Mapping[str, object]) -> list[Memory]:
    """The memories that a text was made of, best first, with their scores and how these came.

    Raises:
        MemoryFormatError: When the metadata is not what a stage wrote.
    """
    return [
        from_flat(
            str(each.pop("content", "")),
            each,
            memory_id=str(each.pop("id", "")),
            score=each.pop("score", None),
        )
        for each in _read(_MEMORIES, metadata, MEMORIES)
    ]


def _fields(memory: Memory, zone: tzinfo | None, without: Collection[str]) -> dict[str, object]:
    score = {} if memory.score is None else {"score": memory.score}
    fields = {**to_flat(memory, zone), "id": memory.id, "content": memory.content, **score}
    # In an order of their own: Chroma hands on the keys of a row in any.
    return {name: _plain(fields[name]) for name in sorted(fields) if name not in without}


def _plain(value: object) -> object:
    """A value that JSON has; of what another retriever put into metadata, its text."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(shape: TypeAdapter[list[T]], metadata: Mapping[str, object], key: str) -> list[T]:
    written = metadata.get(key, "[]")
    try:
        return shape.validate_python(json.loads(written if isinstance(written, str) else ""))
    except ValueError as error:
        raise MemoryFormatError(
            f"{key} must be the JSON list that a stage wrote; got {written!r}"
        ) from error
