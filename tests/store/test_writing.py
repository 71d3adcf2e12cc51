"""Writing: nothing is done twice, and what several bring at once is written together."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import chromadb
import pytest
from store.kit import NOON, SmallEmbedding, contents, ids

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore


class Counting(SmallEmbedding):
    """Counts what it embeds, batch by batch, and waits while it is held; cannot embed "bad"."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[str]] = []
        self.begun, self.go = threading.Event(), threading.Event()
        self.go.set()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(list(texts))
        self.begun.set()
        self.go.wait(30)
        if any(text.startswith("bad") for text in texts):
            raise RuntimeError("the model is out of words")
        return super().embed_documents(texts)

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


class Clock:
    """A second later each time; `calls` counts the memories that are ready to be written."""

    calls = 0

    def __call__(self) -> datetime:
        self.calls += 1
        return NOON + timedelta(seconds=self.calls)

    async def has_been_read(self, times: int) -> None:
        while self.calls < times:
            await asyncio.sleep(0.005)


@pytest.fixture
def embedding() -> Counting:
    return Counting()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(
    embedding: Counting, clock: Clock, chroma: chromadb.ClientAPI, collection_name: str
) -> Iterator[RecallStore]:
    with RecallStore(chroma, collection_name, embedding=embedding, clock=clock) as opened:
        yield opened


class TestUnchanged:
    def test_what_is_there_as_it_is_is_not_embedded_again(
        self, store: RecallStore, embedding: Counting
    ) -> None:
        memories = [Memory(id=f"m{n}", content=f"word{n}", created_at=n) for n in range(600)]
        store.add(memories[:300])
        store.add(memories)
        assert sorted(embedding.texts) == sorted(contents(memories))
        assert store.get(ids(memories)) == memories

    @pytest.mark.parametrize(
        "change",
        [
            {"content": "coffee"},
            {"created_at": 5},
            {"author": "Ann"},
            {"memory_type": "insight"},
            {"when_to_use": "thirsty"},
            {"metadata": {"stars": 4}},
            {"metadata": {}},
            {"quality": 0.5},
            {"scope": {"user_id": "ann"}},
        ],
        ids=str,
    )
    def test_whatever_has_changed_is_written(
        self, store: RecallStore, embedding: Counting, change: dict[str, Any]
    ) -> None:
        first = {"id": "one", "content": "tea", "created_at": 0, "metadata": {"stars": 3}}
        store.add([first])
        store.add([{**first, **change}])
        assert len(embedding.batches) == 2
        assert store.get(["one"]) == [Memory.model_validate({**first, **change})]


class TestTogether:
    @pytest.fixture(autouse=True)
    def held(self, store: RecallStore, embedding: Counting, clock: Clock) -> None:
        """The first batch is held while the others come in."""
        store.delete(store.add(["before"]))  # so that none of them makes the collection
        embedding.batches.clear()
        clock.calls = 0
        embedding.go.clear()

    async def test_what_tasks_add_at_once_is_embedded_together(
        self, store: RecallStore, embedding: Counting, clock: Clock
    ) -> None:
        adding = asyncio.gather(*(store.aadd([f"word{n}"]) for n in range(60)))
        await clock.has_been_read(60)
        embedding.go.set()
        made = await adding
        assert store.count() == 60
        assert len(embedding.batches) < 12
        assert [contents(store.get(each)) for each in made] == [[f"word{n}"] for n in range(60)]
        assert all(len(batch) <= 300 for batch in embedding.batches)

    async def test_one_that_fails_takes_nothing_from_the_others(
        self, store: RecallStore, embedding: Counting, clock: Clock
    ) -> None:
        texts = [f"bad {n}" if n % 7 == 0 else f"word{n}" for n in range(30)]
        adding = asyncio.gather(*(store.aadd([x]) for x in texts), return_exceptions=True)
        await clock.has_been_read(30)
        embedding.go.set()
        done = await adding
        failed = [
            text for text, each in zip(texts, done, strict=True) if isinstance(each, Exception)
        ]
        assert failed == [text for text in texts if text.startswith("bad")]
        assert all("out of words" in str(x) for x in done if isinstance(x, Exception))
        assert store.count() == len(texts) - len(failed)

    async def test_one_that_is_cancelled_takes_nothing_from_the_others(
        self, store: RecallStore, embedding: Counting, clock: Clock
    ) -> None:
        tasks = [asyncio.create_task(store.aadd([f"word{n}"])) for n in range(20)]
        await clock.has_been_read(20)
        for task in tasks[::3]:
            task.cancel()
        embedding.go.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        stored = [each for each in done if not isinstance(each, BaseException)]
        assert len(stored) >= 13
        for made in stored:
            assert len(store.get(made)) == 1
        store.add(["after"])
        assert store.find([Search("after", 1)])[0][0].memory.content == "after"

    async def test_closing_finishes_what_is_written_and_what_waits(
        self, store: RecallStore, embedding: Counting, chroma: chromadb.ClientAPI
    ) -> None:
        adding = [asyncio.create_task(store.aadd([f"word{n}"])) for n in range(5)]
        await asyncio.to_thread(embedding.begun.wait, 30)
        await asyncio.sleep(0.2)  # the others wait
        closing = asyncio.create_task(asyncio.to_thread(store.close))
        await asyncio.sleep(0.2)
        assert not closing.done()
        embedding.go.set()
        made = [row_id for added in await asyncio.gather(*adding) for row_id in added]
        await closing
        with RecallStore(chroma, store.name, embedding=embedding) as again:
            assert sorted(contents(again.get(made))) == [f"word{n}" for n in range(5)]
