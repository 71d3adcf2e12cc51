"""The site of docs/ is built without a warning, and shows what a reader looks for."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The pages of the site, built as the workflow builds it: not one warning is let pass."""
    folder = tmp_path_factory.mktemp("site")
    here = f"BIN={Path(sys.executable).parent}"
    command = ["make", "docs", here, f"SITE={folder}", "--assume-old=.venv/.ready"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

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
    store = pages["reference/store/index.html"]
    twin = store.split('RecallStore.acount" class="doc')[1].split("<h")[0]
    assert "memory_type" in twin, "a method for `await` has the parameters of the other"
    stages = pages["reference/stages/index.html"]
    rank = stages.split('.SemanticRank" class="doc')[1].split("<h3")[0]
    assert "Seconds to wait for the replies" in rank, "a setting that a base explains"
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

    assert "data:image/svg+xml;base64," in page
    assert "is understood as" in page
    assert 'href="notebooks/langchain_recall/"' in site["index.html"]
