"""A server of HTTP that runs in a thread of the test, and what is in it."""

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
from conftest import WordsEmbedding

from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.app import memory_app
from recall_retrievers.serve.operation import ScopedService
from recall_retrievers.serve.running import ServerSettings, address_of, listening, serve
from recall_retrievers.serve.tokens import Tokens
from recall_retrievers.store import RecallStore

ROOT = Path(__file__).parent.parent.parent

ANN, BOB, ALL = "token-of-ann-0001", "token-of-bob-0002", "token-of-all-0003"
TOKENS = f"{ANN} user_id=ann\n{BOB} user_id=bob\n# everybody\n{ALL} *"

JSON = {"Content-Type": "application/json"}

UPLOADS = {
    "content": "Check the size before the upload begins.",
    "when_to_use": "Uploading files in Python",
    "memory_type": "task",
    "workspace": "my_workspace",
    "created_at": "2024-03-01T10:00:00Z",
}
MEMORIES = [
    {
        "id": "filled",
        "content": "The dentist filled a tooth.",
        "created_at": "2024-03-05T10:00:00Z",
        "user_id": "ann",
    },
    {
        "id": "moved",
        "content": "The dentist moved to Elm Street.",
        "created_at": "2024-02-01T09:00:00Z",
        "user_id": "ann",
        "metadata": {"topic": "health"},
    },
    {
        "id": "bobs",
        "content": "The dentist of Bob is called Dr. Grey.",
        "created_at": "2024-03-05T11:00:00Z",
        "user_id": "bob",
    },
    {"id": "uploads", **UPLOADS},
]


def filled_store() -> RecallStore:
    store = RecallStore(embedding=WordsEmbedding())
    store.add(MEMORIES)
    return store


@contextmanager
def running(
    store: RecallStore, *, tokens: str = "", scope: Scope | None = None, **settings: object
) -> Iterator[httpx.Client]:
    """A server on a free port of this machine, and a client of it."""
    chosen = ServerSettings(
        **{"port": 0, "rate": None, **settings},
        scope=scope,
        tokens=Tokens(tokens) if tokens else None,
    )
    app = memory_app(ScopedService.of(store, timezone="UTC"), chosen)
    is_up = threading.Event()
    stop: list[object] = []

    async def work() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel))
        is_up.set()
        await serve(app, bound, chosen)

    def in_thread() -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(work())

    thread = threading.Thread(target=in_thread)
    with listening(chosen) as bound:
        thread.start()
        try:
            assert is_up.wait(30)
            with httpx.Client(base_url=address_of(bound), timeout=30) as client:
                yield client
        finally:
            stop[0]()  # type: ignore[operator]
            thread.join(30)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def stdio_command(folder: Path, *words: str) -> tuple[str, list[str], dict[str, str]]:
    """How a client starts a server of its own: a program, its words, its environment."""
    return (
        sys.executable,
        ["-m", "langchain_recall", "mcp", str(folder), *words],
        {**os.environ, "PYTHONPATH": str(ROOT)},
    )
