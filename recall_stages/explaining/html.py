"""An explanation as HTML: one table that stands by itself, in a notebook or in a page.

Memory text is data, so all text is escaped, and there is no script. Nothing but the bars has a
colour of its own: text and ground are those of the page, light or dark, and where a host strips the
style, as code hosts do, the table still says all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from recall_stages.explaining.build_up import BuildUp, Step, build_up
from recall_stages.explaining.colours import COLOURS
from recall_stages.explaining.notes import measured, remarks
from recall_stages.explaining.understood import understood
from recall_stages.memory import Memory

_SHOWN = 200  # characters of a memory that are shown before it is unfolded

# Named twice over, for notebooks have strong ideas of what a table of numbers looks like.
_STYLE = """\
.recall-explained{font:14px/1.45 system-ui,sans-serif;color:inherit;max-width:72em}
.recall-explained p{margin:.3em 0 .8em}
.recall-explained table.ways{table-layout:auto;border-collapse:collapse;width:100%;margin:0;\
font:inherit;color:inherit}
.recall-explained table.ways :is(tr,th,td){color:inherit;background:none}
.recall-explained table.ways :is(th,td){padding:.5em .8em;text-align:left;vertical-align:top;\
white-space:normal;border-top:1px solid rgba(128,128,128,.35)}
.recall-explained table.ways th{border-top:0}
.recall-explained table.ways td.score{font-weight:600}
.recall-explained table.ways td.why{width:21em;font-variant-numeric:tabular-nums}
.recall-explained small{display:block;opacity:.75;font-size:.86em}
.recall-explained .way{position:relative;height:6px;margin:1px 0 4px;\
background:rgba(128,128,128,.18)}
.recall-explained .way i{position:absolute;top:0;bottom:0}
.recall-explained .content{white-space:pre-wrap;overflow-wrap:anywhere}
.recall-explained summary{cursor:pointer}"""


def as_html(memories: Sequence[Memory]) -> str:
    """The memories, each with the way to its score, as a piece of HTML.

    Examples:
        >>> shown = as_html([Memory(content="<b>Tea</b>", score=0.5)])
        >>> "&lt;b&gt;Tea&lt;/b&gt;" in shown, "<b>" in shown
        (True, False)
    """
    ways = [build_up(memory) for memory in memories]
    highest = max((way.highest for way in ways), default=0.0) or 1.0
    told = "".join(f"<p>{escape(line)}</p>" for line in understood(memories))
    rows = "".join(
        f"<tr><td>{number}</td>{_score(memory)}"
        f'<td class="why">{"".join(_why(memory, way, highest))}</td>'
        f"<td>{_told(memory)}</td></tr>"
        for number, (memory, way) in enumerate(zip(memories, ways, strict=True), 1)
    )
    head = "<tr><th>#</th><th>score</th><th>why</th><th>memory</th></tr>"
    table = f'<table class="ways"><thead>{head}</thead><tbody>{rows}</tbody></table>'
    body = told + table if memories else "<p>No memories to explain.</p>"
    return f'<div class="recall-explained"><style>{_STYLE}</style>{body}</div>'


def _score(memory: Memory) -> str:
    return f'<td class="score">{"" if memory.score is None else f"{memory.score:.3f}"}</td>'


def _why(memory: Memory, way: BuildUp, highest: float) -> Iterator[str]:
    for step in way.steps:
        yield f"<div>{escape(step.whole)}</div>{_bar(step, highest)}"
    if beside := [*measured(memory), *remarks(memory)]:
        yield f"<small>{escape(' · '.join(beside))}</small>"


def _bar(step: Step, highest: float) -> str:
    """From before a step to after it: solid what it added, hatched what it took away."""
    left, right = sorted((100 * step.before / highest, 100 * step.after / highest))
    colour = COLOURS[step.kind]
    hatched = f"repeating-linear-gradient(135deg,{colour} 0 2px,transparent 2px 5px)"
    ground = hatched if step.after < step.before else colour
    place = f"left:{left:.1f}%;width:{right - left:.1f}%"
    return f'<div class="way"><i style="{place};background:{ground}"></i></div>'


def _told(memory: Memory) -> str:
    moment = memory.created_at
    facts = [f"{moment:%Y-%m-%d %A}" if moment else "", memory.memory_type, memory.author]
    if memory.events:
        facts.append(f"tells of {', '.join(event.describe() for event in memory.events)}")
    about = f"<small>{escape(' · '.join(filter(None, facts)))}</small>"
    text = memory.content
    if len(text) <= _SHOWN:
        return f'{about}<div class="content">{escape(text)}</div>'
    return (
        f'{about}<details><summary class="content">{escape(text[:_SHOWN])}…</summary>'
        f'<div class="content">…{escape(text[_SHOWN:])}</div></details>'
    )
