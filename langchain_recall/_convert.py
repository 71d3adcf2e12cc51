"""Document <-> Candidate: the only file that knows both."""

from datetime import tzinfo

from langchain_core.documents import Document

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.flat_metadata import (
    FoundMetadata,
    flat_sources,
    from_flat,
    marked_trace,
    stored_fields,
    untraced,
)
from recall_retrievers.core.memory import SCORE_KEY
from recall_retrievers.core.query import Nothing
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.streamed import Done

_EMPTY = Document(page_content="")


def to_candidate(document: Document, timezone: tzinfo | None = None) -> Candidate:
    return from_flat(
        document.page_content,
        document.metadata,
        memory_id=document.id or "",
        score=document.metadata.get(SCORE_KEY),
        timezone=timezone,
        source=document,
    )


def to_document(memory: Candidate, timezone: tzinfo | None = None) -> Document:
    """Write a candidate as a document; one that came from a document keeps all else it had."""
    found = None  # the class of documents takes long to ask whether one is of it
    if memory.source is not None and isinstance(memory.source, Document):
        found = memory.source
    metadata = FoundMetadata(
        stored_fields(memory, timezone) if found is None else untraced(found.metadata)
    )
    metadata.update(marked_trace(memory))
    if memory.score is not None:
        metadata[SCORE_KEY] = memory.score
    # No copy validates again, and all leave the metadata what it is.
    changed = {"id": memory.id or None, "page_content": memory.content, "metadata": metadata}
    return (found or _EMPTY).model_copy(update=changed)


def to_documents(recall: Recall) -> list[Document]:
    """The memories as documents; where a stage wrote a text, that text as a single one."""
    zone = recall.query.reference_time.tzinfo
    if not recall.text:
        found = [to_document(memory, zone) for memory in recall.memories]
        return found or Nothing(recall.why_nothing)
    best = next((memory.score for memory in recall.memories if memory.score is not None), None)
    score = {} if best is None else {SCORE_KEY: best}
    return [Document(page_content=recall.text, metadata={**flat_sources(recall), **score})]


def to_pieces(part: str | Done[list[Document]]) -> list[Document]:
    if isinstance(part, str):
        return [Document(page_content=part)]
    documents = part.result
    if not part.shown or len(documents) != 1:
        return documents
    rest = part.rest_of(documents[0].page_content)
    return [documents[0].model_copy(update={"page_content": rest})]
