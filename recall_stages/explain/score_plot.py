"""A picture of how each score was built, a lane for each step; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from recall_stages.core.memory import Memory
from recall_stages.explain.build_up import BuildUp, Step, build_up
from recall_stages.explain.canvas import EMPTY, axes_of, labels, written
from recall_stages.explain.colours import COLOURS

_GAP = 0.7  # lanes between two memories
_LANE = 0.26  # inches
_THICK = 0.72  # of a bar, in lanes
_BESIDE = 0.025  # how far from a bar its words stand, in parts of the highest score
_ROOM = 1.6  # how much wider than the highest score the picture is, for what stands beside the bars


def plot_scores(memories: Sequence[Memory], ax: Axes | None = None) -> Axes:
    """Draw how each score was built.

    Args:
        memories: The memories, best first.
        ax: Where to draw; None = a figure of its own.

    Returns:
        Where it was drawn.
    """
    ways = [build_up(memory) for memory in memories]
    lanes = sum(_lanes(way) + _GAP for way in ways)
    ax = axes_of(_LANE * lanes + 0.8, ax)
    top, middles = 0.0, []
    highest = max((way.highest for way in ways), default=0.0) or 1.0
    for way in ways:
        middles.append(top + (_lanes(way) - 1) / 2)
        _draw(ax, way, top, _BESIDE * highest)
        top += _lanes(way) + _GAP
    ax.set_yticks(middles, labels(memories), **written())
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, _ROOM * highest)
    ax.set_ylim(max(top, 1.0) - _GAP, -1)
    ax.set_xlabel("score")
    ax.set_title("How each score was built" if memories else EMPTY, loc="left", fontsize="medium")
    return ax


def _lanes(way: BuildUp) -> int:
    return 1 + len(way.weighed)


def _draw(ax: Axes, way: BuildUp, top: float, beside: float) -> None:
    if not way.found:
        return
    for step in way.found:
        _bar(ax, step, top)
    told = [(way.found[-1], " + ".join(step.told for step in way.found))]
    told += [(step, step.whole) for step in way.weighed]
    for lane, (step, text) in enumerate(told):
        if lane:
            ax.plot([step.before] * 2, [top + lane - 1, top + lane], color="gray", linewidth=0.8)
            _bar(ax, step, top + lane)
        right = max(step.before, step.after) + beside
        ax.text(right, top + lane, text, va="center", fontsize="small", **written())
    ax.plot([way.steps[-1].after], [top + lane], marker="D", color="gray", markersize=5)


def _bar(ax: Axes, step: Step, y: float) -> None:
    """From before a step to after it: solid what it added, hatched what it took away."""
    lost = step.after < step.before
    ax.barh(
        y,
        step.after - step.before,
        left=step.before,
        height=_THICK,
        color="none" if lost else COLOURS[step.kind],
        edgecolor=COLOURS[step.kind],
        hatch="////" if lost else None,
        linewidth=1 if lost else 0,
    )
