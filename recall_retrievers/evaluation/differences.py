"""How evaluations differ: their figures in rows and columns, and the questions, with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from recall_retrievers.evaluation.evaluate import Answered, Evaluation
from recall_retrievers.evaluation.metrics import MEASURES
from recall_retrievers.evaluation.questions import Question
from recall_retrievers.explain.rows import rows, understood

_DECIDES = "ndcg@10"  # it sees that a memory moved up, where recall sees only whether it is there
_TEXT = 60  # characters of a memory that are shown

Grid = dict[str, dict[str, float | None]]
"""Figures by row and column: for each evaluation, by its name, a figure a column, or None."""

Places = dict[str, int | None]
"""By the id of a wanted memory, where it stands, from 1; None = not in the first ten."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that one evaluation answers better than the other.

    Attributes:
        question: The question.
        change: nDCG@10 of the second less that of the first: above 0, the second is better.
        places: By the name of each evaluation, where the wanted memories stand in it.
        why: What lifted the best wanted memory in the second, or the memory that stands before it.
    """

    question: Question
    change: float
    places: dict[str, Places]
    why: str

    @property
    def placed(self) -> list[str]:
        """The places in words, one text for each evaluation, such as "1, 4, -"."""
        return [_in_words(places) for places in self.places.values()]


def differences(two: Mapping[str, Evaluation]) -> list[Difference]:
    """The questions that the second answers better or worse, the largest gain first.

    Args:
        two: Two evaluations of the same questions, by name.
    """
    (first_name, first), (second_name, second) = two.items()
    found = []
    for before, after in zip(first.answers, second.answers, strict=True):
        if before.figures is None or after.figures is None:
            continue
        change = after.figures[_DECIDES] - before.figures[_DECIDES]
        if change:
            places = {first_name: before.places, second_name: after.places}
            why = _why(after, better=change > 0)
            found.append(Difference(before.question, change, places, why))
    return sorted(found, key=lambda difference: -difference.change)


def _in_words(places: Places) -> str:
    found = sorted(place for place in places.values() if place is not None)
    return ", ".join([*map(str, found), *["-"] * (len(places) - len(found))])


def _why(answered: Answered, *, better: bool) -> str:
    """How the best wanted memory came to its score; where it got worse, what stands before it."""
    lines = understood(answered.memories)
    wanted = answered.question.relevant
    shown = next((m for m in answered.memories if (m.id in wanted) == better), None)
    if shown is None:
        return "\n".join([*lines, "nothing was found" if not answered.memories else ""]).strip()
    place = answered.memories.index(shown) + 1
    text = " ".join(shown.content.split())
    short = f"{text[:_TEXT]}…" if len(text) > _TEXT else text
    way = ", ".join(row.label for row in rows(shown))
    return "\n".join([*lines, f"{place}. {short}", way]).strip()


def means(evaluations: Mapping[str, Evaluation]) -> Grid:
    """The means over all questions, a column for each measure."""
    figures = {name: evaluation.figures for name, evaluation in evaluations.items()}
    return {name: {each: own.get(each) for each in MEASURES} for name, own in figures.items()}


def by_category(evaluations: Mapping[str, Evaluation], measure: str) -> Grid:
    """The means of one measure, a column for each category with its number of questions."""
    first = next(iter(evaluations.values()))
    counts = Counter(answer.question.category for answer in first.answers)
    figures = {name: evaluation.by_category for name, evaluation in evaluations.items()}
    return {
        name: {f"{each} ({counts[each]})": own[each].get(measure) for each in first.by_category}
        for name, own in figures.items()
    }
