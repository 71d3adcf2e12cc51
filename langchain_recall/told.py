"""What a text was made of: who cites what, and the memories themselves."""

from __future__ import annotations

from langchain_core.documents import Document

from langchain_recall._convert import to_document
from recall_stages.core.citation import Citation
from recall_stages.core.text_sources import citations_in, memories_in


def citations(document: Document) -> list[Citation]:
    """The sentences of a text that a model wrote, each with the ids of the memories it rests on.

    Args:
        document: What `RewriteMemory` or `Reflect` returned.

    Returns:
        Nothing for a document that no stage of this program wrote, or that was JSON in between.
    """
    return citations_in(document.metadata)


def originals(document: Document) -> list[Document]:
    """The memories that a text was made of, best first, with their scores and how these came.

    Args:
        document: What `RewriteMemory`, `Reflect`, `MergeMemory` or `PrintMemory` returned.

    Returns:
        Nothing for a document that no stage of this program wrote, or that was JSON in between.
    """
    return [to_document(memory) for memory in memories_in(document.metadata)]
