"""A picture of the steps to each score, one lane for each step; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.explain.canvas import axes_of, labels, text_style
from recall_retrievers.explain.rows import EMPTY, Row, highest, rows

_GAP = 0.7  # lanes between two memories
_LANE = 0.26  # inches
_THICK = 0.72  # lanes: the height of a bar
_DISTANCE = 0.025  # between a bar and its label, as a share of the highest score
_ROOM = 1.6  # the width of the picture, as a multiple of the highest score: labels need room


def plot_scores(memories: Sequence[Candidate], ax: Axes | None) -> Axes:
    """Draw the steps to each score; see `Explanation.plot_scores`."""
    ways = [rows(memory) for memory in memories]
    lanes = sum(_lanes(way) + _GAP for way in ways)
    ax = axes_of(_LANE * lanes + 0.8, ax)
    top, middles = 0.0, []
    most = highest(ways)
    for way in ways:
        middles.append(top + (_lanes(way) - 1) / 2)
        _draw(ax, way, top, _DISTANCE * most)
        top += _lanes(way) + _GAP
    ax.set_yticks(middles, labels(memories), **text_style())
    ax.set_xlim(0, _ROOM * most)
    ax.set_ylim(max(top, 1.0) - _GAP, -1)
    ax.set_xlabel("score")
    ax.set_title("How each score was built" if memories else EMPTY, loc="left", fontsize="medium")
    return ax


def _lanes(way: Sequence[Row]) -> int:
    return max(len(way), 1)


def _draw(ax: Axes, way: Sequence[Row], top: float, distance: float) -> None:
    for lane, step in enumerate(way):
        if lane:
            ax.plot([step.before] * 2, [top + lane - 1, top + lane], color="gray", linewidth=0.8)
        _bar(ax, step, top + lane)
        right = max(step.before, step.after) + distance
        ax.text(right, top + lane, step.whole, va="center", fontsize="small", **text_style())
    if way:
        ax.plot([way[-1].after], [top + len(way) - 1], marker="D", color="gray", markersize=5)


def _bar(ax: Axes, step: Row, y: float) -> None:
    """A bar from the score before a step to the score after it; a loss is hatched."""
    lost = step.after < step.before
    ax.barh(
        y,
        step.after - step.before,
        left=step.before,
        height=_THICK,
        color="none" if lost else step.colour,
        edgecolor=step.colour,
        hatch="////" if lost else None,
        linewidth=1 if lost else 0,
    )
