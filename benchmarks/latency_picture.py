"""Medians against rows, both axes logarithmic, as a small SVG that needs nothing to be drawn.

A colour is a kind of question; its two lines are langchain-chroma (dashed) and ours (solid). Text
and lines follow the reader's light or dark page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 900, 460, 80, 70, 50, 320
# What is shown: a case, its colour, and its name in the legend. The colours are of Okabe and Ito
# (2008), apart for colour-blind readers on light and dark pages.
_CASES = (
    ("one_user", "#E69F00", "one user of twenty"),
    ("all", "#0072B2", "all memories"),
    ("a_time", "#009E73", "a tenth of the time"),
)
_SYSTEMS = (("RecallRetriever", "recall", False), ("langchain-chroma", "langchain_chroma", True))
_TICKS_MS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000)
STYLE = """
.ground{fill:#fff}
text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.head{font-weight:600}
.small{fill:#59636e}
.rule{stroke:#d1d9e0}
.key{stroke:#59636e;stroke-width:2.5}
@media (prefers-color-scheme:dark){
.ground{fill:#0d1117}text{fill:#f0f6fc}.small{fill:#9198a1}.rule{stroke:#3d444d}.key{stroke:#9198a1}
}"""


def draw(by_rows: Mapping[str, Any]) -> str:
    """The picture.

    Args:
        by_rows: What `latency` measured, by the number of rows.
    """
    counts = sorted(map(int, by_rows))
    lines = [
        (colour, dashed, [by_rows[str(n)][case][system]["cpu_ms"] for n in counts])
        for case, colour, _ in _CASES
        for _, system, dashed in _SYSTEMS
    ]
    highest = max(max(medians) for _, _, medians in lines)
    above = next((tick for tick in _TICKS_MS if tick >= highest), _TICKS_MS[-1])
    ticks = [tick for tick in _TICKS_MS if tick <= above]
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    first, span = math.log(counts[0]), math.log(counts[-1] / counts[0]) or 1.0

    def x(rows: float) -> float:
        return _LEFT + (math.log(rows) - first) / span * (_WIDTH - _LEFT - _RIGHT)

    def y(milliseconds: float) -> float:
        share = (math.log(max(milliseconds, ticks[0])) - low) / (high - low or 1.0)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)

    middle, bottom = (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - _BOTTOM
    turned = f'transform="translate(24 {(_TOP + bottom) / 2:.0f}) rotate(-90)"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        "<title>Milliseconds for one question against the number of memories</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>',
        text(_LEFT, 26, "What one question costs, with its embedding", "start", "head"),
        text(middle, _HEIGHT - 18, "memories in the collection", "middle", "small"),
        f'<text class="small" text-anchor="middle" {turned}>processor milliseconds (median)</text>',
    ]
    for tick in ticks:
        right = _WIDTH - _RIGHT
        parts.append(
            f'<line class="rule" x1="{_LEFT}" x2="{right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        )
        parts.append(text(_LEFT - 8, y(tick) + 4, f"{tick:,}", "end", "small"))
    parts += [text(x(n), bottom + 20, f"{n:,}", "middle", "small") for n in counts]
    for colour, dashed, medians in lines:
        points = " ".join(f"{x(n):.1f},{y(ms):.1f}" for n, ms in zip(counts, medians, strict=True))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"'
            f"{DASHES if dashed else ''}/>"
        )
    return "\n".join([*parts, *_legend(), "</svg>", ""])


_NOTES = (
    "Both return 10 memories. RecallRetriever",
    "searches by meaning, by words and by the",
    "meaning of words, the other by meaning.",
    "Lower is better; both axes are logarithmic.",
)
DASHES = ' stroke-dasharray="7 5"'


def _legend() -> Iterator[str]:
    left, top = _WIDTH - _RIGHT + 24, _TOP + 16
    yield text(left, top, "The question is asked of", "start", "head")
    for place, (_, colour, name) in enumerate(_CASES, 1):
        height = top + 26 * place
        yield f'<rect x="{left}" y="{height - 10}" width="14" height="12" fill="{colour}"/>'
        yield text(left + 24, height, name)
    top += 26 * (len(_CASES) + 2)
    yield text(left, top, "It is answered by", "start", "head")
    for place, (name, _, dashed) in enumerate(_SYSTEMS, 1):
        height = top + 26 * place
        yield (
            f'<line class="key" x1="{left}" x2="{left + 40}" y1="{height - 4}" y2="{height - 4}"'
            f"{DASHES if dashed else ''}/>"
        )
        yield text(left + 50, height, name)
    for place, line in enumerate(_NOTES):
        yield text(left, top + 84 + 18 * place, line, style="small")


def text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    """Words in a picture."""
    marked = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{marked}>{words}</text>'
