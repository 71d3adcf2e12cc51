"""Ready-made flows: retrievers, and the function `recall`, which is a flow in one call."""

from functools import partial
from typing import Unpack

from langchain_core.documents import Document
from langchain_core.runnables.config import (
    ensure_config,
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
)

from langchain_recall import compressors
from langchain_recall._convert import to_documents
from langchain_recall._world import LangChainWorld, Model
from langchain_recall.any_store import Searchable
from langchain_recall.retriever import RecallRetriever, RetrieverSettings
from recall_retrievers.core.world import completed
from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.retriever.recall_function import RecallConfig, Recalled, recall_with
from recall_retrievers.retriever.stage_list import (
    TASKS,
    personal_stages,
    simple_task_stages,
    task_stages,
)


def personal_memory_retriever(
    store: Searchable,
    llm: Model | None = None,
    *,
    rewrite: bool = False,
    **settings: Unpack[RetrieverSettings],
) -> RecallRetriever:
    """A retriever of personal memories: it reads the time, searches, ranks and fuses.

    Args:
        store: The collection, or any store that an `AnyStore` takes.
        llm: Ranks the candidates, and reads a time that the grammar cannot read. None = no model
            call.
        rewrite: Return one text that cites the memories, in place of them; see `RewriteMemory`.
        **settings: Further settings of `RecallRetriever`.
    """
    stages = personal_stages(compressors, llm, rewrite=rewrite)
    return RecallRetriever(store=store, stages=stages, **settings)


def task_memory_retriever(
    store: Searchable, llm: Model | None = None, **settings: Unpack[RetrieverSettings]
) -> RecallRetriever:
    """A retriever of task memories: it builds a query, searches, reranks and rewrites.

    It returns one text. Ask it with a question, or with the conversation:
    ``retriever.invoke({"messages": [...]})``.

    Args:
        store: As for `personal_memory_retriever`. Memories of the type "task" are searched, unless
            a filter is set.
        llm: Builds the query from messages, reranks and rewrites. None = no model call.
        **settings: Further settings of `RecallRetriever`.
    """
    settings = {"filter": TASKS, **settings}
    return RecallRetriever(store=store, stages=task_stages(compressors, llm), **settings)


def simple_task_memory_retriever(
    store: Searchable, **settings: Unpack[RetrieverSettings]
) -> RecallRetriever:
    """A retriever of task memories without a model: it builds a query, searches and merges.

    It returns one text. Its arguments are those of `task_memory_retriever`.
    """
    settings = {"filter": TASKS, **settings}
    return RecallRetriever(store=store, stages=simple_task_stages(compressors), **settings)


def recall(
    query: str, config: RecallConfig | None = None, **options: Unpack[CallOptions]
) -> Recalled[Document]:
    """The memories that answer a question, and a reflection on them, in one call.

    Args:
        query: The question.
        config: What to search, and how to filter, rank and reflect. None = the defaults, on the
            collection in the folder ``./memories``.
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
    # The callbacks of the chain that calls this.
    world = partial(LangChainWorld, get_callback_manager_for_config(ensure_config()))
    return completed(recall_with(world, to_documents, query, config, options))


async def arecall(
    query: str, config: RecallConfig | None = None, **options: Unpack[CallOptions]
) -> Recalled[Document]:
    """What `recall` returns, without blocking the event loop."""
    world = partial(LangChainWorld, get_async_callback_manager_for_config(ensure_config()))
    return await recall_with(world, to_documents, query, config, options)
