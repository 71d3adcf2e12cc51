"""A real browser for the tests of the page: Chromium of the system, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from serve.kit import running

from recall_retrievers.store import RecallStore

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextmanager
def launched() -> Iterator[Any]:
    """The browser; a test is skipped where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"needs a browser: one of {', '.join(PROGRAMS)}; apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # Continuous integration runs as root, where the sandbox of Chromium does not start.
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Any, url: str, *, width: int = 1200, dark: bool = False, fails: bool = False
) -> Iterator[Any]:
    """A page in a tab of its own. It asks nobody but its server, and says nothing of errors."""
    context = browser.new_context(
        viewport={"width": width, "height": 850},
        color_scheme="dark" if dark else "light",
        permissions=["clipboard-read", "clipboard-write"],
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(20_000)
    wrong: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    origin = url.partition("/#")[0]
    page.on(
        "request",
        lambda sent: (
            None if sent.url.startswith((origin, "data:", "blob:")) else wrong.append(sent.url)
        ),
    )
    page.goto(url)
    try:
        page.locator(".card, .token").first.wait_for()
        yield page
    finally:
        context.close()
    assert fails or not wrong


@contextmanager
def shown(browser: Any, store: RecallStore, token: str = "", **how: Any) -> Iterator[Any]:
    """The page of a server with this store."""
    tokens = how.pop("tokens", "")
    with (
        running(store, tokens=tokens) as client,
        opened(browser, f"{client.base_url}/{f'#{token}' if token else ''}", **how) as page,
    ):
        yield page


def ask(page: Any, question: str, asked_on: str = "2024-03-08T12:00") -> None:
    """Type a question, and wait for its answer."""
    if asked_on:
        page.get_by_label("As if asked on").evaluate(
            "(input, day) => { input.value = day }", asked_on
        )
    page.get_by_label("Question", exact=True).fill(question)
    with page.expect_response("**/explain"):
        page.keyboard.press("Enter")
    page.get_by_role("status").filter(has_text="memor").wait_for()
