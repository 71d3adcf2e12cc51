"""The widget in a real JupyterLab, in a fresh environment, driven by a browser.

It fetches from the package index: `make test-install` runs it.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import notebook_runs
import pytest
from look.browsing import launched
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.skipif(
    "RECALL_TEST_INSTALL" not in os.environ, reason="fetches packages: make test-install runs it"
)

CELLS = [
    """
from langchain_recall import RecallRetriever, RecallStore, explore
store = RecallStore()
store.add([
    {"id": "tooth", "content": "The dentist filled a tooth.", "created_at": "2024-03-05"},
    {"id": "moved", "content": "The dentist moved.", "created_at": "2024-02-27"},
    {"id": "tea", "content": "Tea at four, <b>not</b> at five.", "created_at": "2024-03-01"},
])
retriever = RecallRetriever(store=store, k=1, timestamp="2024-03-08", timezone="UTC")
look = explore(retriever, "What about the dentist last Tuesday?")
look
""",
    "print(look.questions[0]['question'], look.questions[0]['relevant'], retriever.k)",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Iterator[str]:
    """The address of a notebook, by its name, in a JupyterLab that has our wheel."""
    folder = tmp_path_factory.mktemp("lab")
    python = folder / "venv" / "bin" / "python"
    project = f"recall-retrievers[langchain,llamaindex,look] @ {wheel.as_uri()}"
    for words in (["venv", folder / "venv"], ["pip", "install", "--python", python, project]):
        more = ["jupyterlab"] if words[0] == "pip" else ["--python", sys.executable]
        subprocess.run([sys.executable, "-m", "uv", "--quiet", *words, *more], check=True)
    (folder / "work").mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}  # else it would ask
    cells = [new_code_cell(each.strip()) for each in CELLS]
    notebook = new_notebook(cells=cells, metadata=kernel)
    nbformat.write(notebook, folder / "work" / "look.ipynb")
    for name in notebook_runs.NAMES:
        shutil.copy(notebook_runs.FOLDER / f"{name}.ipynb", folder / "work")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    options = [f"--ServerApp.port={port}", "--IdentityProvider.token=t", "--no-browser"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [python, "-m", "jupyterlab", *options, "--allow-root"],
            cwd=folder / "work",
            env={**os.environ, **own, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
            stdout=log,
            stderr=log,
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}/lab/workspaces/{{0}}/tree/{{0}}.ipynb?token=t"
    finally:
        server.terminate()
        server.wait()


def _wait_for(address: str) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(address)
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise AssertionError("JupyterLab did not start")


@contextmanager
def _opened(browser: Any, address: str) -> Iterator[Any]:
    """A notebook whose kernel is ready; no error may come from the page."""
    page = browser.new_context().new_page()
    page.set_default_timeout(60_000)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.locator(".jp-CodeCell").first.click()
    yield page
    assert wrong == []


def _run(page: Any, what: str) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name=what).first.click()


def test_a_question_is_asked_and_marked_in_a_dark_jupyterlab(lab: str) -> None:
    with launched() as browser, _opened(browser, lab.format("look")) as page:
        page.get_by_role("menuitem", name="Settings", exact=True).click()
        page.locator(".lm-Menu-itemLabel").get_by_text("Theme", exact=True).click()
        page.locator(".lm-Menu-itemLabel").get_by_text("JupyterLab Dark", exact=True).click()
        page.locator(".jp-CodeCell").first.click()

        _run(page, "Run Selected Cell")
        cards = page.locator(".recall-look .card")
        cards.first.wait_for()
        assert cards.locator(".text").all_text_contents() == ["The dentist filled a tooth."]
        light = "getComputedStyle(document.querySelector('.recall-look')).colorScheme"
        assert page.evaluate(light) == "dark"  # whatever the system has
        page.get_by_label("Question", exact=True).fill("When is tea?")
        page.keyboard.press("Enter")
        told = "Tea at four, <b>not</b> at five."  # it is no markup
        cards.get_by_text(told, exact=True).first.wait_for()
        cards.first.get_by_role("button", name="This answers the question").click()
        page.get_by_label("Question", exact=True).fill("")
        page.keyboard.press("Enter")
        page.locator(".recall-look .card:nth-of-type(3)").wait_for()  # all memories
        page.locator(".jp-CodeCell").last.click()
        _run(page, "Run Selected Cell")

        page.get_by_text("When is tea? ['tea'] 1").wait_for()


@pytest.mark.parametrize("name", notebook_runs.NAMES)
def test_a_committed_notebook_shows_a_still_picture_and_lives_when_it_is_run(
    lab: str, name: str
) -> None:
    with launched() as browser, _opened(browser, lab.format(name)) as page:
        still = page.locator("img[alt^='The times of']")
        still.first.wait_for()

        _run(page, "Run All Cells")

        page.locator(".recall-look .card").first.wait_for(state="attached")  # it may be above
        assert "last" in page.locator(".recall-look .understood").text_content()
