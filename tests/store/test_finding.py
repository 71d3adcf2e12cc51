"""Finding: side by side with writers, on the event loop, and when Chroma stumbles."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import chromadb
import pytest
from store.kit import SmallEmbedding, best, contents

from recall_retrievers.core.errors import QueryError, StoreClosedError, StoreError
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.table import Table


class TestFinding:
    def test_a_book_is_no_question(self, in_memory: RecallStore) -> None:
        with pytest.raises(QueryError, match="50,000 characters at most"):
            in_memory.find([Search("tea " * 12_501, 1)])

    @pytest.mark.parametrize(
        ("broken", "times", "answered"),
        [("finding id", 2, True), ("finding id", 99, False), ("Failed to apply logs", 1, False)],
    )
    def test_only_chromas_race_is_tried_again(
        self,
        searched_by_chroma: RecallStore,
        monkeypatch: pytest.MonkeyPatch,
        broken: str,
        times: int,
        answered: bool,
    ) -> None:
        """A row deleted between two look-ups; a broken index would return wrong neighbours."""
        failures = [chromadb.errors.InternalError(broken) for _ in range(times)]
        query = chromadb.Collection.query

        def failing(self: Any, **asked: Any) -> Any:
            if failures:
                raise failures.pop()
            return query(self, **asked)

        monkeypatch.setattr(chromadb.Collection, "query", failing)
        if answered:
            assert contents(best(searched_by_chroma, "tea")) == ["tea"]
        else:
            with pytest.raises(StoreError, match=broken) as raised:
                best(searched_by_chroma, "tea")
            assert isinstance(raised.value.__cause__, chromadb.errors.InternalError)

    async def test_the_event_loop_runs_on_while_a_store_works(self) -> None:
        class Slow(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                time.sleep(0.3)
                return super().embed_documents(texts)

            async def aembed_query(self, text: str) -> list[float]:
                await asyncio.sleep(0.1)
                return self.embed_query(text)

        with RecallStore(embedding=Slow()) as store:
            for work in (store.aadd(["tea"]), store.afind([Search("tea", 1)])):
                ticks, task = 0, asyncio.ensure_future(work)
                while not task.done():
                    await asyncio.sleep(0.01)
                    ticks += 1
                await task
                assert ticks >= 3  # none while something holds the loop up

    async def test_async_searches_run_side_by_side(self) -> None:
        together = asyncio.Barrier(8)

        class Together(SmallEmbedding):
            async def aembed_query(self, text: str) -> list[float]:
                await together.wait()  # passes only when all eight are being embedded
                return self.embed_query(text)

        with RecallStore(embedding=Together()) as store:
            store.add(["tea", "train"])
            async with asyncio.timeout(20):
                await store.afind([Search(f"tea {number}", 1) for number in range(8)])

    def test_a_store_closed_within_a_search_by_words_does_not_answer_with_nothing(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        by_words = Table.by_words

        def closing(table: Table, *wanted: Any, **how: Any) -> Any:
            in_memory.close()
            return by_words(table, *wanted, **how)

        in_memory.add(["tea"])
        monkeypatch.setattr(Table, "by_words", closing)
        with pytest.raises(StoreClosedError):
            best(in_memory, "tea", method="keyword")


@pytest.fixture
def searched_by_chroma() -> Iterator[RecallStore]:
    """A collection of others in another space than cosine: Chroma answers every question."""
    client = chromadb.EphemeralClient()
    theirs = client.create_collection("race", configuration={"hnsw": {"space": "l2"}})
    embedding = SmallEmbedding()
    theirs.add("1", embeddings=[embedding.embed_query("tea")], documents=["tea"])
    with RecallStore(client, "race", embedding=embedding) as store:
        yield store
    client.delete_collection("race")
