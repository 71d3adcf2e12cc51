"""Ask any retriever of either framework labelled questions, and measure the answers.

The definitions of recall, nDCG and hit rate are those of trec_eval, with relevance as yes or no;
the tests compare every figure with it. They are written out here because they are four lines, and
its wrapper is a compiled package that only measuring needs.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import compress
from math import log2
from statistics import median
from typing import Any, Protocol

from recall_retrievers.core.candidate import Candidate, candidates
from recall_retrievers.core.flat_metadata import from_flat
from recall_retrievers.core.memory import SCORE_KEY, Memory
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.settings_messages import got
from recall_retrievers.evaluation.questions import Question, as_questions
from recall_retrievers.explain.explanation import Explanation, explain
from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store.chroma.framework_objects import is_document

Figures = dict[str, float]
"""Shares from 0 to 1, by the names of `MEASURES`."""

MEASURES = ("recall@5", "recall@10", "ndcg@10", "hit@5")
"""What is counted, and among how many of the first."""

LOOKED_AT = 10
"""How many memories of a ranking the measures look at."""

_GAINS = [1 / log2(place + 2) for place in range(LOOKED_AT)]


def score(relevant: Collection[str], ranking: Sequence[str]) -> Figures | None:
    """The figures of ids, the best first; None where nothing is relevant, so nothing can be found.

    Examples:
        >>> score({"a", "b"}, ["x", "a"])["recall@5"]
        0.5
    """
    if not relevant:
        return None
    hits = [each in relevant for each in ranking[:LOOKED_AT]]
    gain = sum(compress(_GAINS, hits)) / sum(_GAINS[: len(relevant)])
    values = (sum(hits[:5]) / len(relevant), sum(hits) / len(relevant), gain, float(any(hits[:5])))
    return dict(zip(MEASURES, values, strict=True))


def mean(figures: Sequence[Figures | None]) -> Figures:
    """The mean of each figure over the questions that have any; empty where none has."""
    counted = [each for each in figures if each is not None]
    names = counted[0] if counted else ()
    return {name: sum(each[name] for each in counted) / len(counted) for name in names}


Find = Callable[[Question], Sequence[Candidate | Memory]]
"""Answers one question with memories, the best first; `LOOKED_AT` of them are enough."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and its results.

    Attributes:
        question: The question.
        memories: The results, best first, at most ten.
        figures: How good that is; None where no memory answers the question.
        milliseconds: How long it took.
    """

    question: Question
    memories: tuple[Candidate, ...]
    figures: Figures | None
    milliseconds: float

    @property
    def found(self) -> tuple[str, ...]:
        """The ids that came back, the best first."""
        return tuple(memory.id for memory in self.memories)

    @property
    def missed(self) -> frozenset[str]:
        """The ids that should have come back and did not."""
        return self.question.relevant - set(self.found)

    @property
    def places(self) -> dict[str, int | None]:
        """Where each wanted memory stands, from 1; None where it did not come back."""
        places = {memory: place for place, memory in enumerate(self.found, 1)}
        return {memory: places.get(memory) for memory in sorted(self.question.relevant)}

    def explain(self) -> Explanation:
        """Why each memory came back, as `explain` shows it."""
        return explain(self.memories)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How well a retriever answers labelled questions. Printing it shows the means.

    Attributes:
        answers: One for each question, in order.
    """

    answers: tuple[Answered, ...]

    @property
    def figures(self) -> Figures:
        """The means over the questions that a memory answers; empty where there is none."""
        return mean([answer.figures for answer in self.answers])

    @property
    def by_category(self) -> dict[str, Figures]:
        """The means for each category that the questions name, in their order."""
        names = dict.fromkeys(answer.question.category for answer in self.answers)
        return {
            name: mean([a.figures for a in self.answers if a.question.category == name])
            for name in names
            if name
        }

    @property
    def milliseconds(self) -> float:
        """The median of what a question took."""
        return median(answer.milliseconds for answer in self.answers)

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {value:.3f}" for name, value in self.figures.items())
        return f"{len(self.answers)} questions: {shown or 'none that a memory answers'}"

    __repr__ = __str__


def evaluate_with(
    find: Find,
    questions: Iterable[Question | Mapping[str, object]],
    *,
    progress: bool = False,
    name: str | None = None,
) -> Evaluation:
    """Ask every question, and count; a progress bar has the name in front of it."""
    answers = []
    for question in progress_bar(
        as_questions(questions), unit="questions", desc=name, wanted=progress
    ):
        started = time.perf_counter()
        memories = find(question)
        took = 1000 * (time.perf_counter() - started)
        if not all(memory.id for memory in memories):
            raise ValueError(
                f"what came back for {got(question.question)} has no id, so it cannot be compared "
                "with the ids in relevant; store the memories with ids, and evaluate without a "
                "rewrite"
            )
        # A retriever of a user's own may return a memory twice: it counts where it comes first.
        once: dict[str, Candidate | Memory] = {}
        for memory in memories:
            once.setdefault(memory.id or "", memory)
        first = candidates([*once.values()][:LOOKED_AT])
        figures = score(question.relevant, [memory.id for memory in first])
        answers.append(Answered(question, first, figures, took))
    return Evaluation(tuple(answers))


def call_options(question: Question) -> CallOptions:
    """The settings of a call to one of our retrievers: what the question sets, and ten memories."""
    return {**question.options(), "k": LOOKED_AT, "everyone": True}


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
            return lambda question: ask(_unscoped(question, name), k=LOOKED_AT)
        if "VectorIndexRetriever" in bases:  # LlamaIndex's
            deep = copy(retriever)
            deep.similarity_top_k = LOOKED_AT
            ask = deep.retrieve
        return lambda question: ask(_unscoped(question, name))
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
        own, memory_id = found.metadata.get(SCORE_KEY), getattr(found, "id", None)
        return from_flat(found.page_content, found.metadata, memory_id=memory_id or "", score=own)
    node, own = getattr(found, "node", found), getattr(found, "score", None)
    return from_flat(node.get_content(), node.metadata, memory_id=node.node_id, score=own)


def _unscoped(question: Question, retriever: str) -> str:
    """The words of a question, for a retriever that cannot be held to a scope."""
    if scope := question.scope.fields():
        raise ValueError(
            f"{got(question.question)} has the scope {scope}, to which {retriever} cannot be held; "
            "evaluate a function instead, which is called with each question and searches in "
            "question.scope: evaluate(lambda question: ..., questions)"
        )
    return question.question
