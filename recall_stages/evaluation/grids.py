"""The figures of several evaluations as rows and columns, for text, HTML and pictures alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recall_stages.evaluation.evaluate import Evaluation
from recall_stages.evaluation.metrics import MEASURES


@dataclass(frozen=True, slots=True)
class Grid:
    """Figures by row and column.

    Attributes:
        columns: The heads of the columns.
        rows: For each evaluation, by its name, a figure a column; None where it has none.
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[float | None, ...]]


def means(evaluations: Mapping[str, Evaluation]) -> Grid:
    """The means over all questions, a column for each measure."""
    rows = {
        name: tuple(evaluation.figures.get(measure) for measure in MEASURES)
        for name, evaluation in evaluations.items()
    }
    return Grid(tuple(MEASURES), rows)


def by_category(evaluations: Mapping[str, Evaluation], measure: str) -> Grid:
    """The means of one measure, a column for each category with its number of questions."""
    first = next(iter(evaluations.values()))
    counts = {
        name: sum(answer.question.category == name for answer in first.answers)
        for name in first.by_category
    }
    rows = {
        name: tuple(evaluation.by_category[each].get(measure) for each in counts)
        for name, evaluation in evaluations.items()
    }
    return Grid(tuple(f"{name} ({count})" for name, count in counts.items()), rows)
