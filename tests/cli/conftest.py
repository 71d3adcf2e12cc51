"""A file of memories, loaded once for all commands."""

import json
from pathlib import Path

import pytest
from cli.kit import LINES

from recall_retrievers.cli import main


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "memories.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in LINES), encoding="utf-8")
    assert main("recall", ["load", "--memories", str(path), "--timezone", "UTC"]) == 0
    return path
