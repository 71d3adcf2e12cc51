"""The function `recall`: a whole flow in one call."""

from __future__ import annotations

from functools import partial
from typing import Unpack

from langchain_core.documents import Document
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)

from langchain_recall._convert import to_documents
from langchain_recall._world import LangChainWorld
from recall_stages.core.driver import completed
from recall_stages.retriever.call_options import CallOptions
from recall_stages.retriever.recall_function import RecallConfig, Recalled, recall_with


def recall(query: str, config: RecallConfig, **options: Unpack[CallOptions]) -> Recalled[Document]:
    """The memories that answer a question, and a reflection on them, in one call.

    Args:
        query: The question.
        config: What to search, and how to filter, rank and reflect.
        **options: Settings of this call, as for `RecallRetriever`: scope, timestamp, ...

    Returns:
        ``memories``, best first, and the ``reflection``: a document whose text cites the memories
        by number, or None.

    Raises:
        QueryError: When there is no question.

    Examples:
        >>> from langchain_recall import RecallConfig, RecallStore, TimeDecay, recall
        >>> store = RecallStore()
        >>> ids = store.add(["Anna likes tea.", "Bob likes tea too."])
        >>> config = RecallConfig(
        ...     source=store, filters=[TimeDecay()], max_results=1, generate_reflection=True
        ... )
        >>> found = recall("What does Anna like?", config)
        >>> found["memories"][0].page_content, found["reflection"].page_content
        ('Anna likes tea.', 'Anna likes tea. [1]')
        >>> store.close()
    """
    around = get_callback_manager_for_config(ensure_config())  # of the chain that calls this
    world = partial(LangChainWorld, around)
    return completed(recall_with(world, to_documents, query, config, options))


async def arecall(
    query: str, config: RecallConfig, **options: Unpack[CallOptions]
) -> Recalled[Document]:
    """The same as `recall`, without blocking the event loop."""
    around = get_async_callback_manager_for_config(ensure_config())
    world = partial(LangChainWorld, around)
    return await recall_with(world, to_documents, query, config, options)
