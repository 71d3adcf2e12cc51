"""Medians against rows, both axes logarithmic, as a small SVG that needs nothing to be drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 760, 420, 60, 50, 40, 210
# What is shown, as the case and the system, with a colour and what the legend says.
_LINES = {
    ("unfiltered", "raw"): ("#999999", "raw Chroma"),
    ("unfiltered", "recall"): ("#1f77b4", "ours, hybrid"),
    ("range_1_percent", "raw"): ("#e377c2", "raw Chroma, 1 % of time"),
    ("range_1_percent", "recall_require"): ("#2ca02c", "ours, hybrid, 1 %"),
    ("range_50_percent", "raw"): ("#d62728", "raw Chroma, 50 % of time"),
    ("range_50_percent", "recall_require"): ("#17becf", "ours, hybrid, 50 %"),
}
_FONT = 'font-family="sans-serif" font-size="12"'
_TICKS_MS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]


def draw(by_rows: Mapping[str, Any]) -> str:
    """The picture.

    Args:
        by_rows: What `latency` measured, by the number of rows.
    """
    counts = sorted(map(int, by_rows))
    medians = {
        line: [by_rows[str(n)]["cases"][line[0]]["median_ms"][line[1]] for n in counts]
        for line in _LINES
    }
    top = max(map(max, medians.values()))
    above = next((each for each in _TICKS_MS if each >= top), _TICKS_MS[-1])
    ticks = [each for each in _TICKS_MS if each <= above]
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    first, span = math.log(counts[0]), math.log(counts[-1] / counts[0]) or 1.0

    def x(rows: float) -> float:
        return _LEFT + (math.log(rows) - first) / span * (_WIDTH - _LEFT - _RIGHT)

    def y(milliseconds: float) -> float:
        share = (math.log(max(milliseconds, ticks[0])) - low) / (high - low or 1.0)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {_FONT}>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 22, "Milliseconds for one question (median, k=10) against rows"),
    ]
    for tick in ticks:
        parts += [_rule(y(tick)), _text(_LEFT - 8, y(tick) + 4, str(tick), "end")]
    parts += [_text(x(n), _HEIGHT - _BOTTOM + 20, f"{n:,}", "middle") for n in counts]
    for place, (line, (colour, name)) in enumerate(_LINES.items()):
        points = " ".join(
            f"{x(n):.1f},{y(median):.1f}" for n, median in zip(counts, medians[line], strict=True)
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        height, left = _TOP + 20 * place + 8, _WIDTH - _RIGHT + 16
        parts += [
            f'<rect x="{left}" y="{height - 5}" width="18" height="4" fill="{colour}"/>',
            _text(left + 26, height, name),
        ]
    return "\n".join([*parts, "</svg>", ""])


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def _rule(y: float) -> str:
    right = _WIDTH - _RIGHT
    return f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
