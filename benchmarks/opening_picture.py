"""What `opening` measured, against the rows: three small charts as one SVG, axes logarithmic.

Ours is solid, the others are dashed. Text and lines follow the reader's light or dark page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.latency_picture import DASHES, STYLE, text

_WIDTH, _HEIGHT, _TOP, _BOTTOM = 960, 380, 66, 96
_LEFTS, _WIDE = (62, 382, 702), 236  # where the charts begin, and how wide they are
_CHARTS = (
    ("hybrid_s", "seconds to the first answer", (0.01, 0.1, 1, 10, 100)),
    ("beyond_mb", "MB beyond Chroma's own", (10, 100, 1000, 10_000)),
    ("next_ms", "ms for a question after that", (1, 10, 100, 1000)),
)
# The colours are of Okabe and Ito (2008), apart for colour-blind readers on light and dark pages.
_SYSTEMS = (
    ("recall", "#0072B2", "", "RecallRetriever, hybrid"),
    ("langchain_chroma", "#E69F00", DASHES, "langchain-chroma, by meaning"),
    ("chroma", "#009E73", DASHES, "raw Chroma, by meaning"),
)


def draw(by_rows: Mapping[str, Any]) -> str:
    """The picture.

    Args:
        by_rows: What the table of the page says, by the number of rows.
    """
    measured = {int(rows): x["systems"] for rows, x in by_rows.items() if "systems" in x}
    counts = sorted(measured)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        "<title>Opening a collection: the first answer, memory and the questions after it</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>',
        text(_LEFTS[0], 28, "A folder that is opened by a new process", "start", "head"),
    ]
    for left, (key, title, ticks) in zip(_LEFTS, _CHARTS, strict=True):
        lines = {
            name: [measured[rows][name][key] for rows in counts]
            for name, *_ in _SYSTEMS
            if not (name == "chroma" and key == "beyond_mb")  # it is the base
        }
        parts += _chart(left, title, counts, ticks, lines)
    return "\n".join([*parts, *_legend(), "</svg>", ""])


def _chart(
    left: int,
    title: str,
    counts: Sequence[int],
    ticks: Sequence[float],
    lines: Mapping[str, Sequence[float]],
) -> Iterator[str]:
    highest = max(value for values in lines.values() for value in values)
    above = next((place for place, tick in enumerate(ticks) if tick >= highest), len(ticks) - 1)
    ticks = ticks[: above + 1]
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    first, span = math.log(counts[0]), math.log(counts[-1] / counts[0]) or 1.0
    bottom = _HEIGHT - _BOTTOM

    def x(rows: int) -> float:
        return left + (math.log(rows) - first) / span * _WIDE

    def y(value: float) -> float:
        share = (math.log(max(value, ticks[0])) - low) / (high - low or 1.0)
        return bottom - share * (bottom - _TOP)

    yield text(left + _WIDE / 2, _TOP - 14, title, "middle", "small")
    for tick in ticks:
        yield (
            f'<line class="rule" x1="{left}" x2="{left + _WIDE}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/>'
        )
        yield text(left - 8, y(tick) + 4, f"{tick:,}", "end", "small")
    for rows in counts:
        anchor = {counts[0]: "start", counts[-1]: "end"}.get(rows, "middle")
        yield text(x(rows), bottom + 20, f"{rows:,}", anchor, "small")
    for name, colour, dashes, _ in _SYSTEMS:
        if name in lines:
            pairs = zip(counts, lines[name], strict=True)
            points = " ".join(f"{x(rows):.1f},{y(value):.1f}" for rows, value in pairs)
            yield (
                f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"'
                f"{dashes}/>"
            )


def _legend() -> Iterator[str]:
    height = _HEIGHT - 40
    for left, (_, colour, dashes, name) in zip(_LEFTS, _SYSTEMS, strict=True):
        yield (
            f'<line x1="{left}" x2="{left + 36}" y1="{height - 4}" y2="{height - 4}" '
            f'stroke="{colour}" stroke-width="2.5"{dashes}/>'
        )
        yield text(left + 44, height, name)
    note = "memories in the collection, from left to right; lower is better; axes are logarithmic"
    yield text(_WIDTH / 2, _HEIGHT - 14, note, "middle", "small")
