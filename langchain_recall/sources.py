"""The memories that a text was made of."""

from __future__ import annotations

from langchain_core.documents import Document

from langchain_recall._convert import to_document
from recall_stages.core.text_sources import memories_in


def originals(document: Document) -> list[Document]:
    """The memories that a text was made of, best first, with their scores and their traces.

    Args:
        document: What `RewriteMemory`, `Reflect`, `MergeMemory` or `PrintMemory` returned.

    Returns:
        Nothing if no stage of this library wrote the text, or if it was JSON in between.
    """
    return [to_document(memory) for memory in memories_in(document.metadata)]
