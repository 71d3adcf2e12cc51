"""An explanation as HTML, for a notebook or a page: a picture of the times, and one table.

Memory text is data, so all text is escaped, and there is no script. Some hosts, such as code hosts,
remove all styles. The table says everything without them too. JupyterLab removes every ``<style>``
from a notebook that was opened but not run; the style of an element itself stays. Only the bars
have colours of their own. Text and ground have the colours of the page, light or dark.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.explain import still
from recall_retrievers.explain.rows import Row, below, nothing, remarks, rows, understood

_LINE = "1px solid rgba(128,128,128,0.35)"
# JupyterLab gives tables fixed columns and right-aligned text; this undoes it.
_CELL = (
    "padding:0.5em 0.8em;text-align:left;vertical-align:top;white-space:normal;color:inherit;"
    f"border-top:{_LINE}"
)
_TABLE = "table-layout:auto;border-collapse:collapse;width:100%;max-width:72em;margin:0"
_PAGE = "font:14px/1.45 system-ui,sans-serif;overflow-x:auto"
_SHOWN = 200  # characters of a memory that are shown before it is unfolded
_WIDTHS = {
    "#": "",
    "score": ";font-weight:600",
    "why": ";width:24em;min-width:15em;font-variant-numeric:tabular-nums",
    "memory": ";min-width:14em",
}
_GROUND = "height:6px;margin:1px 0 4px;background:rgba(128,128,128,0.18)"
_SMALL = "display:block;opacity:0.75;font-size:0.86em"
_TEXT = "white-space:pre-wrap;word-wrap:break-word"


def as_html(memories: Sequence[Candidate], why: str = "") -> str:
    """The memories with the way to their scores, as one piece of HTML."""
    if not memories:
        return f'<div style="{_PAGE}"><p>{escape(nothing(why))}</p></div>'
    ways = [rows(memory) for memory in memories]
    most = max([max(x.before, x.after) for way in ways for x in way], default=0.0) or 1.0
    head = "".join(f'<th style="{_CELL};border-top:none;font-weight:600">{x}</th>' for x in _WIDTHS)
    lines = ""
    for number, (memory, way) in enumerate(zip(memories, ways, strict=True), 1):
        score = "" if memory.score is None else f"{memory.score:.3f}"
        cells = (str(number), score, "".join(_why(memory, way, most)), _content(memory))
        pairs = zip(cells, _WIDTHS.values(), strict=True)
        line = "".join(f'<td style="{_CELL}{style}">{cell}</td>' for cell, style in pairs)
        lines += f'<tr style="background:none">{line}</tr>'
    above = "".join(f"<p>{escape(line)}</p>" for line in understood(memories))
    under = "".join(f"<p>{escape(line)}</p>" for line in below(memories))
    return (
        f'<div style="{_PAGE}">{above}{_picture(memories)}'
        f'<table style="{_TABLE}"><thead><tr style="background:none">{head}</tr></thead>'
        f"<tbody>{lines}</tbody></table>{under}</div>"
    )


def _picture(memories: Sequence[Candidate]) -> str:
    """The picture of the times; hosts that take SVG out of a page leave images in."""
    if not any(memory.created_at or memory.events for memory in memories):
        return ""
    drawn = b64encode(still.draw(memories, titled=False).encode()).decode()
    return (
        f'<img alt="{escape(still.alt(memories))}" style="max-width:100%;width:62em" '
        f'src="data:image/svg+xml;base64,{drawn}">'
    )


def _why(memory: Candidate, way: Sequence[Row], most: float) -> Iterator[str]:
    for step in way:
        yield f"<div>{escape(step.whole)}</div>{_bar(step, most)}"
    if notes := [*remarks(memory)]:
        yield _small(notes)


def _bar(step: Row, most: float) -> str:
    """A bar from the score before a step to the score after it; a loss is hollow and hatched."""
    left, right = sorted((100 * step.before / most, 100 * step.after / most))
    # A notebook that is not trusted shows the border only.
    hatched = f"repeating-linear-gradient(135deg,{step.colour} 0 2px,transparent 2px 5px)"
    lost = f"box-sizing:border-box;border:1px solid {step.colour};background:{hatched}"
    look = lost if step.after < step.before else f"background:{step.colour}"
    place = f"display:block;height:6px;margin-left:{left:.1f}%;width:{right - left:.1f}%"
    return f'<div style="{_GROUND}"><i style="{place};{look}"></i></div>'


def _small(facts: Iterable[str]) -> str:
    return f'<small style="{_SMALL}">{escape(" · ".join(facts))}</small>'


def _content(memory: Candidate) -> str:
    facts = [memory.day, memory.memory_type, memory.author]
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
