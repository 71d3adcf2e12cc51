"""How well a retriever answers labelled questions."""

from __future__ import annotations

from collections.abc import Iterable

from llamaindex_recall.retriever import RecallRetriever
from recall_stages.evaluation.evaluate import Evaluation, evaluate_ids
from recall_stages.evaluation.questions import Question


def evaluate(
    retriever: RecallRetriever, questions: Iterable[Question], *, progress: bool = False
) -> Evaluation:
    """Ask a retriever questions of which the answers are known, and count.

    Args:
        retriever: With the stages and models that it is to be judged with.
        questions: See `Question`, and `read_questions` for a file of them.
        progress: Show a progress bar on standard error, where that is a terminal.

    Raises:
        ValueError: When there is no question.

    Examples:
        >>> from llamaindex_recall import Question, RecallRetriever, RecallStore, evaluate
        >>> store = RecallStore()
        >>> ids = store.add([{"id": "tea", "content": "Anna likes tea."}, "Bob plays chess."])
        >>> asked = Question(question="Who likes tea?", relevant=["tea"])
        >>> evaluate(RecallRetriever(store=store), [asked]).figures["ndcg@10"]
        1.0
        >>> store.close()
    """
    return evaluate_ids(
        lambda text, options: [found.node.node_id for found in retriever.retrieve(text, **options)],
        questions,
        progress=progress,
    )
