"""What docs/ shows is run and prints what it says; its links lead somewhere.

RECALL_REWRITE=1 writes what is printed into the pages instead; read the difference.
"""

import re
import sys
import types
from pathlib import Path

import pytest
from conftest import WordsEmbedding
from pages import PAGES, ROOT, run_page
from tables import table

import langchain_recall
import llamaindex_recall

pytestmark = pytest.mark.slow
DOCS = [page for page in PAGES if page.parent != ROOT]
_LINK = re.compile(r"""\]\(([^)#\s]+)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)\"""")


@pytest.fixture
def workplace(monkeypatch: pytest.MonkeyPatch, readers_place: Path) -> dict[str, object]:
    """What a reader of these pages has: a folder, a server, an application."""
    monkeypatch.setitem(sys.modules, "my_app", types.SimpleNamespace(embedding=WordsEmbedding()))
    return {"__name__": "page"}


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_shows(page: Path, workplace: dict[str, object]) -> None:
    shown = run_page(page, workplace)

    assert shown.screens == shown.promised


@table("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in _LINK.findall(text):
        target = next(filter(None, link))
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_the_reference_has_every_public_name(face: types.ModuleType) -> None:
    pages = (ROOT / "docs" / "reference").glob("*.md")
    reference = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    errors = {name for name in face.__all__ if name.endswith("Error")}  # a section of their own
    named = set(re.findall(r"\w+", reference))

    assert set(face.__all__) - errors - named == set()
