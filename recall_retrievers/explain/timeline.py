"""A picture of the times of memories as SVG: when each was recorded, and of when it tells.

It has no script. Text, lines and ground follow the reader's light or dark system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from html import escape
from itertools import groupby, takewhile
from math import ceil

from rich.text import Text

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import stamped_ranges
from recall_retrievers.explain.rows import EMPTY, EVENT, IN_RANGE, OTHER, understood
from recall_retrievers.text.words import printable
from recall_retrievers.timeline import TimeRange

_WIDTH, _LEFT, _RIGHT = 900, 280, 28  # units of the picture; on the left stand the labels
_LINE, _TOP = 26, 30
_LABEL = 36  # the width of a label, in letters
_TICKS = 6
_MOST = 10_000  # days, or hours, that are tried for a recurrence such as "on Mondays"
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)

_STYLE = (
    "<style>svg{color:#1f2328}.ground{fill:#ffffff}"
    "@media (prefers-color-scheme:dark){svg{color:#e6edf3}.ground{fill:#0d1117}}</style>"
)

_Span = tuple[datetime, datetime]


def draw(memories: Sequence[Candidate]) -> str:
    """The picture: a line for each memory, with the time that the question names shaded."""
    ranges = stamped_ranges(memories)
    view = _view(memories, ranges)
    bottom = _TOP + _LINE * len(memories)
    said = " ".join(understood(memories)) if memories else EMPTY
    parts = [_text(0, 18, printable(said))]
    for time_range in ranges:
        for other in time_range.alternatives:
            parts += _band(other, view, bottom, "0.1", dashes=' stroke-dasharray="3 3"')
        parts += _band(time_range, view, bottom, "0.3")
    for number, memory in enumerate(memories):
        y = _TOP + _LINE * number + _LINE / 2
        parts += [_text(0, y + 4, _label(number + 1, memory)), *_times(memory, y, view, ranges)]
    parts += _axis(view, bottom, _zone(memories, ranges))
    parts += _legend(memories, ranges, bottom + 44)
    height = bottom + 58
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 {_WIDTH} {height}" role="img" '
        'font-family="system-ui,sans-serif" font-size="13" fill="currentColor">'
        f"<title>{escape(alt(memories))}</title>{_STYLE}"
        f'<rect class="ground" x="-8" width="{_WIDTH}" height="{height}"/>{"".join(parts)}</svg>'
    )


def alt(memories: Sequence[Candidate]) -> str:
    """The picture in words, for readers who do not see it."""
    return printable(" ".join([f"The times of {len(memories)} memories.", *understood(memories)]))


def _times(memory: Candidate, y: float, view: _Span, ranges: Sequence[TimeRange]) -> Iterator[str]:
    """The dot of the recorded time, the bars of the events, and thin lines between them."""
    moment = memory.created_at
    for event in memory.events:
        for start, end in _stretches(event, view):
            left, right = _x(start, view), _x(end, view)
            if moment is not None:
                middle = (left + right) / 2
                yield _line(_x(moment, view), y, middle, y, f'stroke="{EVENT}"')
            yield _box(left, y - 4, max(right - left, 3), 8, f'fill="{EVENT}"')
    if moment is None:
        yield _text(_LEFT, y + 4, "no date", ' opacity="0.7"')
        return
    inside = any(each.contains(moment) for each in ranges)
    colour = IN_RANGE if inside else OTHER
    yield _dot(_x(moment, view), y, colour, filled=inside)


def _legend(memories: Sequence[Candidate], ranges: Sequence[TimeRange], y: float) -> Iterator[str]:
    keys = [("recorded", _dot(6, y - 4, OTHER, filled=False))]
    if any(memory.events for memory in memories):
        keys.append(("time it tells of", _box(0, y - 8, 12, 8, f'fill="{EVENT}"')))
    if ranges:
        band = f'fill="{IN_RANGE}" fill-opacity="0.3"'
        keys.append(("time asked for", _box(0, y - 10, 12, 12, band)))
        keys.append(("recorded in it", _dot(6, y - 4, IN_RANGE, filled=True)))
    if any(each.alternatives for each in ranges):
        band = f'fill="{IN_RANGE}" fill-opacity="0.1" stroke="{IN_RANGE}" stroke-dasharray="3 3"'
        keys.append(("also possible", _box(0, y - 10, 12, 12, band)))
    x = 0
    for name, mark in keys:
        yield f'<g transform="translate({x} 0)">{mark}{_text(18, y, name)}</g>'
        x += 40 + 7 * len(name)


def _axis(view: _Span, y: float, zone: tzinfo) -> Iterator[str]:
    yield _line(_LEFT, y, _WIDTH - _RIGHT, y, 'stroke="currentColor" stroke-opacity="0.4"')
    grain = _DAY if view[1] - view[0] > 4 * _DAY else _HOUR
    form = "%Y-%m-%d" if grain == _DAY else "%m-%d %H:%M"
    step = ceil((view[1] - view[0]) / grain / _TICKS) * grain
    first = _rounded(view[0].astimezone(zone), grain) + grain
    for n in range((view[1] - first) // step + 1):
        x = _x(first + n * step, view)
        yield _line(x, y, x, y + 4, 'stroke="currentColor" stroke-opacity="0.4"')
        label = format(first + n * step, form)
        yield _text(x, y + 18, label, ' text-anchor="middle" font-size="11"')


def _band(
    time_range: TimeRange, view: _Span, bottom: float, opacity: str, *, dashes: str = ""
) -> Iterator[str]:
    edge = f' stroke="{IN_RANGE}"{dashes}' if dashes else ""
    for start, end in _stretches(time_range, view):
        left, right = _x(start, view), _x(end, view)
        look = f'fill="{IN_RANGE}" fill-opacity="{opacity}"{edge}'
        yield _box(left, _TOP, max(right - left, 1), bottom - _TOP, look)


def _zone(memories: Sequence[Candidate], ranges: Sequence[TimeRange]) -> tzinfo:
    """The time zone of the picture: that of the question, else that of the memories."""
    recorded = [each.created_at.tzinfo for each in memories if each.created_at]
    return next(filter(None, [*(each.time_zone for each in ranges), *recorded]), UTC)


def _view(memories: Sequence[Candidate], ranges: Sequence[TimeRange]) -> _Span:
    """The span of all times, with a margin; at least a day."""
    readings = [reading for each in ranges for reading in (each, *each.alternatives)]
    events = [event for memory in memories for event in memory.events]
    times = [bound for each in (*readings, *events) for bound in (each.start, each.end)]
    times += [each.created_at for each in memories]
    known = [min(max(each, _EARLIEST), _LATEST) for each in times if each is not None]
    first, last = min(known, default=_EARLIEST), max(known, default=_EARLIEST)
    margin = max((last - first) / 20, _DAY / 2 if last - first < _DAY else timedelta())
    return max(first - margin, _EARLIEST), min(last + margin, _LATEST)


def _stretches(time_range: TimeRange, view: _Span) -> Iterator[_Span]:
    """The stretches of a range in the view: one, or for "on Mondays" every Monday."""
    left, right = max(time_range.start or view[0], view[0]), min(time_range.end or view[1], view[1])
    if left >= right:
        return
    if time_range.recurrence is None:
        yield left, right
        return
    grain = _HOUR if time_range.recurrence.hours else _DAY
    zone = time_range.time_zone or time_range.recurrence.timezone or UTC
    first = _rounded(left.astimezone(zone), grain)
    seen = takewhile(lambda each: each < right, (first + n * grain for n in range(_MOST)))
    for inside, run in groupby(seen, key=time_range.contains):
        if inside:
            inner = [*run]
            yield max(inner[0], left), min(inner[-1] + grain, right)


def _rounded(moment: datetime, grain: timedelta) -> datetime:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour if grain == _HOUR else hour.replace(hour=0)


def _x(moment: datetime, view: _Span) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * ((moment - view[0]) / (view[1] - view[0]))


def _label(number: int, memory: Candidate) -> str:
    # Rich knows that a Chinese character is as wide as two letters.
    label = Text(printable(f"{number}. {' '.join(memory.content.split())}"))
    label.truncate(_LABEL, overflow="ellipsis")
    return label.plain


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, look: str) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" {look}/>'


def _box(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {look}/>'


def _dot(x: float, y: float, colour: str, *, filled: bool) -> str:
    look = f'fill="{colour if filled else "none"}" stroke="{colour}" stroke-width="2"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {look}/>'
