"""What each step of the search adds: the same questions, asked with more and more of it."""

from __future__ import annotations

from collections.abc import Iterable

from recall_stages.evaluation.evaluate import Evaluation, Ids, evaluate_ids
from recall_stages.evaluation.questions import Question
from recall_stages.extract_time import ExtractTime
from recall_stages.fuse_rerank import FuseRerank
from recall_stages.retriever import CallOptions, MemoryRetriever, MemoryStore
from recall_stages.without_model import recall_without_model

STEPS: dict[str, dict[str, object]] = {
    "by meaning": {"method": "semantic", "stages": []},
    "by words": {"method": "keyword", "stages": []},
    "both, fused": {"stages": []},
    "+ time searched": {"stages": [ExtractTime()]},
    "+ time, type, author weighed": {"stages": [ExtractTime(), FuseRerank()]},
}
"""The settings of a retriever, step by step; the last are its defaults."""


def evaluate_steps(
    store: MemoryStore, questions: Iterable[Question], *, progress: bool = False
) -> dict[str, Evaluation]:
    """How well questions are answered by meaning alone, by words alone, by both, and so on.

    No model is asked.

    Args:
        store: The collection.
        questions: See `Question` and `read_questions`.
        progress: Show a progress bar on standard error, where that is a terminal.

    Returns:
        An evaluation by the name of each step, in the order of `STEPS`.
    """
    listed = list(questions)
    evaluations = {}
    for name, settings in STEPS.items():
        retriever = MemoryRetriever(store=store, **settings)
        evaluations[name] = evaluate_ids(_ids(retriever), listed, progress=progress)
    return evaluations


def _ids(retriever: MemoryRetriever) -> Ids:
    def ask(text: str, options: CallOptions) -> list[str]:
        return [memory.id for memory in recall_without_model(retriever, text, options).memories]

    return ask
