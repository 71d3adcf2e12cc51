"""A picture of the times of memories as SVG: when each was recorded, and of when it tells.

It has no script. Text, lines and ground follow the reader's light or dark system.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from html import escape
from itertools import groupby, takewhile

from rich.text import Text

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import stamped_ranges
from recall_retrievers.explain.rows import EMPTY, EVENT, IN_RANGE, OTHER, understood
from recall_retrievers.text.words import printable
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.recurrence import month_name

_WIDTH, _LEFT, _RIGHT = 900, 296, 72  # units of the picture; labels on the left, scores right
_LINE, _TOP = 28, 36
_TITLE = "When the memories were recorded"
_LABEL = 40  # the width of a label, in letters
_MOST_TICKS = 8
_MOST = 10_000  # days, or hours, that are tried for a recurrence such as "on Mondays"
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)

_STEPS = [_HOUR * n for n in (1, 3, 6, 12)] + [_DAY, 2 * _DAY, 7 * _DAY]  # from tick to tick
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12_000, 24_000)

_STYLE = (
    "<style>svg{color:#1f2328}.ground{fill:#ffffff}.soft{fill:#59636e}.rule{stroke:#d1d9e0}"
    "@media (prefers-color-scheme:dark){svg{color:#f0f6fc}.ground{fill:#0d1117}"
    ".soft{fill:#9198a1}.rule{stroke:#3d444d}}</style>"
)

_Span = tuple[datetime, datetime]


def draw(memories: Sequence[Candidate], *, titled: bool = True) -> str:
    """The picture: a line for each memory, with the time that the question names shaded.

    Args:
        memories: The memories, best first.
        titled: Whether what was understood stands above it, as where nothing else says so.
    """
    ranges = stamped_ranges(memories)
    view = _view(memories, ranges)
    bottom = _TOP + _LINE * len(memories)
    said = (" ".join(understood(memories)) or _TITLE) if memories else EMPTY
    parts = [_text(0, 20, printable(said), ' font-weight="600"')] if titled else []
    parts += _axis(view, bottom, _zone(memories, ranges))
    for time_range in ranges:
        for other in time_range.alternatives:
            parts += _band(other, view, bottom, "0.1", dashes=' stroke-dasharray="3 3"')
        parts += _band(time_range, view, bottom, "0.3")
    for number, memory in enumerate(memories):
        y = _TOP + _LINE * number + _LINE / 2
        parts += [_text(0, y + 4.5, _label(number + 1, memory)), *_times(memory, y, view, ranges)]
        if memory.score is not None:
            score = f"{memory.score:.3f}"
            parts.append(_text(_WIDTH - 20, y + 4.5, score, ' class="soft" text-anchor="end"'))
    parts += _legend(memories, ranges, bottom + 52)
    top = 0 if titled else _TOP - 8
    height = bottom + 66 - top
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 {top} {_WIDTH} {height}" role="img" '
        'font-family="system-ui,sans-serif" font-size="13.5" fill="currentColor">'
        f"<title>{escape(alt(memories))}</title>{_STYLE}"
        f'<rect class="ground" x="-12" y="{top}" width="{_WIDTH}" height="{height}"/>'
        f"{''.join(parts)}</svg>"
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
            yield _box(left, y - 5, max(right - left, 4), 10, f'rx="2" fill="{EVENT}"')
    if moment is None:
        yield _text(_LEFT, y + 4.5, "no date", ' class="soft"')
        return
    inside = any(each.contains(moment) for each in ranges)
    colour = IN_RANGE if inside else OTHER
    yield _dot(_x(moment, view), y, colour, filled=inside)


def _legend(memories: Sequence[Candidate], ranges: Sequence[TimeRange], y: float) -> Iterator[str]:
    keys = [("recorded", _dot(6, y - 4, OTHER, filled=False))]
    if any(memory.events for memory in memories):
        keys.append(("time it tells of", _box(0, y - 9, 12, 10, f'rx="2" fill="{EVENT}"')))
    if ranges:
        band = f'fill="{IN_RANGE}" fill-opacity="0.3"'
        keys.append(("time asked for", _box(0, y - 10, 12, 12, band)))
        keys.append(("recorded in it", _dot(6, y - 4, IN_RANGE, filled=True)))
    if any(each.alternatives for each in ranges):
        band = f'fill="{IN_RANGE}" fill-opacity="0.1" stroke="{IN_RANGE}" stroke-dasharray="3 3"'
        keys.append(("also possible", _box(0, y - 10, 12, 12, band)))
    x = 0.0
    for name, mark in keys:
        label = _text(18, y, name, ' class="soft" font-size="12"')
        yield f'<g transform="translate({x:.0f} 0)">{mark}{label}</g>'
        x += 42 + 6 * len(name)


def _axis(view: _Span, bottom: float, zone: tzinfo) -> Iterator[str]:
    """The rules of the lines, and the ticks, with the year where it is new."""
    for y in range(_TOP, int(bottom) + 1, _LINE):
        yield _line(0, y, _WIDTH - 20, y, 'class="rule"')
    year = 0
    for tick, label in _ticks(view, zone):
        x = _x(tick, view)
        yield _line(x, _TOP, x, bottom + 4, 'class="rule"')
        shown = label if tick.year == year or label == f"{tick.year}" else f"{label} {tick.year}"
        if year == 0 and ":" in label:
            shown = f"{tick.day} {month_name(tick)[:3]}, {label}"
        year = tick.year
        yield _text(x, bottom + 20, shown, ' class="soft" text-anchor="middle" font-size="12"')


def _ticks(view: _Span, zone: tzinfo) -> Iterator[tuple[datetime, str]]:
    """Moments of the calendar that are easy to read, at equal distances, with their labels."""
    span, start = view[1] - view[0], _rounded(view[0].astimezone(zone), _HOUR)
    step = next((each for each in _STEPS if span / each <= _MOST_TICKS), None)
    if step is None:
        months = next(n for n in _MONTHS if span / (30.4 * n * _DAY) <= _MOST_TICKS)
        first = (start.year * 12 + start.month - 1) // months * months
        counted = ((n // 12, n % 12 + 1) for n in range(first, first + 10 * months, months))
        start = _rounded(start, _DAY)
        ticks = [start.replace(y, m, 1) for y, m in counted if 0 < y < 10_000]
        return (
            (tick, f"{tick.year}" if months >= 12 else month_name(tick)[:3])
            for tick in ticks
            if view[0] <= tick <= view[1]
        )
    midnight = _rounded(start, _DAY)
    first_tick = midnight - midnight.weekday() * _DAY if step == 7 * _DAY else midnight
    every = (first_tick + n * step for n in range(40))
    return (
        (tick, f"{tick:%H:%M}" if tick.hour else f"{tick.day} {month_name(tick)[:3]}")
        for tick in every
        if view[0] <= tick <= view[1]
    )


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
    ground = f'fill="{colour}"' if filled else 'class="ground"'
    look = f'{ground} stroke="{colour}" stroke-width="2"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {look}/>'
