"""A picture of a comparison: a row for all questions and for each category; needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from recall_retrievers.evaluation.differences import by_category, means
from recall_retrievers.evaluation.evaluate import Evaluation
from recall_retrievers.explain.canvas import axes_of, text_style
from recall_retrievers.explain.rows import COLOURS, OF_RELEVANCE, OTHER

_INK = (OTHER, OF_RELEVANCE, *dict.fromkeys(COLOURS.values()))
_MARKS = "osD^vPX"


def plot_figures(evaluations: Mapping[str, Evaluation], measure: str, ax: Axes | None) -> Axes:
    """Draw a dot for each evaluation, in a row for all questions and one for each category.

    See `Comparison.plot`.
    """
    everything, categories = means(evaluations), by_category(evaluations, measure)
    first = next(iter(evaluations))
    rows = [f"all ({len(evaluations[first].answers)})", *categories[first]]
    ax = axes_of(0.5 * len(rows) + 1.2, ax)
    for number, name in enumerate(evaluations):
        values = [everything[name][measure], *categories[name].values()]
        drawn = [(value, at) for at, value in enumerate(values) if value is not None]
        ax.plot(
            [value for value, _ in drawn],
            [at for _, at in drawn],
            linestyle="",
            marker=_MARKS[number % len(_MARKS)],
            markersize=9,
            color=_INK[number % len(_INK)],
            label=name,
        )
    ax.set_yticks(range(len(rows)), rows, **text_style())
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, 1.02)
    ax.grid(axis="y", color=OTHER, alpha=0.3)
    ax.set_xlabel(f"{measure} (more is better)")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, fontsize="small")
    return ax
