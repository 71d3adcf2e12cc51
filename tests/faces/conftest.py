"""The collection that the cases are asked of, and the faces that ask."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces import postgres as server
from faces.adapters import FACES, Face
from tenacity import wait_none

from recall_retrievers.llm import client as answering
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00:00Z"  # a Friday

MEMORIES = [
    {
        "id": "filling",
        "content": "The dentist put a filling in my tooth.",
        "created_at": "2024-03-05T10:00:00Z",  # last Tuesday
        "memory_type": "conversation",
        "author": "Ann",
        "scope": {"user_id": "ann"},
        "metadata": {"topic": "health", "stars": 3},
    },
    {
        "id": "moved",
        "content": "The dentist moved to Elm Street.",
        "created_at": "2024-02-01T09:00:00Z",
        "memory_type": "observation",
        "scope": {"user_id": "ann"},
        "metadata": {"topic": "health", "stars": 5},
    },
    {
        "id": "fear",
        "content": "Ann is afraid of the dentist.",
        "created_at": "2023-11-20T18:30:00Z",
        "memory_type": "insight",
        "scope": {"user_id": "ann", "agent_id": "helper"},
        "metadata": {"topic": "health"},
    },
    {
        "id": "tea",
        "content": "Green tea is what Ann drinks in the morning.",
        "created_at": "2024-03-05T07:00:00Z",
        "scope": {"user_id": "ann"},
        "metadata": {"topic": "food", "stars": 4},
    },
    {
        "id": "wedding",
        "content": "The wedding of Carla is what we talked about.",
        "created_at": "2024-01-10T12:00:00Z",
        "events": [
            {"start": "2024-03-02T00:00:00Z", "end": "2024-03-03T00:00:00Z", "grain": "day"}
        ],
        "scope": {"user_id": "ann"},
    },
    {
        "id": "bob",
        "content": "The dentist of Bob is called Dr. Lee.",
        "created_at": "2024-03-05T11:00:00Z",
        "scope": {"user_id": "bob"},
    },
]


@pytest.fixture(params=FACES, ids=str)
def face(request: pytest.FixtureRequest) -> Face:
    return request.param


@pytest.fixture(scope="module")
def filled() -> Iterator[tuple[RecallStore, WordsEmbedding]]:
    embedding = WordsEmbedding()
    with RecallStore(embedding=embedding) as opened:
        opened.add(MEMORIES)
        yield opened, embedding


@pytest.fixture
def words(filled: tuple[RecallStore, WordsEmbedding]) -> WordsEmbedding:
    embedding = filled[1]
    embedding.queries.clear()
    return embedding


@pytest.fixture
def store(
    filled: tuple[RecallStore, WordsEmbedding], words: WordsEmbedding
) -> Iterator[RecallStore]:
    """The memories, to be searched: a module's tests share it, so none may change it."""
    opened = filled[0]
    before = list(opened.memories())
    yield opened
    assert list(opened.memories()) == before, "a test that changes memories takes `own_store`"


@pytest.fixture
def own_store(words: WordsEmbedding) -> Iterator[RecallStore]:
    """The same memories for one test alone, which may change them."""
    with RecallStore(embedding=words) as opened:
        opened.add(MEMORIES)
        yield opened


@pytest.fixture
def boiler(words: WordsEmbedding) -> Iterator[RecallStore]:
    """Memories of which "And how much was that?" finds the right one only after the question."""
    with RecallStore(embedding=words) as opened:
        opened.add(["Fenn fixed the boiler.", "For the boiler Fenn took 140 pounds."])
        opened.add(["It rains.", "It shines."])
        yield opened


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that is tried again is tried at once. A private name: it is no setting."""
    monkeypatch.setattr(answering, "_BACK_OFF", wait_none())


@pytest.fixture(scope="module")
def postgres() -> Iterator[Callable[[], int]]:
    """The port of a PostgreSQL with pgvector; it starts for the first that asks."""
    with ExitStack() as running:
        ports: list[int] = []

        def port() -> int:
            programs = server.binaries()
            if programs is None:
                pytest.skip("no PostgreSQL with pgvector: neither Debian's packages nor the wheel")
            if not ports:
                ports.append(running.enter_context(server.running(programs)))
            return ports[0]

        yield port


@pytest.fixture
def opened(face: Face, postgres: Callable[[], int]) -> Callable[..., Any]:
    from faces.other_stores import open_store, rows  # which has its memories from here

    def fill(kind: str = "in memory", memories: Sequence[Any] | None = None) -> Any:
        return open_store(kind, face, rows() if memories is None else rows(memories), postgres)

    return fill
