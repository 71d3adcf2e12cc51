"""Ask labelled questions, and count what came back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from recall_stages.evaluation.metrics import LOOKED_AT, Figures, mean, score
from recall_stages.evaluation.questions import Question
from recall_stages.progress import progress_bar
from recall_stages.retriever import CallOptions

Ids = Callable[[str, CallOptions], Sequence[str]]
"""Asks one question with the settings of a call, and returns the ids found, the best first."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One question and what came back.

    Attributes:
        question: What was asked.
        found: The ids that came back, the best first.
        figures: How good that is; None where no memory answers the question.
        milliseconds: How long it took.
    """

    question: Question
    found: tuple[str, ...]
    figures: Figures | None
    milliseconds: float

    @property
    def missed(self) -> frozenset[str]:
        """The ids that should have come back and did not."""
        return self.question.relevant - set(self.found)


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
        return mean([each.figures for each in self.answers])

    @property
    def milliseconds(self) -> float:
        """The median of what a question took."""
        return median(each.milliseconds for each in self.answers)

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {value:.3f}" for name, value in self.figures.items())
        return f"{len(self.answers)} questions: {shown or 'none that a memory answers'}"

    __repr__ = __str__


def evaluate_ids(ask: Ids, questions: Iterable[Question], *, progress: bool = False) -> Evaluation:
    """Ask every question, and count.

    Args:
        ask: What finds the ids; it is asked for the first ten (``k``).
        questions: See `Question` and `read_questions`.
        progress: Show a progress bar on standard error, where that is a terminal.

    Raises:
        ValueError: When there is no question.

    Examples:
        >>> asked = [Question(question="Which dentist?", relevant=["m1"])]
        >>> evaluation = evaluate_ids(lambda text, options: ["m2", "m1"], asked)
        >>> evaluation.figures["recall@5"], round(evaluation.figures["ndcg@10"], 3)
        (1.0, 0.631)
    """
    listed = list(questions)
    if not listed:
        raise ValueError("there is no question to evaluate; give at least one Question")
    answers = []
    for each in progress_bar(listed, unit="questions", wanted=progress):
        options = each.options()
        options["k"] = LOOKED_AT
        started = time.perf_counter()
        found = tuple(ask(each.question, options))
        took = 1000 * (time.perf_counter() - started)
        answers.append(Answered(each, found, score(each.relevant, found), took))
    return Evaluation(tuple(answers))
