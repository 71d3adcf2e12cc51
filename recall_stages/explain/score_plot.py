"""A picture of how each score was built, a lane for each step; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from recall_stages.core.candidate import Candidate
from recall_stages.explain.canvas import EMPTY, axes_of, labels, written
from recall_stages.explain.colours import COLOURS, OF_RELEVANCE
from recall_stages.explain.rows import Row, highest, rows

_GAP = 0.7  # lanes between two memories
_LANE = 0.26  # inches
_THICK = 0.72  # of a bar, in lanes
_BESIDE = 0.025  # how far from a bar its words stand, in parts of the highest score
_ROOM = 1.6  # how much wider than the highest score the picture is, for what stands beside the bars


def plot_scores(memories: Sequence[Candidate], ax: Axes | None = None) -> Axes:
    """Draw how each score was built.

    Args:
        memories: The memories, best first.
        ax: Where to draw; None = a figure of its own.

    Returns:
        Where it was drawn.
    """
    ways = [rows(memory) for memory in memories]
    lanes = sum(_lanes(way) + _GAP for way in ways)
    ax = axes_of(_LANE * lanes + 0.8, ax)
    top, middles = 0.0, []
    most = highest(ways)
    for way in ways:
        middles.append(top + (_lanes(way) - 1) / 2)
        _draw(ax, way, top, _BESIDE * most)
        top += _lanes(way) + _GAP
    ax.set_yticks(middles, labels(memories), **written())
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, _ROOM * most)
    ax.set_ylim(max(top, 1.0) - _GAP, -1)
    ax.set_xlabel("score")
    ax.set_title("How each score was built" if memories else EMPTY, loc="left", fontsize="medium")
    return ax


def _lanes(way: Sequence[Row]) -> int:
    return max(len(way), 1)


def _draw(ax: Axes, way: Sequence[Row], top: float, beside: float) -> None:
    for lane, step in enumerate(way):
        if lane:
            ax.plot([step.before] * 2, [top + lane - 1, top + lane], color="gray", linewidth=0.8)
        _bar(ax, step, top + lane)
        right = max(step.before, step.after) + beside
        ax.text(right, top + lane, step.whole, va="center", fontsize="small", **written())
    if way:
        ax.plot([way[-1].after], [top + len(way) - 1], marker="D", color="gray", markersize=5)


def _bar(ax: Axes, step: Row, y: float) -> None:
    """From before a step to after it: solid what it added, hatched what it took away."""
    lost = step.after < step.before
    colour = COLOURS.get(step.name, OF_RELEVANCE)
    ax.barh(
        y,
        step.after - step.before,
        left=step.before,
        height=_THICK,
        color="none" if lost else colour,
        edgecolor=colour,
        hatch="////" if lost else None,
        linewidth=1 if lost else 0,
    )
