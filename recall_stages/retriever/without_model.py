"""A retriever asked directly, without a framework and without a model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Never

from recall_stages.core.errors import RecallError
from recall_stages.core.stage import Recall, run
from recall_stages.retriever.memory_retriever import CallOptions, MemoryRetriever


def recall_without_model(retriever: MemoryRetriever, question: str, options: CallOptions) -> Recall:
    """What a question finds, with all that was understood of it.

    Args:
        retriever: Whose stages ask no model.
        question: In plain words.
        options: The settings of this call.
    """
    store = retriever.scoped(options)
    steps = retriever.steps_for(question, datetime.now(UTC), options)
    return run(steps, _no_model, store.find, store.get, store.add)


def _no_model(_: object) -> Never:
    raise RecallError("there is no model here; ask through a face's RecallRetriever")
