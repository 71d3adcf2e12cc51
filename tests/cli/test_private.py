"""What a command leaves on the disk is for its user alone, whatever the umask is."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.kit import LINES, Run, written

from recall_retrievers.cli.program import _COMMANDS
from recall_retrievers.store import RecallStore

WORDS = {
    "ask": "--memories {file} tea",
    "explain": "--memories {file} tea",
    "load": "{file} --into {new}",
    "export": "--memories {file} --output {new}",
    "stats": "--memories {file}",
    "delete": "--chroma {old} --id bob --yes",
    "migrate": "{old} {new}",
    "check": "{old}",
    "repair": "{old}",
    "mcp": "{new}",
    "serve": "{new} --port 0",
    "look": "{file} --no-browser",
    "time": "tomorrow",
    "gate": "tea?",
    "eval": "--memories {file} --queries {questions}",
}


def _readable(folder: Path) -> Iterator[str]:
    """What others can reach and read below a folder."""
    for each in folder.iterdir():
        mode = each.stat().st_mode
        if mode & 0o077:
            yield each.name
        if each.is_dir() and mode & 0o011:
            yield from _readable(each)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes")
def test_nobody_else_can_read_what_a_command_leaves(tmp_path: Path, run: Run) -> None:
    inputs = [written(tmp_path / f"{name}.jsonl", LINES) for name in WORDS]
    questions = written(tmp_path / "questions", [{"question": "tea?", "relevant": ["bob"]}])
    before = os.umask(0o022)
    try:
        with RecallStore(tmp_path / "old") as store:
            store.add(LINES)
        for name in _COMMANDS:
            places = {"file": tmp_path / f"{name}.jsonl", "new": tmp_path / f"of-{name}"}
            words = WORDS[name].format(**places, old=tmp_path / "old", questions=questions)
            if name in ("mcp", "serve", "look"):
                _served(name, *words.split())
            else:
                assert run(name, *words.split())[0] in (0, 1), name
            assert {*_readable(tmp_path)} == {each.name for each in (*inputs, questions)}, name
    finally:
        os.umask(before)


def _served(*words: str) -> None:
    """Start a server, and end it once it says that it is there, or ends by itself."""
    command = [sys.executable, "-m", "langchain_recall", *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        server.terminate()
