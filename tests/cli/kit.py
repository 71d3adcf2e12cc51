"""What the tests of the command line share: some memories, and a command run as a user types it."""

import pytest

from recall_retrievers.cli import main

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


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main("recall", [str(word) for word in words])
    return code, *capsys.readouterr()
