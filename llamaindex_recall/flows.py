"""Ready-made flows: retrievers, and the function `recall`, which is a flow in one call."""

from functools import partial
from typing import Unpack

from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore

from llamaindex_recall import postprocessors
from llamaindex_recall._convert import to_nodes
from llamaindex_recall._world import LlamaIndexWorld
from llamaindex_recall.any_store import Searchable
from llamaindex_recall.retriever import RecallRetriever, RetrieverSettings
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
    llm: LLM | None = None,
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
    stages = personal_stages(postprocessors, llm, rewrite=rewrite)
    return RecallRetriever(store=store, stages=stages, **settings)


def task_memory_retriever(
    store: Searchable, llm: LLM | None = None, **settings: Unpack[RetrieverSettings]
) -> RecallRetriever:
    """A retriever of task memories: it builds a query, searches, reranks and rewrites.

    It returns one text. Ask it with a question, or with the conversation:
    ``retriever.retrieve("", messages=[...])``.

    Args:
        store: As for `personal_memory_retriever`. Memories of the type "task" are searched, unless
            a filter is set.
        llm: Builds the query from messages, reranks and rewrites. None = no model call.
        **settings: Further settings of `RecallRetriever`.
    """
    settings = {"filter": TASKS, **settings}
    return RecallRetriever(store=store, stages=task_stages(postprocessors, llm), **settings)


def simple_task_memory_retriever(
    store: Searchable, **settings: Unpack[RetrieverSettings]
) -> RecallRetriever:
    """A retriever of task memories without a model: it builds a query, searches and merges.

    It returns one text. Its arguments are those of `task_memory_retriever`.
    """
    settings = {"filter": TASKS, **settings}
    return RecallRetriever(store=store, stages=simple_task_stages(postprocessors), **settings)


def recall(
    query: str, config: RecallConfig | None = None, **options: Unpack[CallOptions]
) -> Recalled[NodeWithScore]:
    """The memories that answer a question, and a reflection on them, in one call.

    Args:
        query: The question.
        config: What to search, and how to filter, rank and reflect. None = the defaults, on the
            collection in the folder ``./memories``.
        **options: Settings of this call, as for `RecallRetriever`: scope, timestamp, ...

    Returns:
        ``memories``, best first, and the ``reflection``: a node whose text cites the memories by
        number, or None.

    Raises:
        QueryError: When there is no question.

    Examples:
        >>> from llamaindex_recall import RecallConfig, RecallStore, TimeDecay, recall
        >>> store = RecallStore()
        >>> ids = store.add(["Anna likes tea.", "Bob likes tea too."])
        >>> config = RecallConfig(
        ...     source=store, filters=[TimeDecay()], max_results=1, generate_reflection=True
        ... )
        >>> found = recall("What does Anna like?", config)
        >>> found["memories"][0].text, found["reflection"].text
        ('Anna likes tea.', 'Anna likes tea. [1]')
        >>> store.close()
    """
    return completed(recall_with(LlamaIndexWorld, to_nodes, query, config, options))


async def arecall(
    query: str, config: RecallConfig | None = None, **options: Unpack[CallOptions]
) -> Recalled[NodeWithScore]:
    """What `recall` returns, without blocking the event loop."""
    world = partial(LlamaIndexWorld, asynchronous=True)
    return await recall_with(world, to_nodes, query, config, options)
