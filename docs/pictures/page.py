"""Photographs the page of `recall look`: page_*.png and page.gif.

    python docs/pictures/page.py

It needs Chromium, and the packages of the development group. Real conversations are shown: those of
examples/everyday.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageDraw
from playwright.sync_api import Locator, Page, sync_playwright

FOLDER = Path(__file__).parent
MEMORIES = FOLDER.parent.parent / "examples" / "everyday" / "memories.jsonl"
QUESTION = "What did I tell you about the museum last Tuesday?"
NOW, USER = "2023-05-07T12:00", "Emily"
FRAME_MS = 90
WRITE = "(input, text) => { input.value = text; input.dispatchEvent(new Event('change')) }"
CURSOR = [(0, 0), (0, 17), (4, 13), (7, 19), (10, 18), (7, 12), (12, 12)]


@contextmanager
def looking(width: int, height: int, *, dark: bool = False) -> Iterator[Page]:
    """The page with a question of Emily's on 7 May 2023, not yet asked."""
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        notes = shutil.copy(MEMORIES, folder)
        words = [sys.executable, "-m", "langchain_recall", "look", notes, "--timezone", "UTC"]
        server = subprocess.Popen(  # noqa: S603 - this library
            [*words, "--no-browser", "--json"], stdout=subprocess.PIPE, text=True
        )
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--lang=en-GB"]
        )
        try:
            stdout = server.stdout or sys.stdin
            address = json.loads("".join(stdout.readline() for _ in range(3)))["address"]
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                locale="en-GB",
                timezone_id="UTC",
                reduced_motion="reduce",
            )
            page.goto(address)
            page.locator(".card").first.wait_for()
            for label, value in (("As if asked on", NOW), ("Memories of the user", USER)):
                page.get_by_label(label).evaluate(WRITE, value)
            page.wait_for_timeout(800)
            yield page
        finally:
            browser.close()
            server.terminate()
            server.wait()


def ask(page: Page, question: str = QUESTION) -> None:
    """Ask a question, and wait for the answer."""
    page.get_by_label("Question", exact=True).fill(question)
    page.keyboard.press("Enter")
    page.locator(".why").first.wait_for()
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(300)


def photograph(page: Page, name: str) -> None:
    """Write a picture of what is seen, with few colours."""
    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    image.quantize(256, kmeans=2).save(FOLDER / f"page_{name}.png", optimize=True)


class Film:
    """What is seen while a hand moves: frames with a cursor."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[Image.Image] = []
        self._times: list[int] = []
        self.at = (700.0, 420.0)

    def take(self, ms: int = FRAME_MS) -> None:
        """Take a frame that is shown for so long."""
        frame = Image.open(BytesIO(self._page.screenshot())).convert("RGB")
        x, y = self.at
        arrow = [(x + dx, y + dy) for dx, dy in CURSOR]
        ImageDraw.Draw(frame).polygon(arrow, fill="black", outline="white")
        self._frames.append(frame)
        self._times.append(ms)

    def move(self, x: float, y: float, steps: int = 8) -> None:
        """Move the cursor to a point."""
        from_x, from_y = self.at
        for step in range(1, steps + 1):
            share = step / steps
            self.at = (from_x + (x - from_x) * share, from_y + (y - from_y) * share)
            self._page.mouse.move(*self.at)
            self._page.wait_for_timeout(120)
            self.take()

    def move_to(self, target: Locator) -> None:
        """Move the cursor to the middle of something."""
        box = target.bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}
        self.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def save(self, path: Path) -> None:
        """Write the film, with one palette for all frames."""
        first = self._frames[-1]
        both = Image.new("RGB", (first.width, 2 * first.height))
        both.paste(first)
        both.paste(self._frames[len(self._frames) // 2], (0, first.height))
        palette = both.quantize(128, kmeans=2)
        frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in self._frames]
        more = {"append_images": frames[1:], "duration": self._times, "loop": 0}
        frames[0].save(path, save_all=True, optimize=True, **more)


def film() -> None:
    """A question, a band that is drawn and dragged, and a thumb."""
    question = "Which books did I talk about?"
    with looking(1080, 760) as page:
        shot = Film(page)
        shot.take(900)
        shot.move_to(page.get_by_label("Question", exact=True))
        page.mouse.click(*shot.at)
        for end in range(3, len(question) + 3, 3):
            page.get_by_label("Question", exact=True).fill(question[:end])
            shot.take()
        ask(page, question)
        shot.take(1800)
        day = page.locator(".timeline").bounding_box() or {"x": 0, "y": 0, "width": 0, "height": 0}
        x, y = day["x"], day["y"] + day["height"] - 45
        shot.move(x + 90, y)
        page.mouse.down()
        shot.move(x + 240, y + 5)
        page.mouse.up()
        page.wait_for_timeout(500)
        shot.take(1500)
        shot.move_to(page.locator("[data-end=end] rect").last)
        page.mouse.down()
        shot.move(x + 480, y + 5)
        page.mouse.up()
        page.wait_for_timeout(500)
        shot.take(1500)
        shot.move_to(page.get_by_role("button", name="This answers").first)
        page.mouse.click(*shot.at)
        page.wait_for_timeout(300)
        shot.take(2800)
        shot.save(FOLDER / "page.gif")


def main() -> None:
    """Take all pictures."""
    for name, width, height, dark in (
        ("light", 1160, 820, False),
        ("dark", 1160, 820, True),
        ("phone", 390, 844, False),
    ):
        with looking(width, height, dark=dark) as page:
            ask(page)
            photograph(page, name)
            if name == "light":
                page.get_by_role("button", name="Edit").nth(3).click()
                page.get_by_role("button", name="Delete").nth(3).click()
                page.locator(".left-out summary").click()
                page.locator(".card").nth(3).evaluate("card => card.scrollIntoView()")
                page.wait_for_timeout(300)
                photograph(page, "left_out")
    film()


if __name__ == "__main__":
    main()
