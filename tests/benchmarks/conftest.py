"""The benchmarks are no part of the installed package: they are found beside the tests."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))


@pytest.fixture
def measured(tmp_path: Path) -> Callable[..., Any]:
    """Runs the command of a benchmark, and returns the JSON that it writes."""

    def run(main: Callable[[list[str]], None], *words: object) -> Any:
        out = tmp_path / "out.json"
        main([*map(str, words), "--json", str(out)])
        return json.loads(out.read_text(encoding="utf-8"))

    return run


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file with an object on each line; a text is a line as it stands."""

    def write(name: str, *rows: dict[str, Any] | str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        file.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return file

    return write


@pytest.fixture
def retrieval_set(jsonl: Callable[..., Path]) -> Callable[..., Path]:
    """Writes a data set: memories as (corpus, id, text, speaker, time), and questions."""
    names = ("corpus", "id", "text", "speaker", "created_at")
    usual = {"corpus": "c", "now": "2024-03-13T12:00:00", "category": "plain", "time": None}

    def write(name: str, memories: list[tuple[str, ...]], *questions: dict[str, Any]) -> Path:
        rows = [dict(zip(names, memory, strict=True)) for memory in memories]
        jsonl(f"{name}/memories.jsonl", *rows)
        asked = [{**usual, "off_text": None, "id": str(n), **q} for n, q in enumerate(questions)]
        return jsonl(f"{name}/queries.jsonl", *asked).parent

    return write
