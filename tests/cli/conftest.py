"""A command as a user types it, and files of memories."""

from pathlib import Path

import pytest
from cli.kit import LINES, Run, written

from recall_retrievers.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run_command(*words: object) -> tuple[int, str, str]:
        try:
            code = main("recall", [str(word) for word in words])
        except SystemExit as left:
            code = int(left.code or 0)
        return code, *capsys.readouterr()

    return run_command


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is loaded once for the tests that change nothing in it."""
    path = written(tmp_path_factory.mktemp("cli") / "memories.jsonl", LINES)
    assert main("recall", ["load", "--memories", str(path), "--timezone", "UTC"]) == 0
    return path


@pytest.fixture
def loaded(tmp_path: Path, run: Run) -> Path:
    """A file of one test alone, and its collection."""
    path = written(tmp_path / "notes.jsonl", LINES)
    assert run("load", "--memories", path, "--timezone", "UTC")[0] == 0
    return path
