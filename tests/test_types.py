"""Type checkers accept what the documentation shows, and find a user's mistakes.

What they see is the wheel, as after `pip install`: pyright in its standard mode, by way of
basedpyright, whose wheel brings all that it runs on; and mypy without pydantic's plugin.
"""

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from pages import PAGES, ROOT, Block, blocks

pytestmark = pytest.mark.slow
USES = Path(__file__).parent / "types"
RIGHT, WRONG = USES / "right_uses.py", USES / "wrong_uses.py"
_MARK = "# wrong: "


class Mistake(NamedTuple):
    """What a checker finds."""

    file: str
    line: int
    said: str


def pyright(folder: Path, installed: Path) -> list[Mistake]:
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(installed)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = ["basedpyright", "--outputjson", "--pythonpath", sys.executable, "."]
    done = _run([Path(sys.executable).with_name(command[0]), *command[1:]], folder)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py")))
    return [
        Mistake(Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in report["generalDiagnostics"]
        if each["severity"] == "error"
    ]


def mypy(folder: Path, installed: Path) -> list[Mistake]:
    # A name may be used again, as it is in pages. The frameworks are read once for all runs.
    (folder / "mypy.ini").write_text(
        "[mypy]\nfollow_imports = silent\nallow_redefinition = True\nlocal_partial_types = True\n"
        f"cache_dir = {ROOT / '.mypy_cache' / 'pages'}\n"
        "[mypy-langmem.*]\nignore_missing_imports = True\n",  # it has no types
        encoding="utf-8",
    )
    files = sorted(path.name for path in folder.glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", *files]
    done = _run(command, folder, MYPYPATH=str(installed))
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    found = re.findall(r"^(\S+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return [Mistake(file, int(line), said) for file, line, said in found]


Checker = Callable[[Path, Path], list[Mistake]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(scope="module", params=[pyright, mypy], ids=["pyright", "mypy"])
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, installed: Path
) -> list[Mistake]:
    """What a checker finds in the pages, and in the two files of uses."""
    folder = tmp_path_factory.mktemp("checked")
    for page in PAGES:
        for number, text in enumerate(_files(page), 1):
            name = str(page.relative_to(ROOT).with_suffix("")).replace(os.sep, "_")
            (folder / f"{name}_{number}.py").write_text(text, encoding="utf-8")
    # The reader's own: nothing is known of it.
    unknown = "from typing import Any\ndef __getattr__(name: str) -> Any: ...\n"
    (folder / "my_app.py").write_text(unknown, encoding="utf-8")
    for uses in (RIGHT, WRONG):
        shutil.copy(uses, folder)
    check: Checker = request.param
    return check(folder, installed)


# One test a checker: two would be two runs, where each worker of the tests has one.
def test_nothing_that_is_shown_is_a_mistake_and_every_mistake_is_found(
    found: list[Mistake],
) -> None:
    mistakes = [each for each in found if each.file != WRONG.name]
    lines = WRONG.read_text(encoding="utf-8").splitlines()
    marked = {number for number, line in enumerate(lines, 1) if _MARK in line}

    assert not mistakes, "\n".join(f"{each.file}:{each.line}: {each.said}" for each in mistakes)
    assert {each.line for each in found if each.file == WRONG.name} == marked


def test_what_checkers_accept_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    runpy.run_path(str(RIGHT))


def _files(page: Path) -> Iterator[str]:
    """The Python of a page, on the lines where it stands there.

    A block goes on where the one before it ended. One that imports a name from elsewhere than they
    did, as from the other framework, begins a file of its own.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    file, sources = [""] * len(lines), {}
    for block in blocks(page):
        if block.language == "python":
            imports = _imports(block)
            if any(sources.get(name, source) != source for name, source in imports.items()):
                yield "\n".join(file)
                file, sources = [""] * len(lines), {}
            sources |= imports
            first = block.line - 1
            text = block.text.splitlines()
            file[first : first + len(text)] = text
    if any(file):
        yield "\n".join(file)


def _imports(block: Block) -> dict[str, str | None]:
    tree = ast.walk(ast.parse(block.text))
    froms = [each for each in tree if isinstance(each, ast.ImportFrom)]
    return {alias.asname or alias.name: each.module for each in froms for alias in each.names}


def _run(
    command: list[str | Path], folder: Path, **settings: str
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **settings}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
