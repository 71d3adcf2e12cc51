"""What docs/ shows is run and prints what it says; its links lead somewhere; it can be built.

RECALL_REWRITE=1 writes what is printed into the pages instead; read the difference.
"""

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import chromadb
import pytest
from conftest import WordsEmbedding
from pages import PAGES, ROOT, SCREENS, blocks, plain, rewrite, run_console, run_python

DOCS = [page for page in PAGES if page.parent != ROOT]
_LINK = re.compile(r"""\]\(([^)#\s]+)(?:#[^)]*)?\)|(?:src|srcset)="([^"]+)\"""")
MEMORIES = ROOT / "examples" / "memorybank"


@pytest.fixture
def workplace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server_port: int
) -> dict[str, object]:
    """A folder of its own, with what a reader of these pages has: an application, a server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setitem(sys.modules, "my_app", types.SimpleNamespace(embedding=WordsEmbedding()))
    client = chromadb.HttpClient
    monkeypatch.setattr(
        chromadb, "HttpClient", lambda host, port: client(host="127.0.0.1", port=server_port)
    )
    for name in ("TENANT", "DATABASE", "API_KEY"):
        monkeypatch.setenv(f"CHROMA_{name}", "none")
    monkeypatch.setattr(
        chromadb, "CloudClient", lambda tenant, database, api_key: chromadb.EphemeralClient()
    )
    (tmp_path / "memories.jsonl").write_bytes((MEMORIES / "memories.jsonl").read_bytes())
    (tmp_path / "questions.jsonl").write_bytes((MEMORIES / "questions.jsonl").read_bytes())
    return {"__name__": "page"}


@pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_shows(page: Path, workplace: dict[str, object]) -> None:
    printed, screens, promised = "", [], []
    for block in blocks(page):
        if block.language == "python":
            printed = run_python(block, workplace)
        elif block.language in SCREENS:
            screens.append(run_console(block) if block.language == "console" else printed)
            promised.append(plain(block.text))
        elif block.language == "json":
            assert [json.loads(line) for line in block.text.splitlines()]
        else:
            raise AssertionError(f"{page.name} has a block of {block.language!r}: who runs it?")
    if "RECALL_REWRITE" in os.environ:
        rewrite(page, screens)
    else:
        assert screens == promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in _LINK.findall(text):
        target = next(filter(None, link))
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode == 0, built.stderr
    reference = (tmp_path / "reference" / "index.html").read_text(encoding="utf-8")
    for name in ("RecallRetriever", "FuseRerank", "RecallStore", "evaluate"):
        assert f">{name}<" in reference, name
