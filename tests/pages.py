"""Pages of documentation as something that can be run: its blocks, and what they promise."""

import contextlib
import io
import json
import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from recall_retrievers.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

SCREENS = ("text", "console")  # blocks that show what the one before prints, or what they print
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """A fenced block: its language, its text and the line of the page on which that begins."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = _BLOCK.finditer(text)
    return [Block(each[1], each[2], text.count("\n", 0, each.start(2)) + 1) for each in found]


def run_python(block: Block, names: dict[str, object]) -> str:
    """Run a block in the names that those before it left; returns what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(block.text, "page", "exec"), names)
    return plain(printed.getvalue())


def run_console(block: Block) -> str:
    """Run each line that begins with "$ recall"; returns the screen."""
    shown = io.StringIO()
    for line in block.text.splitlines():
        if line.startswith("$ "):
            shown.write(f"{line}\n")
            with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
                program, *words = shlex.split(line.removeprefix("$ "))
                assert program == "recall", line
                main("recall", words)
    return plain(shown.getvalue())


@dataclass
class Shown:
    """What became of a page: what each block of Python printed, and its screens."""

    printed: list[str]
    screens: list[str]
    promised: list[str]


def run_page(page: Path, names: dict[str, object]) -> Shown:
    """Run the blocks of a page in order, each in the names that those before it left.

    A block of "text" is what the block of Python before it prints. RECALL_REWRITE=1 in the
    environment writes what is shown into the page.
    """
    done = Shown([], [], [])
    for block in blocks(page):
        if block.language == "python":
            done.printed.append(run_python(block, names))
        elif block.language in SCREENS:
            is_console = block.language == "console"
            done.screens.append(run_console(block) if is_console else done.printed[-1])
            done.promised.append(plain(block.text))
        elif block.language == "json":
            assert [json.loads(line) for line in block.text.splitlines()]
        else:
            raise AssertionError(f"{page.name} has a block of {block.language!r}: who runs it?")
    if "RECALL_REWRITE" in os.environ:
        rewrite(page, done.screens)
        done.promised = done.screens
    return done


def rewrite(page: Path, screens: list[str]) -> None:
    """Put what was shown in place of the screens of a page, in their order."""
    shown = iter(screens)

    def replaced(found: re.Match[str]) -> str:
        is_screen = found[1] in SCREENS
        return f"```{found[1]}\n{next(shown)}\n```" if is_screen else found[0]

    text = page.read_text(encoding="utf-8")
    page.write_text(_BLOCK.sub(replaced, text), encoding="utf-8")


def plain(text: str) -> str:
    """A screen without the spaces at the ends of its lines, and without how long things took."""
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return re.sub(r"\d+ ms(?= each|$)", "20 ms", lines, flags=re.MULTILINE)
