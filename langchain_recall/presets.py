"""The flows of the seeds as retrievers, ready made."""

from __future__ import annotations

from typing import Any

from langchain_recall import compressors
from langchain_recall._model import Model
from langchain_recall.any_store import Searchable
from langchain_recall.retriever import RecallRetriever
from recall_stages.presets import (
    TASKS,
    RecallPlan,
    personal_stages,
    simple_task_stages,
    task_stages,
)


def personal_memory_retriever(
    store: Searchable,
    llm: Model | None = None,
    *,
    rewrite: bool = False,
    recall_plan: RecallPlan = "steps",
    **settings: Any,
) -> RecallRetriever:
    """The personal flow: time extracted, memories retrieved, ranked and fused (seed 000).

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
    stages = personal_stages(compressors, llm, rewrite=rewrite, recall_plan=recall_plan)
    return RecallRetriever(store=store, stages=stages, **settings)


def task_memory_retriever(
    store: Searchable, llm: Model | None = None, **settings: Any
) -> RecallRetriever:
    """The task flow: a query built, memories retrieved, reranked and rewritten (seed 002).

    Returns one text. Ask it with a question, or with the conversation:
    ``retriever.invoke({"messages": [...]})``.

    Args:
        store: The collection, or any store that an `AnyStore` takes; memories of the type "task"
            are looked for, unless a filter is set.
        llm: A model that builds the query where only messages are given, reranks the memories and
            rewrites them; None = the flow makes no model call.
        **settings: Further settings of `RecallRetriever`.
    """
    stages = task_stages(compressors, llm)
    return RecallRetriever(store=store, stages=stages, **{"filter": TASKS, **settings})


def simple_task_memory_retriever(store: Searchable, **settings: Any) -> RecallRetriever:
    """The task flow without a model: a query built, memories retrieved and merged (seed 002).

    Returns one text.

    Args:
        store: The collection, or any store that an `AnyStore` takes; memories of the type "task"
            are looked for, unless a filter is set.
        **settings: Further settings of `RecallRetriever`.
    """
    stages = simple_task_stages(compressors)
    return RecallRetriever(store=store, stages=stages, **{"filter": TASKS, **settings})
