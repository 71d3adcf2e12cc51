"""Reflections as memories, with the digests by which a change of their sources is seen."""

import hashlib
from collections.abc import Sequence
from typing import Any

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Citation, cited_ids
from recall_retrievers.core.stage import Recall

REFLECTION = "reflection"  # the memory type of a reflection


def is_reflection(memory: Memory | Candidate) -> bool:
    return memory.memory_type == REFLECTION


def reflection_of(text: str, citations: Sequence[Citation], recall: Recall) -> Memory:
    """A reflection as a memory, with the question, and the ids and text digests of its sources.

    Its id is a digest, so it is stored once. It expires with the first of its sources.
    """
    query = recall.query
    texts = {memory.id: memory.content for memory in recall.memories}
    ids = cited_ids(citations)
    ends = [x.expires_at for x in recall.memories if x.id in ids and x.expires_at]
    owner = sorted(query.scope.fields().items())
    digests = [digest(texts[memory_id]) for memory_id in ids]
    about: dict[str, Any] = {"query": query.text, "source_ids": ids, "source_digests": digests}
    return Memory(
        id=f"reflection-{digest(repr((owner, ids, text)))}",
        content=text,
        memory_type=REFLECTION,
        created_at=query.reference_time,
        scope=query.scope,
        expires_at=min(ends, default=None),
        metadata={name: value for name, value in about.items() if value},
    )


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
