"""What the tests of the command line share: some memories, and how a command is run."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]
"""Runs a command as a user types it: its exit code, its output, and what it says of errors."""

LINES = [
    {
        "id": "filled",
        "content": "The dentist filled a tooth.",
        "created_at": "2024-03-05T10:00:00",
        "user_id": "ann",
    },
    {
        "id": "moved",
        "content": "The dentist moved to Elm Street.",
        "created_at": "2024-02-01T09:00:00",
        "memory_type": "event",
    },
    {
        "id": "bob",
        "content": "Bob sees a dentist, too.",
        "created_at": "2024-03-05T11:00:00",
        "user_id": "bob",
    },
]
FIXED = ["--timestamp", "2024-03-08T12:00", "--timezone", "UTC"]


def written(path: Path, lines: Sequence[Mapping[str, object]]) -> Path:
    """A file with these lines."""
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def beside(path: Path) -> Path:
    """The folder of the collection of a file."""
    return path.with_name(path.name + ".recall")
