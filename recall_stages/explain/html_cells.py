"""The cells of a table in HTML, with inline styles.

JupyterLab removes every ``<style>`` from a notebook that was opened but not run. The style of an
element itself stays. Only the bars have colours of their own. Text and ground have the colours of
the page, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable

_LINE = "1px solid rgba(128,128,128,0.35)"
# JupyterLab gives tables fixed columns and right-aligned text; this undoes it.
_CELL = (
    "padding:0.5em 0.8em;text-align:left;vertical-align:top;white-space:normal;color:inherit;"
    f"border-top:{_LINE}"
)
_TABLE = "table-layout:auto;border-collapse:collapse;width:100%;max-width:72em;margin:0"
_PAGE = "font:14px/1.45 system-ui,sans-serif;overflow-x:auto"


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
