"""Evaluations side by side: their figures, and the questions that make the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from recall_retrievers.evaluation.differences import (
    Difference,
    Grid,
    by_category,
    differences,
    means,
)
from recall_retrievers.evaluation.evaluate import Evaluation
from recall_retrievers.explain.explanation import plain_text
from recall_retrievers.text.words import printable

BY_CATEGORY = "recall@5"
"""The measure that is shown for each category."""

_SHOWN = 3  # questions better and questions worse that are shown


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several evaluations of the same questions, side by side.

    Printed, it has a table of the means, one by category where the questions name any, and the
    questions in which the last evaluation differs most from the first, with the reasons.

    Attributes:
        evaluations: Each by its name. The last is compared with the first.
    """

    evaluations: Mapping[str, Evaluation]

    @property
    def differences(self) -> list[Difference]:
        """The questions that the last answers better or worse than the first, by nDCG@10.

        The largest gain comes first, the largest loss last.
        """
        names = list(self.evaluations)
        ends = {name: self.evaluations[name] for name in (names[0], names[-1])}
        return differences(ends)

    def table(self) -> Table:
        """The means, a row for each evaluation, for a `rich` console."""
        return _table(means(self.evaluations))

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def __rich__(self) -> Group:
        return Group(*self._parts())

    def to_text(self, width: int = 100) -> str:
        """The tables as plain text of a given width, in characters."""
        return plain_text(self, width)

    def _parts(self) -> Iterator[RenderableType]:
        for title, grid in self._grids():
            if title:
                yield Text(f"\n{title}")
            yield _table(grid)
        yield Text(f"\n{printable(self._heading())}")
        if shown := self._largest():
            table = _headed("question", *shown[0].places, "why")
            table.columns[0].ratio, table.columns[-1].ratio = 2, 4
            for each in shown:
                words = (each.question.question, *each.placed, each.why)
                table.add_row(*(Text(printable(text)) for text in words))
            yield table

    def _grids(self) -> list[tuple[str, Grid]]:
        grids = [("", means(self.evaluations))]
        categories = by_category(self.evaluations, BY_CATEGORY)
        if any(categories.values()):
            grids.append((f"{BY_CATEGORY} by category (number of questions)", categories))
        return grids

    def _largest(self) -> list[Difference]:
        found = self.differences
        better = [each for each in found if each.change > 0]
        worse = [each for each in found if each.change < 0]
        return [*better[:_SHOWN], *worse[-_SHOWN:]]

    def _heading(self) -> str:
        names, found = list(self.evaluations), self.differences
        better = sum(each.change > 0 for each in found)
        worse = len(found) - better
        same = len(self.evaluations[names[0]].answers) - len(found)
        return (
            f"{names[-1]} against {names[0]}, by nDCG@10: {better} questions better, "
            f"{worse} worse, {same} the same. Below are the places of the wanted memories; "
            "- is not in the first ten."
        )


def compare(evaluations: Mapping[str, Evaluation]) -> Comparison:
    """Put evaluations of the same questions side by side.

    Args:
        evaluations: What `evaluate` returned, by the name to show, at least two. The last is
            compared with the first.

    Raises:
        TypeError: When it is no mapping of names to evaluations.
        ValueError: When there are fewer than two, or they are of different questions.

    Examples:
        >>> from recall_retrievers.evaluation.evaluate import evaluate_with
        >>> from recall_retrievers.core.memory import Memory
        >>> tea, dentist = Memory(id="m2", content="Tea."), Memory(id="m1", content="A dentist.")
        >>> questions = [{"question": "Which dentist?", "relevant": ["m1"]}]
        >>> compared = compare({
        ...     "before": evaluate_with(lambda question: [tea, dentist], questions),
        ...     "after": evaluate_with(lambda question: [dentist, tea], questions),
        ... })
        >>> compared.differences[0].places
        {'before': {'m1': 2}, 'after': {'m1': 1}}
    """
    if not isinstance(evaluations, Mapping):
        raise TypeError(
            f'compare takes evaluations by name, as in compare({{"mine": evaluation, ...}}); '
            f"got {type(evaluations).__name__}"
        )
    for name, evaluation in evaluations.items():
        if not isinstance(evaluation, Evaluation):
            raise TypeError(
                f"compare takes evaluations; got {type(evaluation).__name__} for {name!r}: "
                "give what evaluate(retriever, questions) returns"
            )
    if len(evaluations) < 2:
        raise ValueError(f"compare takes at least two evaluations; got {len(evaluations)}")
    questions = [[a.question for a in evaluation.answers] for evaluation in evaluations.values()]
    if any(own != questions[0] for own in questions):
        raise ValueError(
            "the evaluations are of different questions; evaluate each retriever with the same list"
        )
    return Comparison(dict(evaluations))


def _table(grid: Grid) -> Table:
    table = _headed("", *next(iter(grid.values())))
    table.columns[0].no_wrap = True
    for name, figures in grid.items():
        shown = ("-" if value is None else f"{value:.3f}" for value in figures.values())
        table.add_row(Text(printable(name)), *shown)
    return table


def _headed(*names: str) -> Table:
    # As `Text`, so that a name such as "[old]" is shown as it is.
    return Table(*(Column(Text(printable(name))) for name in names))
