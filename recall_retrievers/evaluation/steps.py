"""What each step of the search adds, measured with the same questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.world import MemoryStore
from recall_retrievers.evaluation.comparison import Comparison, compare
from recall_retrievers.evaluation.evaluate import call_options, evaluate_with
from recall_retrievers.evaluation.questions import Question, as_questions
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.fuse_rerank import FuseRerank

STEPS: dict[str, dict[str, object]] = {
    "by meaning": {"method": "semantic", "stages": []},
    "by words": {"method": "keyword", "stages": []},
    "both, fused": {"stages": []},
    "+ time searched": {"stages": [ExtractTime()]},
    "+ time, type, author weighed": {"stages": [ExtractTime(), FuseRerank()]},
}
"""The settings of a retriever, step by step; the last are its defaults."""


def evaluate_steps(
    store: MemoryStore,
    questions: Iterable[Question | Mapping[str, object]],
    *,
    progress: bool = False,
) -> Comparison:
    """What each step of the search adds, measured on your own questions.

    Each row asks all questions with more of the search: by meaning alone, by words alone, both
    fused, the time in the question searched too, and last the time, the type and the author
    weighed. The last row is a `RecallRetriever` with its defaults. No model is called.

    Args:
        store: The collection.
        questions: See `evaluate`.
        progress: Show a progress bar on standard error, where that is a terminal.

    Returns:
        The steps side by side; ``evaluations`` has each by its name.

    Raises:
        TypeError: When a question is neither a `Question` nor a mapping.
        ValueError: When there is no question, or one is not as it should be.

    Examples:
        >>> from recall_retrievers.store import RecallStore
        >>> store = RecallStore()
        >>> ids = store.add([{"id": "tea", "content": "Anna likes tea."}, "Bob plays chess."])
        >>> steps = evaluate_steps(store, [{"question": "Who likes tea?", "relevant": ["tea"]}])
        >>> steps.evaluations["by meaning"].figures["recall@5"]
        1.0
        >>> store.close()
    """
    listed = as_questions(questions)
    return compare(
        {
            name: evaluate_with(
                partial(_found, MemoryRetriever(store=store, **settings)),
                listed,
                progress=progress,
                name=name,
            )
            for name, settings in STEPS.items()
        }
    )


def _found(retriever: MemoryRetriever, question: Question) -> Sequence[Candidate]:
    return retriever.recall_without_model(question.question, **call_options(question)).memories
