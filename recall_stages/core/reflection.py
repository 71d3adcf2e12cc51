"""Reflections as memories: how to store one, and how to see that its sources have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from recall_stages.core.candidate import Candidate
from recall_stages.core.citation import Citation, cited_ids
from recall_stages.core.memory import Memory
from recall_stages.core.stage import Recall

REFLECTION = "reflection"
"""The memory type of a reflection."""


def is_reflection(memory: Memory | Candidate) -> bool:
    """Whether a memory is a reflection on others."""
    return memory.memory_type == REFLECTION


def reflection_of(text: str, citations: Sequence[Citation], recall: Recall) -> Memory:
    """A reflection as a memory, with the question, and the ids and text digests of its sources.

    Its id is a digest of its text, sources and owner. So the same reflection is stored once. It
    expires with the first of its sources.
    """
    query = recall.query
    texts = {memory.id: memory.content for memory in recall.memories}
    ids = cited_ids(citations)
    ends = [each.expires_at for each in recall.memories if each.id in ids and each.expires_at]
    owner = sorted(query.scope.fields().items())
    return Memory(
        id=f"reflection-{digest(repr((owner, ids, text)))}",
        content=text,
        memory_type=REFLECTION,
        created_at=query.reference_time,
        scope=query.scope,
        expires_at=min(ends, default=None),
        metadata={
            **({"query": query.text} if query.text else {}),
            **(
                {"source_ids": ids, "source_digests": [digest(texts[each]) for each in ids]}
                if ids
                else {}
            ),
        },
    )


def source_ids(reflection: Memory | Candidate) -> list[str]:
    """The ids of the memories that a reflection rests on."""
    return [*_list(reflection, "source_ids")]


def is_stale(reflection: Memory | Candidate, sources: Mapping[str, Memory]) -> bool:
    """Whether a source of a reflection is gone, or has another text now.

    Args:
        reflection: The reflection.
        sources: The sources that still exist, by id.
    """
    ids, digests = _list(reflection, "source_ids"), _list(reflection, "source_digests")
    return any(
        memory_id not in sources or digest(sources[memory_id].content) != mark
        for memory_id, mark in zip(ids, digests, strict=False)
    )


def digest(text: str) -> str:
    """A short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _list(memory: Memory | Candidate, name: str) -> list[str]:
    value = memory.metadata.get(name)
    return [str(each) for each in value] if isinstance(value, list) else []
