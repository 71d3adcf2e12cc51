"""How well a retriever answers labelled questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.schema import NodeWithScore

from llamaindex_recall._convert import to_candidate
from llamaindex_recall.retriever import RecallRetriever
from recall_retrievers.evaluation.evaluate import Evaluation, call_options, evaluate_with, unscoped
from recall_retrievers.evaluation.metrics import LOOKED_AT
from recall_retrievers.evaluation.questions import Question

Search = Callable[[Question], Sequence[NodeWithScore]]
Searcher = BaseRetriever | Search
"""What can be evaluated: any retriever, or a function."""


def evaluate(
    retriever: Searcher,
    questions: Iterable[Question | Mapping[str, object]],
    *,
    progress: bool = False,
) -> Evaluation:
    """Ask a retriever questions with known answers, and count.

    Args:
        retriever: Any retriever, or a function from a `Question` to nodes. `RecallRetriever` uses
            the scope and the time of each question. It and the retriever of a vector index return
            ten memories; others as many as they are set to.
        questions: Each is a `Question` or a mapping such as
            ``{"question": "Which tea?", "relevant": ["m1"], "user_id": "ann"}``. `read_questions`
            reads a file of them.
        progress: Show a progress bar on standard error if that is a terminal.

    Returns:
        The means and each answer; `compare` puts several side by side.

    Raises:
        TypeError: When the retriever or a question is something else.
        ValueError: When there is no question, a question is wrong or has a scope that the retriever
            cannot keep, or a node has no id.

    Examples:
        >>> from llama_index.core.schema import TextNode
        >>> from llamaindex_recall import RecallRetriever, RecallStore, compare, evaluate
        >>> store = RecallStore()
        >>> ids = store.add([{"id": "tea", "content": "Anna likes tea."}, "Bob plays chess."])
        >>> questions = [{"question": "Who likes tea?", "relevant": ["tea"]}]
        >>> ours = evaluate(RecallRetriever(store=store), questions)
        >>> node = NodeWithScore(node=TextNode(id_="tea", text="Tea."))
        >>> function = evaluate(lambda question: [node], questions)
        >>> ours.figures["ndcg@10"], len(compare({"ours": ours, "mine": function}).evaluations)
        (1.0, 2)
        >>> store.close()
    """
    search = _search(retriever)
    return evaluate_with(lambda q: [*map(to_candidate, search(q))], questions, progress=progress)


def _search(retriever: Searcher) -> Search:
    if isinstance(retriever, RecallRetriever):
        return lambda question: retriever.retrieve(question.question, **call_options(question))
    if isinstance(retriever, BaseRetriever):
        name, searched = type(retriever).__name__, retriever
        if isinstance(retriever, VectorIndexRetriever):
            searched = copy(retriever)
            searched.similarity_top_k = LOOKED_AT
        return lambda question: searched.retrieve(unscoped(question, name))
    if callable(retriever):
        return retriever
    raise TypeError(
        "evaluate takes a retriever of LlamaIndex's or a function of a question; "
        f"got {type(retriever).__name__}"
    )
