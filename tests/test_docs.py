"""What docs/ shows is run and prints what it says; its links lead somewhere; it can be built.

RECALL_REWRITE=1 writes what is printed into the pages instead; read the difference.
"""

import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
from conftest import WordsEmbedding
from opentelemetry import trace
from opentelemetry.util._once import Once
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
    # A page that configures OpenTelemetry does so for itself alone.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of the site, built as the workflow builds it: not one warning is let pass."""
    folder = tmp_path_factory.mktemp("site")
    here = f"BIN={Path(sys.executable).parent}"
    built = subprocess.run(
        ["make", "docs", here, f"SITE={folder}", "--assume-old=.venv/.ready"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode == 0, built.stdout + built.stderr
    return {
        str(page.relative_to(folder)): page.read_text(encoding="utf-8")
        for page in folder.rglob("*.html")
    }


def test_the_reference_shows_public_names_and_where_they_are_imported_from(
    site: dict[str, str],
) -> None:
    pages = {path: text for path, text in site.items() if path.startswith("reference/")}
    shown = "\n".join(pages.values())

    assert len(pages) >= 9
    for name in ("RecallRetriever", "FuseRerank", "RecallStore", "evaluate", "ReadMessage"):
        assert f"from langchain_recall import {name}<" in shown, name
        assert len(re.findall(rf'<h[23] id="[\w.]*\.{name}"', shown)) == 1, name
    for of_the_inside in ("MemoryRetriever", "StageList", "object at 0x", "PydanticUndefined"):
        assert of_the_inside not in shown, of_the_inside
    twin = (
        pages["reference/store/index.html"]
        .split('RecallStore.acount" class="doc')[1]
        .split("<h")[0]
    )
    assert "memory_type" in twin, "a method for `await` has the parameters of the other"
    signatures = re.findall(r'class="doc-signature.*?</code>', shown, re.DOTALL)
    lines = [line for each in signatures for line in re.sub(r"<[^>]+>", "", each).splitlines()]
    assert len(signatures) > 40
    assert max(map(len, lines)) < 160, max(lines, key=len)


def test_the_site_needs_no_other_server(site: dict[str, str]) -> None:
    for path, text in site.items():
        loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]+)"', text)
        assert loaded == [], path
        assert "@import" not in text, path


def test_the_notebooks_are_pages_with_what_they_show(site: dict[str, str]) -> None:
    page = site["notebooks/langchain_recall/index.html"]

    assert "data:image/png;base64," in page
    assert "is understood as" in page
    assert 'href="notebooks/langchain_recall/"' in site["index.html"]


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_the_reference_has_every_public_name(face: types.ModuleType) -> None:
    pages = (ROOT / "docs" / "reference").glob("*.md")
    reference = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    errors = {name for name in face.__all__ if name.endswith("Error")}  # a section of their own
    named = set(re.findall(r"\w+", reference))

    assert set(face.__all__) - errors - named == set()
