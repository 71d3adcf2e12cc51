"""A picture of the times of memories, with the time of the question shaded; needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import groupby, takewhile
from textwrap import wrap
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num, num2date
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import stamped_ranges
from recall_retrievers.explain.canvas import axes_of, labels, text_style
from recall_retrievers.explain.rows import EMPTY, EVENT, IN_RANGE, OTHER, understood
from recall_retrievers.timeline import TimeRange

_MARGIN = 0.06  # as a share of the width, on either side
_TITLE = 70  # characters in a line of the title
_MOST = 10_000  # days, or hours, that are tried for a recurrence such as "on Mondays"

_CERTAIN: dict[str, Any] = {"facecolor": IN_RANGE, "alpha": 0.3, "linewidth": 0}
_POSSIBLE: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": IN_RANGE,
    "hatch": "...",
    "alpha": 0.5,
}

_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)

_View = tuple[float, float]  # its first and its last moment, in the days of matplotlib


def plot_timeline(memories: Sequence[Candidate], ax: Axes | None) -> Axes:
    """Draw the recorded time and the events of each memory; see `Explanation.plot_timeline`."""
    ax = axes_of(0.5 * len(memories) + 1.6, ax)
    ranges = stamped_ranges(memories)
    view = _view(memories, ranges)
    for time_range in ranges:
        for other in time_range.alternatives:
            _shade(ax, other, view, _POSSIBLE)
        _shade(ax, time_range, view, _CERTAIN)
    for row, memory in enumerate(memories):
        _draw(ax, memory, row, view, ranges)
    ax.set_xlim(view)
    ax.set_ylim(max(len(memories), 1) - 0.5, -0.5)
    ax.set_yticks(range(len(memories)), labels(memories), **text_style())
    zone = _zone(memories, ranges)
    locator = AutoDateLocator(tz=zone, minticks=3, maxticks=8)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone))
    lines = understood(memories) if memories else [EMPTY]
    title = "\n".join(part for line in lines for part in wrap(line, _TITLE))
    ax.set_title(title, loc="left", fontsize="medium", **text_style())
    _legend(ax, memories, ranges)
    return ax


def _legend(ax: Axes, memories: Sequence[Candidate], ranges: Sequence[TimeRange]) -> None:
    recorded = Line2D([], [], linestyle="", marker="o", color=OTHER, markerfacecolor="none")
    keys: dict[str, Artist] = {"recorded": recorded}
    if ranges:
        keys["recorded in the time asked about"] = Line2D([], [], ls="", marker="o", color=IN_RANGE)
        keys["time asked about"] = Patch(**_CERTAIN)
    if any(each.alternatives for each in ranges):
        keys["also possible"] = Patch(**_POSSIBLE)
    if any(memory.events for memory in memories):
        keys["time it tells of"] = Line2D([], [], color=EVENT, linewidth=3)
    ax.legend(
        keys.values(),
        keys,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + ScaledTranslation(0, -0.45, ax.figure.dpi_scale_trans),
        ncols=3,
        frameon=False,
        fontsize="small",
    )


def _zone(memories: Sequence[Candidate], ranges: Sequence[TimeRange]) -> tzinfo:
    """The time zone of the picture: that of the question, else that of the memories."""
    understood_zones = [each.time_zone for each in ranges]
    recorded = [each.created_at.tzinfo for each in memories if each.created_at]
    return next(filter(None, [*understood_zones, *recorded]), UTC)


def _view(memories: Sequence[Candidate], ranges: Sequence[TimeRange]) -> _View:
    """The span of all times, with a margin; at least a day."""
    times = [each.created_at for each in memories]
    readings = [reading for each in ranges for reading in (each, *each.alternatives)]
    events = [event for memory in memories for event in memory.events]
    times += [bound for each in (*readings, *events) for bound in (each.start, each.end)]
    days = [_days(moment) for moment in times if moment is not None]
    first, last = min(days, default=0.0), max(days, default=1.0)
    margin = max(_MARGIN * (last - first), 0.5 if last - first < 1 else 0.0)
    earliest, latest = map(_days, (_EARLIEST, _LATEST))
    return max(first - margin, earliest), min(last + margin, latest)


def _draw(ax: Axes, memory: Candidate, row: int, view: _View, ranges: Sequence[TimeRange]) -> None:
    for event in memory.events:
        for stretch in _stretches(event, view):
            ax.plot(stretch, [row, row], color=EVENT, linewidth=3, marker="|", markersize=9)
    moment = memory.created_at
    if moment is None:
        ax.text(sum(view) / 2, row, "no date", color="gray", va="center", ha="center")
        return
    inside = any(each.contains(moment) for each in ranges)
    colour, filled = (IN_RANGE, IN_RANGE) if inside else (OTHER, "none")
    ax.plot([_days(moment)], [row], marker="o", color=colour, markerfacecolor=filled)


def _shade(ax: Axes, time_range: TimeRange, view: _View, style: Mapping[str, Any]) -> None:
    for left, right in _stretches(time_range, view):
        ax.axvspan(left, right, **style, zorder=0)


def _stretches(time_range: TimeRange, view: _View) -> Iterator[_View]:
    """The stretches of a range in the view: one, or for "on Mondays" every Monday."""
    left = view[0] if time_range.start is None else max(_days(time_range.start), view[0])
    right = view[1] if time_range.end is None else min(_days(time_range.end), view[1])
    if left >= right:
        return
    if time_range.recurrence is None:
        yield left, right
        return
    grain = timedelta(hours=1) if time_range.recurrence.hours else timedelta(days=1)
    zone = time_range.time_zone or time_range.recurrence.timezone or UTC
    moment = num2date(left, zone).replace(minute=0, second=0, microsecond=0)
    if not time_range.recurrence.hours:
        moment = moment.replace(hour=0)
    moments = (moment + n * grain for n in range(_MOST))
    seen = takewhile(lambda each: _days(each) < right, moments)
    for inside, run in groupby(seen, key=time_range.contains):
        if inside:
            inner = [*run]
            yield max(_days(inner[0]), left), min(_days(inner[-1] + grain), right)


def _days(moment: datetime) -> float:
    """A moment as matplotlib counts it."""
    return float(date2num(moment))
