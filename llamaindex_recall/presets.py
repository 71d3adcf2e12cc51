"""Retrievers that are ready made."""

from __future__ import annotations

from typing import Unpack

from llama_index.core.llms import LLM

from llamaindex_recall import postprocessors
from llamaindex_recall.any_store import Searchable
from llamaindex_recall.retriever import RecallRetriever, RetrieverSettings
from recall_stages.retriever.presets import (
    TASKS,
    RecallPlan,
    personal_stages,
    simple_task_stages,
    task_stages,
)


def personal_memory_retriever(
    store: Searchable,
    llm: LLM | None = None,
    *,
    rewrite: bool = False,
    recall_plan: RecallPlan = "steps",
    **settings: Unpack[RetrieverSettings],
) -> RecallRetriever:
    """A retriever of personal memories: it reads the time, searches, ranks and fuses.

    Args:
        store: The collection, or any store that an `AnyStore` takes.
        llm: A model that ranks the candidates, and is asked about words of time that the grammar
            cannot read; None = the flow makes no model call.
        rewrite: Return one text, which the model makes of the memories and in which every sentence
            cites them, instead of the memories; see `RewriteMemory`.
        recall_plan: "steps" = the model is asked for each step: to rank, and once more to rewrite.
            "single" = it does both in one call, over the first 20 candidates; time is then read by
            the grammar alone, and the result is one text, whatever ``rewrite`` says.
        **settings: Further settings of `RecallRetriever`.

    Raises:
        ValueError: When there is no such plan.
    """
    stages = personal_stages(postprocessors, llm, rewrite=rewrite, recall_plan=recall_plan)
    return RecallRetriever(store=store, stages=stages, **settings)


def task_memory_retriever(
    store: Searchable, llm: LLM | None = None, **settings: Unpack[RetrieverSettings]
) -> RecallRetriever:
    """A retriever of task memories: it builds a query, searches, reranks and rewrites.

    Returns one text. Ask it with a question, or with the conversation:
    ``retriever.retrieve("", messages=[...])``.

    Args:
        store: The collection, or any store that an `AnyStore` takes; memories of the type "task"
            are looked for, unless a filter is set.
        llm: A model that builds the query where only messages are given, reranks the memories and
            rewrites them; None = the flow makes no model call.
        **settings: Further settings of `RecallRetriever`.
    """
    stages = task_stages(postprocessors, llm)
    settings = {"filter": TASKS, **settings}
    return RecallRetriever(store=store, stages=stages, **settings)


def simple_task_memory_retriever(
    store: Searchable, **settings: Unpack[RetrieverSettings]
) -> RecallRetriever:
    """A retriever of task memories without a model: it builds a query, searches and merges.

    Returns one text.

    Args:
        store: The collection, or any store that an `AnyStore` takes; memories of the type "task"
            are looked for, unless a filter is set.
        **settings: Further settings of `RecallRetriever`.
    """
    stages = simple_task_stages(postprocessors)
    settings = {"filter": TASKS, **settings}
    return RecallRetriever(store=store, stages=stages, **settings)
