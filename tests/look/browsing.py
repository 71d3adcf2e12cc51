"""The page of a server in a real browser: Chromium of the system, driven by Playwright."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from serve.kit import running

from recall_retrievers.store import RecallStore

playwright = pytest.importorskip("playwright.sync_api")

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SETTINGS = {"locale": "en-GB", "timezone_id": "UTC"}


@contextmanager
def launched() -> Iterator[Any]:
    """The browser; a test is skipped where there is none."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"needs one of {', '.join(PROGRAMS)}: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # As root, as in a container, the sandbox of Chromium does not start.
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def shown(
    browser: Any,
    store: RecallStore,
    token: str = "",
    *,
    tokens: str = "",
    width: int = 1200,
    **how: Any,
) -> Iterator[Any]:
    """The page of a server with this store. It asks that server alone, and nothing in it fails."""
    wrong: list[str] = []
    view = {"width": width, "height": 850}
    context = browser.new_context(viewport=view, **SETTINGS, **how)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(20_000)
    with running(store, tokens=tokens) as client:
        own = (str(client.base_url), "data:")
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda to: None if to.url.startswith(own) else wrong.append(to.url))
        page.goto(f"{client.base_url}/{f'#{token}' if token else ''}")
        try:
            page.locator(".card, .token").first.wait_for()
            yield page
        finally:
            context.close()
    # The console shows what the server refuses; the tests of tokens have that.
    assert [each for each in wrong if "status of 40" not in each] == []


def ask(page: Any, question: str, asked_on: str = "2024-03-08T12:00") -> None:
    """Type a question, and wait for its answer."""
    page.get_by_label("As if asked on").evaluate("(input, on) => { input.value = on }", asked_on)
    page.get_by_label("Question", exact=True).fill(question)
    sent(page, lambda: page.keyboard.press("Enter"))
    page.locator(".why").first.wait_for()


def sent(page: Any, act: Callable[[], object]) -> Any:
    """What the page asks the server after an action."""
    with page.expect_response("**/explain") as answered:
        act()
    return json.loads(answered.value.request.post_data)
