"""Draws how_it_works.svg: what happens between a question and its memories.

    python docs/pictures/how_it_works.py

The scores in it are those of the README's own example, found anew for the drawing. Text and lines
follow the reader's light or dark system, and so does the ground: a page may have the other scheme.
The colours are those of `explain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import stamped_ranges
from recall_retrievers.core.world import World, run
from recall_retrievers.explain.rows import COLOURS, Row, rows
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import parse_time

PICTURE = Path(__file__).with_name("how_it_works.svg")

WORDS = "last Tuesday"
QUESTION = f"What about the dentist {WORDS}?"
NOW = parse_time("2024-03-08T12:00:00Z", "UTC")
MEMORIES = [
    {"content": "The dentist filled a tooth.", "created_at": "2024-03-05T10:00:00Z"},
    {"content": "The dentist moved to Elm Street.", "created_at": "2024-02-01T09:00:00Z"},
]

_WIDTH, _HEIGHT = 960, 370
_BOX, _TOP, _TALL = 198, 44, 140  # how wide the boxes are, where they begin, how high they are
_LEFTS = (16, 258, 500, 742)
_BARS, _LONG = 330, 300  # where the bars of the scores begin, and how long the highest is
_STYLE = """
.ground{fill:#fff}
text{font:14px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.head{font-weight:600;fill:#59636e}
.small{font-size:12px;fill:#59636e}
.strong{font-weight:600}
.box{fill:#f6f8fa;stroke:#d1d9e0}
.line{stroke:#818b98;stroke-width:1.5}
.tip{fill:#818b98}
@media (prefers-color-scheme:dark){
.ground{fill:#0d1117}text{fill:#f0f6fc}.head,.small{fill:#9198a1}.box{fill:#151b23;stroke:#3d444d}
}"""


def draw() -> str:
    """The picture, as SVG."""
    memories = found()
    [asked] = stamped_ranges(memories)
    day = escape(asked.describe())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        "<title>A question, the time it names, two ways of searching, one score, explained</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>',
        *_box(0, "A question", _QUESTION),
        *_stripe(0, 1, "time"),
        *_box(1, "Its time, understood", [("strong", day), *_READ]),
        *_stripe(1, 0, "time"),
        *_box(2, "Two ways of searching", _ARMS),
        *_stripe(2, 0, "relevance"),
        *_stripe(2, 1, "words"),
        *_box(3, "One score", _WEIGHTS),
        *_stripe(3, 2, "type"),
        *_stripe(3, 3, "author"),
        *_stripe(3, 4, "time"),
        *(part for place in range(3) for part in _arrow(place)),
        _text(16, 232, "Every memory comes back with the way to its score", "head"),
        *_ways(memories),
        "</svg>\n",
    ]
    return "\n".join(parts)


_QUESTION = [
    ("", "What about the dentist"),
    ("strong", f"{WORDS}?"),
    ("small", "asked on"),
    ("small", f"{NOW:%Y-%m-%d (%A)}"),
]
_READ = [
    ("small", "by a calendar, no model;"),
    ("small", "other readings are kept"),
]
_ARMS = [
    ("", "by meaning (vectors)"),
    ("", "by exact words (BM25)"),
    ("small", "both in all memories,"),
    ("small", "and in that time"),
]
_WEIGHTS = [
    ("", "meaning + words"),
    ("small", "or what your model says"),
    ("", "x kind of memory"),
    ("", "x its author"),
    ("", "x the time it names"),
]


def found() -> Sequence[Candidate]:
    """The memories of the README's example, with their scores."""
    with RecallStore() as store:
        store.add(MEMORIES)
        steps = MemoryRetriever(store=store, timezone="UTC").steps_for(QUESTION, NOW, {})
        return run(steps, World(store)).memories


def _box(place: int, head: str, lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    left = _LEFTS[place]
    yield _text(left, _TOP - 12, head, "head")
    yield f'<rect class="box" x="{left}" y="{_TOP}" width="{_BOX}" height="{_TALL}" rx="6"/>'
    for row, (style, line) in enumerate(lines):
        yield _text(left + 16, _line(row) + 5, line, style)


def _line(row: int) -> int:
    return _TOP + 24 + 24 * row


def _stripe(place: int, row: int, kind: str) -> Iterator[str]:
    """A mark in the colour that this has in the scores below."""
    left, top = _LEFTS[place], _line(row) - 8
    yield f'<rect x="{left}" y="{top}" width="6" height="17" fill="{COLOURS[kind]}"/>'


def _arrow(place: int) -> Iterator[str]:
    left, y = _LEFTS[place] + _BOX + 6, _TOP + _TALL // 2
    right = _LEFTS[place + 1] - 6
    yield f'<line class="line" x1="{left}" y1="{y}" x2="{right - 7}" y2="{y}"/>'
    yield f'<path class="tip" d="M{right} {y}l-9 -5v10z"/>'


def _ways(memories: Sequence[Candidate]) -> Iterator[str]:
    ways = [rows(memory) for memory in memories]
    scale = _LONG / max(max(row.before, row.after) for way in ways for row in way)
    for row, (memory, way) in enumerate(zip(memories, ways, strict=True)):
        y = 268 + 56 * row
        yield _text(16, y, f"{row + 1}. {escape(memory.content)}")
        yield _text(16, y + 18, f"recorded on {memory.created_at:%Y-%m-%d (%A)}", "small")
        yield from _way(way, y, scale)


def _way(way: Sequence[Row], y: int, scale: float) -> Iterator[str]:
    drawn = [step for step in way if not step.label.startswith("/")]  # it would hide the others
    for step in drawn:
        left, right = (_BARS + scale * value for value in sorted((step.before, step.after)))
        yield (
            f'<rect x="{left:.1f}" y="{y - 12}" width="{right - left:.1f}" height="14" '
            f'fill="{step.colour}"/>'
        )
    end = _BARS + scale * max(max(row.before, row.after) for row in drawn)
    yield _text(end + 10, y, f"{way[-1].after:.2f}", "strong")
    words = ", ".join(step.label.split(" (")[0] for step in way)
    yield _text(_BARS, y + 20, escape(words), "small")


def _text(x: float, y: float, words: str, style: str = "") -> str:
    marked = f' class="{style}"' if style else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{marked}>{words}</text>'


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
