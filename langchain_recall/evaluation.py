"""How well a retriever answers labelled questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from langchain_core.documents import Document
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_recall._convert import to_memory
from langchain_recall.retriever import RecallRetriever
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

Searcher = Runnable[str, list[Document]] | Callable[[Question], Sequence[Document]]
"""What can be evaluated: any retriever, a chain that ends with one, or a function."""


def evaluate(
    retriever: Searcher,
    questions: Iterable[Question | Mapping[str, object]],
    *,
    progress: bool = False,
) -> Evaluation:
    """Ask a retriever questions of which the answers are known, and count.

    Args:
        retriever: Ours, any other retriever of LangChain's, a chain that returns documents, or
            a function that is called with each `Question` and returns documents.
            Ours keeps to the scope and the time of each question. Ours and a vector store's own
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
            the retriever cannot be held, or a document has no id.

    Examples:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> from langchain_recall import RecallRetriever, RecallStore, compare, evaluate
        >>> questions = [{"question": "Who likes tea?", "relevant": ["tea"]}]
        >>> theirs = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
        >>> ids = theirs.add_texts(["Anna likes tea.", "Bob plays chess."], ids=["tea", "chess"])
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
            retriever.invoke(question.question, **call_options(question))
        )
    if isinstance(retriever, Runnable):
        name = retriever.get_name()
        if isinstance(retriever, VectorStoreRetriever):
            return lambda question: _memories(
                retriever.invoke(unscoped(question, name), k=LOOKED_AT)
            )
        return lambda question: _memories(retriever.invoke(unscoped(question, name)))
    if callable(retriever):
        return lambda question: _memories(retriever(question))
    raise TypeError(
        "evaluate takes a retriever of LangChain's or a function of a question; "
        f"got {type(retriever).__name__}"
    )


def _memories(documents: Sequence[Document]) -> list[Memory]:
    return [to_memory(document) for document in documents]
