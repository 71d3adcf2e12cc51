"""A comparison as HTML: its figures with bars, and the questions that make the difference."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from recall_retrievers.evaluation.differences import Difference, Grid
from recall_retrievers.explain.html import bar, cell, page, row, table
from recall_retrievers.explain.rows import OF_RELEVANCE, OTHER

_BEST, _REST = f"background:{OF_RELEVANCE}", f"background:{OTHER}"


def as_html(grids: Sequence[tuple[str, Grid]], heading: str, shown: Sequence[Difference]) -> str:
    """The tables of a comparison, as a piece of HTML; the best of each column has a coloured bar.

    Args:
        grids: The figures, each with its title.
        heading: The sentence above the questions.
        shown: The questions to show.
    """
    parts = [part for title, grid in grids for part in (_line(title), _figures(grid))]
    parts.append(_line(heading))
    if shown:
        names = (escape(name) for name in shown[0].places)
        parts.append(table(["question", *names, "why"], [_question(each) for each in shown]))
    return page(*parts)


def _line(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _figures(grid: Grid) -> str:
    columns = list(next(iter(grid.values())))
    best = [max(figures[each] or 0 for figures in grid.values()) for each in columns]
    rows = [
        row([cell(escape(name), "white-space:nowrap"), *map(_figure, figures.values(), best)])
        for name, figures in grid.items()
    ]
    return table(["", *map(escape, columns)], rows)


def _figure(value: float | None, best: float) -> str:
    if value is None:
        return cell("-")
    leads = value == best
    number = f"<strong>{value:.3f}</strong>" if leads else f"{value:.3f}"
    return cell(f"{number}{bar(0, 100 * value, _BEST if leads else _REST)}")


def _question(difference: Difference) -> str:
    placed = (cell(places, "white-space:nowrap") for places in difference.placed)
    why = "<br>".join(escape(line) for line in difference.why.splitlines())
    return row([cell(escape(difference.question.question)), *placed, cell(why)])
