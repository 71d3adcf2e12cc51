"""Ask labelled questions, and measure the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from recall_retrievers.core.candidate import Candidate, candidates
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.settings_messages import got
from recall_retrievers.core.tracing import progress_bar
from recall_retrievers.evaluation.metrics import LOOKED_AT, Figures, mean, score
from recall_retrievers.evaluation.questions import Question, as_questions
from recall_retrievers.explain.explanation import Explanation, explain
from recall_retrievers.retriever.call_options import CallOptions

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
    return {**question.options(), "k": LOOKED_AT}


def unscoped(question: Question, retriever: str) -> str:
    """The words of a question, for a retriever that cannot be held to a scope."""
    if scope := question.scope.fields():
        raise ValueError(
            f"{got(question.question)} has the scope {scope}, to which {retriever} cannot be held; "
            "evaluate a function instead, which is called with each question and searches in "
            "question.scope: evaluate(lambda question: ..., questions)"
        )
    return question.question
