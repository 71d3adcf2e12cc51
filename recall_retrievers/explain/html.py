"""An explanation as HTML, for a notebook or a page: one table. Its cells serve comparisons, too.

Memory text is data, so all text is escaped, and there is no script. Some hosts, such as code hosts,
remove all styles. The table says everything without them too. JupyterLab removes every ``<style>``
from a notebook that was opened but not run; the style of an element itself stays. Only the bars
have colours of their own. Text and ground have the colours of the page, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.explain.rows import EMPTY, Row, highest, left_out, remarks, rows, understood
from recall_retrievers.timeline.calendar_names import weekday_name

_LINE = "1px solid rgba(128,128,128,0.35)"
# JupyterLab gives tables fixed columns and right-aligned text; this undoes it.
_CELL = (
    "padding:0.5em 0.8em;text-align:left;vertical-align:top;white-space:normal;color:inherit;"
    f"border-top:{_LINE}"
)
_TABLE = "table-layout:auto;border-collapse:collapse;width:100%;max-width:72em;margin:0"
_PAGE = "font:14px/1.45 system-ui,sans-serif;overflow-x:auto"
_SHOWN = 200  # characters of a memory that are shown before it is unfolded
_WHY = "width:21em;min-width:15em;font-variant-numeric:tabular-nums"
_SMALL = "display:block;opacity:0.75;font-size:0.86em"
_TEXT = "white-space:pre-wrap;word-wrap:break-word"


def as_html(memories: Sequence[Candidate]) -> str:
    """The memories with the way to their scores, as one piece of HTML.

    Examples:
        >>> shown = as_html([Candidate(content="<b>Tea</b>", score=0.5)])
        >>> "&lt;b&gt;Tea&lt;/b&gt;" in shown, "<b>" in shown
        (True, False)
    """
    ways = [rows(memory) for memory in memories]
    most = highest(ways)
    above = "".join(f"<p>{escape(line)}</p>" for line in understood(memories))
    lines = [
        row(
            [
                cell(str(number)),
                cell("" if memory.score is None else f"{memory.score:.3f}", "font-weight:600"),
                cell("".join(_why(memory, way, most)), _WHY),
                cell(_content(memory), "min-width:14em"),
            ]
        )
        for number, (memory, way) in enumerate(zip(memories, ways, strict=True), 1)
    ]
    if not memories:
        return page(f"<p>{EMPTY}</p>")
    below = f"<p>{escape(left_out(memories))}</p>" if left_out(memories) else ""
    return page(above, table(["#", "score", "why", "memory"], lines), below)


def _why(memory: Candidate, way: Sequence[Row], most: float) -> Iterator[str]:
    for step in way:
        yield f"<div>{escape(step.whole)}</div>{_bar(step, most)}"
    if notes := [*remarks(memory)]:
        yield _small(notes)


def _bar(step: Row, most: float) -> str:
    """A bar from the score before a step to the score after it; a loss is hollow and hatched."""
    left, right = sorted((100 * step.before / most, 100 * step.after / most))
    if step.after >= step.before:
        return bar(left, right - left, f"background:{step.colour}")
    # A notebook that is not trusted shows the border only.
    hatched = f"repeating-linear-gradient(135deg,{step.colour} 0 2px,transparent 2px 5px)"
    return bar(
        left,
        right - left,
        f"box-sizing:border-box;border:1px solid {step.colour};background:{hatched}",
    )


def _small(facts: Iterable[str]) -> str:
    return f'<small style="{_SMALL}">{escape(" · ".join(facts))}</small>'


def _content(memory: Candidate) -> str:
    moment = memory.created_at
    facts = [
        f"{moment:%Y-%m-%d} {weekday_name(moment)}" if moment else "",
        memory.memory_type,
        memory.author,
    ]
    if memory.events:
        facts.append(f"tells of {', '.join(event.describe() for event in memory.events)}")
    about = _small(filter(None, facts))
    text = memory.content
    if len(text) <= _SHOWN:
        return f'{about}<div style="{_TEXT}">{escape(text)}</div>'
    return (
        f'{about}<details><summary style="{_TEXT}">{escape(text[:_SHOWN])}…</summary>'
        f'<div style="{_TEXT}">…{escape(text[_SHOWN:])}</div></details>'
    )


def page(*parts: str) -> str:
    """Pieces of HTML as one piece, which scrolls if it is too wide for a phone."""
    return f'<div style="{_PAGE}">{"".join(parts)}</div>'


def table(head: Iterable[str], rows: Iterable[str]) -> str:
    """A table.

    Args:
        head: The names of the columns, already escaped.
        rows: The rows, made by `row`.
    """
    cells = "".join(f'<th style="{_CELL};border-top:none;font-weight:600">{h}</th>' for h in head)
    return (
        f'<table style="{_TABLE}"><thead><tr style="background:none">{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def row(cells: Iterable[str]) -> str:
    """A row of cells made by `cell`."""
    return f'<tr style="background:none">{"".join(cells)}</tr>'


def cell(content: str, style: str = "") -> str:
    """A cell; its content must be escaped already."""
    return f'<td style="{_CELL}{";" if style else ""}{style}">{content}</td>'


def bar(left: float, width: float, style: str) -> str:
    """A bar on a ground as wide as its cell; left and width are percentages of that."""
    place = f"display:block;height:6px;margin-left:{left:.1f}%;width:{width:.1f}%"
    ground = "height:6px;margin:1px 0 4px;background:rgba(128,128,128,0.18)"
    return f'<div style="{ground}"><i style="{place};{style}"></i></div>'
