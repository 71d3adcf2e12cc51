"""`evaluate`: how well any retriever of either framework answers labelled questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any, Protocol

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.flat_metadata import from_flat
from recall_retrievers.core.memory import SCORE_KEY
from recall_retrievers.evaluation.evaluate import Evaluation, call_options, evaluate_with, unscoped
from recall_retrievers.evaluation.metrics import LOOKED_AT
from recall_retrievers.evaluation.questions import Question
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store.chroma.framework_objects import is_document

Search = Callable[[Question], Iterable[Any]]


class Invoked(Protocol):
    """A retriever or a chain of LangChain."""

    def invoke(self, question: str, /) -> Iterable[object]:
        """The documents that answer a question."""


class Retrieving(Protocol):
    """A retriever of LlamaIndex."""

    def retrieve(self, question: str, /) -> Iterable[object]:
        """The nodes that answer a question."""


def evaluate(
    retriever: Invoked | Retrieving | Callable[[Question], Iterable[object]],
    questions: Iterable[Question | Mapping[str, object]],
    *,
    progress: bool = False,
) -> Evaluation:
    """Ask a retriever questions with known answers, and count.

    Args:
        retriever: Any retriever of LangChain or LlamaIndex, a chain that returns documents, or a
            function from a `Question` to documents or nodes. `RecallRetriever` uses the scope and
            the time of each question. It and the stock retrievers of a vector store or index return
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
            cannot keep, or a result has no id.

    Examples:
        >>> from langchain_core.documents import Document
        >>> from langchain_recall import RecallRetriever, RecallStore, compare, evaluate
        >>> store = RecallStore()
        >>> ids = store.add([{"id": "tea", "content": "Anna likes tea."}, "Bob plays chess."])
        >>> questions = [{"question": "Who likes tea?", "relevant": ["tea"]}]
        >>> ours = evaluate(RecallRetriever(store=store), questions)
        >>> function = evaluate(lambda question: [Document("Tea.", id="tea")], questions)
        >>> ours.figures["ndcg@10"], len(compare({"ours": ours, "mine": function}).evaluations)
        (1.0, 2)
        >>> store.close()
    """
    search = _search(retriever)
    return evaluate_with(lambda q: [*map(_memory, search(q))], questions, progress=progress)


def _search(retriever: Any) -> Search:
    ask: Any = getattr(retriever, "invoke", None) or getattr(retriever, "retrieve", None)
    if ask is not None and isinstance(retriever, MemoryRetriever):
        return lambda question: ask(question.question, **call_options(question))
    if ask is not None:
        name, bases = type(retriever).__name__, {each.__name__ for each in type(retriever).__mro__}
        if "VectorStoreRetriever" in bases:  # LangChain's
            return lambda question: ask(unscoped(question, name), k=LOOKED_AT)
        if "VectorIndexRetriever" in bases:  # LlamaIndex's
            deep = copy(retriever)
            deep.similarity_top_k = LOOKED_AT
            ask = deep.retrieve
        return lambda question: ask(unscoped(question, name))
    if callable(retriever):
        search: Search = retriever
        return search
    raise TypeError(
        "evaluate takes a retriever of LangChain or LlamaIndex, or a function of a question; "
        f"got {type(retriever).__name__}"
    )


def _memory(found: Any) -> Candidate:
    """A document, or a node with its score, as a memory."""
    if is_document(found):
        score, memory_id = found.metadata.get(SCORE_KEY), getattr(found, "id", None)
        return from_flat(found.page_content, found.metadata, memory_id=memory_id or "", score=score)
    node, score = getattr(found, "node", found), getattr(found, "score", None)
    return from_flat(node.get_content(), node.metadata, memory_id=node.node_id, score=score)
