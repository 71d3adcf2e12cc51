"""A retriever asked directly, without a framework and without a model."""

from __future__ import annotations

from datetime import UTC, datetime

from recall_stages.core.recall import Recall
from recall_stages.core.world import World, run
from recall_stages.retriever.memory_retriever import CallOptions, MemoryRetriever


def recall_without_model(retriever: MemoryRetriever, question: str, options: CallOptions) -> Recall:
    """What a question finds, with all that was understood of it.

    Args:
        retriever: Whose stages ask no model.
        question: In plain words.
        options: The settings of this call.
    """
    steps = retriever.steps_for(question, datetime.now(UTC), options)
    return run(steps, World(retriever.scoped(options)))
