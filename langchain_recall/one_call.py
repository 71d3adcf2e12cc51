"""recall(query, config): a whole flow in one call."""

from __future__ import annotations

from functools import partial
from typing import TypedDict, Unpack

from langchain_core.documents import Document
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)

from langchain_recall._convert import to_documents
from langchain_recall._world import AsyncLangChainWorld, LangChainWorld
from recall_stages.core.stage import Recall
from recall_stages.retriever.memory_retriever import CallOptions
from recall_stages.retriever.recall_function import RecallConfig, arecall_with, recall_with


class Recalled(TypedDict):
    """What a call of `recall` came to."""

    memories: list[Document]
    reflection: Document | None


def recall(query: str, config: RecallConfig, **options: Unpack[CallOptions]) -> Recalled:
    """The memories that answer a question, and what they come to, in one call.

    Args:
        query: The question.
        config: What is searched, filtered, ranked and reflected on.
        **options: Settings of this call, as those of `RecallRetriever`: scope, timestamp, ...

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
    return _recalled(*recall_with(partial(LangChainWorld, around), query, config, options))


async def arecall(query: str, config: RecallConfig, **options: Unpack[CallOptions]) -> Recalled:
    """The same as `recall`, without blocking the event loop."""
    around = get_async_callback_manager_for_config(ensure_config())
    world = partial(AsyncLangChainWorld, around)
    return _recalled(*await arecall_with(world, query, config, options))


def _recalled(found: Recall, told: Recall) -> Recalled:
    return {
        "memories": to_documents(found),
        "reflection": to_documents(told)[0] if told.text else None,
    }
