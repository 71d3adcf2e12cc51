"""How well a retriever answers labelled questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store import VectorIndexRetriever
from llama_index.core.schema import NodeWithScore

from llamaindex_recall._convert import to_memory
from llamaindex_recall.retriever import RecallRetriever
from recall_stages.core.memory import Memory
from recall_stages.evaluation.evaluate import (
    Evaluation,
    Find,
    call_options,
    evaluate_with,
    unscoped,
    with_ids,
)
from recall_stages.evaluation.metrics import LOOKED_AT
from recall_stages.evaluation.questions import Question

Searcher = BaseRetriever | Callable[[Question], Sequence[NodeWithScore]]
"""What can be evaluated: any retriever, or a function."""


def evaluate(
    retriever: Searcher,
    questions: Iterable[Question | Mapping[str, object]],
    *,
    progress: bool = False,
) -> Evaluation:
    """Ask a retriever questions of which the answers are known, and count.

    Args:
        retriever: Ours, any other retriever of LlamaIndex's, or a function that is called with
            each `Question` and returns nodes.
            Ours keeps to the scope and the time of each question. Ours and a vector index's own
            return ten memories, as many as the measures look at; others as many as they are set to.
        questions: Each a `Question`, or a mapping such as
            ``{"question": "Which tea?", "relevant": ["m1"], "user_id": "ann"}``. For a file of
            them, see `read_questions`.
        progress: Show a progress bar on standard error, where that is a terminal.

    Returns:
        The means and each answer; `compare` puts several side by side.

    Raises:
        TypeError: When the retriever or a question is something else.
        ValueError: When there is no question, one is not as it should be, one has a scope to which
            the retriever cannot be held, or a node has no id.

    Examples:
        >>> from llama_index.core import MockEmbedding, VectorStoreIndex
        >>> from llama_index.core.schema import TextNode
        >>> from llamaindex_recall import RecallRetriever, RecallStore, compare, evaluate
        >>> questions = [{"question": "Who likes tea?", "relevant": ["tea"]}]
        >>> nodes = [TextNode(id_="tea", text="Anna likes tea.")]
        >>> theirs = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))
        >>> store = RecallStore()
        >>> ids = store.add([{"id": "tea", "content": "Anna likes tea."}, "Bob plays chess."])
        >>> mine = evaluate(theirs.as_retriever(), questions)
        >>> ours = evaluate(RecallRetriever(store=store), questions)
        >>> ours.figures["ndcg@10"]
        1.0
        >>> len(compare({"mine": mine, "ours": ours}).evaluations)
        2
        >>> store.close()
    """
    find = _finding(retriever)
    return evaluate_with(
        lambda question: with_ids(find(question), question), questions, progress=progress
    )


def _finding(retriever: Searcher) -> Find:
    if isinstance(retriever, RecallRetriever):
        return lambda question: _memories(
            retriever.retrieve(question.question, **call_options(question))
        )
    if isinstance(retriever, BaseRetriever):
        name, asked = type(retriever).__name__, retriever
        if isinstance(retriever, VectorIndexRetriever):
            asked = copy(retriever)
            asked.similarity_top_k = LOOKED_AT
        return lambda question: _memories(asked.retrieve(unscoped(question, name)))
    if callable(retriever):
        return lambda question: _memories(retriever(question))
    raise TypeError(
        "evaluate takes a retriever of LlamaIndex's or a function of a question; "
        f"got {type(retriever).__name__}"
    )


def _memories(nodes: Sequence[NodeWithScore]) -> list[Memory]:
    return [to_memory(node) for node in nodes]
