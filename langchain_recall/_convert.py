"""Document <-> Memory: the only file that knows both."""

from __future__ import annotations

from datetime import tzinfo

from langchain_core.documents import Document

from recall_stages.flat import flat_trace, from_flat, to_flat, untraced
from recall_stages.memory import Memory
from recall_stages.stage import Recall
from recall_stages.told import flat_told

SCORE = "relevance_score"  # the key that LangChain's rerankers use


def to_memory(document: Document, timezone: tzinfo | None = None) -> Memory:
    """Read a document as a memory; times without a zone are read in ``timezone``."""
    return from_flat(
        document.page_content,
        document.metadata,
        memory_id=document.id or "",
        score=document.metadata.get(SCORE),
        timezone=timezone,
        source=document,
    )


def to_document(memory: Memory, timezone: tzinfo | None = None) -> Document:
    """Write a memory as a document; one that came from a document keeps all else it had."""
    score = {} if memory.score is None else {SCORE: memory.score}
    if isinstance(memory.source, Document):
        metadata = {**untraced(memory.source.metadata), **flat_trace(memory), **score}
        changed = {"id": memory.id or None, "page_content": memory.content, "metadata": metadata}
        return memory.source.model_copy(update=changed)
    return Document(
        id=memory.id or None,
        page_content=memory.content,
        metadata={**to_flat(memory, timezone), **score},
    )


def to_documents(recall: Recall) -> list[Document]:
    """The memories as documents; where a stage wrote a text, that text as a single one."""
    zone = recall.query.reference_time.tzinfo
    if not recall.text:
        return [to_document(memory, zone) for memory in recall.memories]
    best = next((each.score for each in recall.memories if each.score is not None), None)
    score = {} if best is None else {SCORE: best}
    return [Document(page_content=recall.text, metadata={**flat_told(recall), **score})]
