"""Writing: what is refused, nothing is done twice, and what several bring at once is one batch."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import chromadb
import numpy as np
import pytest
from langchain_core.documents import Document
from llama_index.core.schema import TextNode
from store.kit import NOON, SmallEmbedding, best, contents, ids

from recall_retrievers.core.errors import MemoryFormatError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.collection import Collection


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
        other = [each.model_copy(update={"metadata": {"stars": 3}}) for each in memories]
        store.add(other)  # its texts stay
        assert len(embedding.texts) == 600
        assert store.get(ids(memories)) == other

    def test_a_vector_is_not_kept_for_a_text_that_somebody_changes_meanwhile(
        self, store: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.add([{"id": "m1", "content": "tea"}])
        vectors = Collection.vectors

        def changed(collection: Collection, wanted: Any) -> Any:
            monkeypatch.undo()
            milk = SmallEmbedding().embed_documents(["milk"])
            collection.chroma.upsert(ids=["m1"], documents=["milk"], embeddings=milk)
            return vectors(collection, wanted)

        monkeypatch.setattr(Collection, "vectors", changed)
        store.add([{"id": "m1", "content": "tea", "metadata": {"stars": 3}}])
        [hit] = best(store, "tea")
        assert (hit.memory.metadata, round(hit.score, 3)) == ({"stars": 3}, 1.0)


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


class TestAdding:
    def test_what_the_caller_changes_afterwards_changes_no_answer(
        self, in_memory: RecallStore
    ) -> None:
        memory = Memory(content="tea", metadata={"tags": ["hot"], "stars": 3})
        in_memory.add([memory])
        memory.metadata["stars"] = 1
        memory.metadata["tags"].append("cold")  # type: ignore[union-attr]  # it is a list
        assert best(in_memory, "tea")[0].memory.metadata == {"tags": ["hot"], "stars": 3}

    def test_metadata_changed_to_what_no_row_keeps_is_refused(self, in_memory: RecallStore) -> None:
        memory = Memory(content="tea")
        memory.metadata["when"] = NOON  # type: ignore[assignment]  # as a caller may do
        with pytest.raises(MemoryFormatError, match="metadata 'when' must be text"):
            in_memory.add(["train", memory])
        assert in_memory.count() == 0

    @pytest.mark.parametrize(
        ("bad", "says"),
        [
            ({"content": ""}, "content"),
            ({}, "content"),
            ({"content": "x", "contnet": "y"}, "did you mean"),
            ({"content": "x", "topic": "y"}, r"own goes into metadata: metadata=\{'topic'"),
            ({"content": "x", "created_at": "soon"}, "created_at"),
            ({"content": "x", "metadata": {"k": None}}, "metadata 'k' must be"),
            ({"content": "x", "metadata": {"k": float("nan")}}, "'k' must be a finite number"),
            ({"content": "x", "metadata": {"k": []}}, "empty list"),
            ({"content": "x", "metadata": {"k": {"nested": 1}}}, "metadata 'k' must be"),
            (
                {"content": "x", "metadata": {"k": np.array([1, 2])[:, None]}},
                "metadata 'k' must be",
            ),
            ({"content": "x", "metadata": {"k": 2**63}}, "64 bits"),
            ({"content": "x", "metadata": {"created_at": 1}}, "may not use the name created_at"),
            ({"content": "x", "metadata": {"$and": 1}}, "rename it"),
            ({"content": "x", "metadata": {"k": ["a", "\ud83d"]}}, "half a character"),
            ({"content": "x", "id": "\ud83d"}, "half a character"),
            ({"content": "x", "quality": 7}, "quality"),
            (42, "a memory is a Memory, a mapping .* or a node of LlamaIndex; got int"),
            (None, "got NoneType"),
            (Document("x", metadata={"created_at": "in spring"}), "of 'x' cannot be read"),
            (TextNode(id_="1", text=" "), "TextNode '1' cannot be stored: .*content"),
            (
                TextNode(id_="2", text="x", metadata={"created_at": "last spring"}),
                "'last spring'.*ISO 8601",
            ),
            ({"content": "x", "metadata": {"k": [*range(1000)]}}, "a memory has 1,004 values"),
            ({"content": "x", "metadata": {f"k{n}": n for n in range(1001)}}, "1,000 at most"),
            ({"content": "x"} | {f"k{n}": n for n in range(1001)}, "takes no 1,002 settings"),
        ],
        ids=lambda bad: ascii(bad)[:60],
    )
    def test_one_bad_memory_is_an_error_and_nothing_is_stored(
        self, in_memory: RecallStore, bad: Any, says: str
    ) -> None:
        with pytest.raises(MemoryFormatError, match=says):
            in_memory.add([*(f"good {number}" for number in range(300)), bad])
        assert in_memory.count() == 0

    def test_a_change_makes_no_memory_that_chroma_could_not_apply(
        self, in_memory: RecallStore
    ) -> None:
        [tea] = in_memory.add([{"content": "tea", "metadata": {"a": [*range(600)]}}])
        with pytest.raises(MemoryFormatError, match="1,000 at most"):
            in_memory.update(tea, metadata={"b": [*range(600)]})
        with pytest.raises(MemoryFormatError, match="1,000 at most"):
            in_memory.supersede(tea, {"content": "rum", "metadata": {"b": [*range(9000)]}})
        assert in_memory.update(tea, metadata={"b": [*range(300)]}).id == tea
        assert in_memory.count() == 1

    @pytest.mark.parametrize("one", ["tea", {"content": "tea"}, Memory(content="tea")], ids=repr)
    def test_a_single_memory_is_not_taken_for_a_list(
        self, in_memory: RecallStore, one: Any
    ) -> None:
        with pytest.raises(MemoryFormatError, match="put it in a list"):
            in_memory.add(one)
        assert in_memory.count() == 0

    def test_one_id_twice_in_a_call_is_an_error(self, in_memory: RecallStore) -> None:
        rows = [{"id": "one", "content": "tea"}, {"id": "one", "content": "train"}]
        with pytest.raises(MemoryFormatError, match="have the id 'one'"):
            in_memory.add(rows)
        assert in_memory.count() == 0


class TestLongTexts:
    def test_the_text_is_kept_whole_and_its_beginning_is_searched(self) -> None:
        """Words and tokens of a million Chinese characters took eight seconds."""
        seen: list[str] = []

        class Seeing(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                seen.extend(texts)
                return super().embed_documents([text[:100] for text in texts])

        beginning = "开始 in the spring of 2019 "
        text = beginning + "博物馆的猫" * 200_000 + " 结束 on 12 May 2021 in Zanzibar"
        with RecallStore(embedding=Seeing()) as store:
            made = store.add([{"content": text, "created_at": NOON, "when_to_use": "cats"}])
            assert [each.content for each in store.get(made)] == [text]
            assert [len(each) for each in seen] == [50_000]
            assert seen[0].startswith(f"cats\n{beginning}博物馆")
            assert ids(best(store, "开始", method="keyword")) == made
            assert best(store, "zanzibar", method="keyword") == []
            assert {each.start.year for each in store.get(made)[0].events if each.start} == {2019}
            assert best(store, "cats", method="keyword")[0].memory.content == text
