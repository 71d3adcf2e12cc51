"""For the site: the notebooks as pages, and colours for code, all made without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pygments.formatters import HtmlFormatter

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
_LINK = re.compile(r"\]\(\.\./((?:\.\./)*notebooks/\w+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, and the style sheet of the code."""
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        page = "\n\n".join(_cells(json.loads(notebook.read_text(encoding="utf-8"))))
        page = page.replace("](../docs/", "](../")
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=page))
    files.append(File.generated(config, "assets/code.css", content=_code_colours()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to notebooks lead to their pages; what a block prints looks different from code."""
    linked = _LINK.sub(r"](\1.md)", markdown)
    return re.sub(r"^```text$", "``` { .text .printed }", linked, flags=re.MULTILINE)


def _cells(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        elif source.strip():
            yield f"```python\n{source}\n```"
            yield from map(_output, cell["outputs"])


def _output(output: dict[str, Any]) -> str:
    """What a cell printed or drew: HTML before text."""
    shown = output.get("data", {"text/plain": output.get("text", "")})
    if "text/html" in shown:
        html = re.sub(r"\n\s*\n", "\n", "".join(shown["text/html"]))
        return f'<div class="output">\n{html}\n</div>'
    return f"```text\n{''.join(shown['text/plain'])}\n```"


def _code_colours() -> str:
    """Light colours, and dark ones where the page is dark."""
    light = HtmlFormatter(style="default").get_style_defs(".codehilite")
    dark = HtmlFormatter(style="github-dark").get_style_defs("[data-bs-theme=dark] .codehilite")
    return f"{light}\n{dark}\n"
