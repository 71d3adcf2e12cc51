"""Finding: side by side with writers, on the event loop, and when Chroma stumbles."""

import asyncio
import random
import time
from collections.abc import Iterator
from typing import Any

import chromadb
import pytest
from store.kit import SmallEmbedding, best, contents, similarities

from recall_retrievers.core.errors import QueryError, StoreClosedError, StoreError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.table import Table


@pytest.mark.parametrize("condition", [{}, {"scope": {"user_id": "ann"}}, {"filter": {"odd": 1}}])
def test_the_nearest_of_many_are_those_of_plain_cosines(
    in_memory: RecallStore, small: SmallEmbedding, condition: dict[str, Any]
) -> None:
    draw = random.Random(7)
    texts = [" ".join(f"word{draw.randrange(40)}" for _ in range(5)) for _ in range(900)]
    users = ["ann" if n % 3 else "bob" for n in range(900)]
    in_memory.add(
        {"content": text, "user_id": users[n], "metadata": {"odd": n % 2}}
        for n, text in enumerate(texts)
    )
    wanted = [
        text
        for n, text in enumerate(texts)
        if ("scope" not in condition or users[n] == "ann") and ("filter" not in condition or n % 2)
    ]
    if "scope" in condition:
        condition = {"scope": Scope(**condition["scope"])}
    for n in range(0, 40, 8):
        question = f"word{n} word{n + 3}"
        [hits] = in_memory.find([Search(question, 10, **condition)])
        plain = sorted(similarities(question, wanted, small), reverse=True)
        assert [hit.score for hit in hits] == pytest.approx(plain[:10], abs=1e-4)


class TestFinding:
    def test_a_book_is_no_question(self, in_memory: RecallStore) -> None:
        with pytest.raises(QueryError, match="50,000 characters at most"):
            in_memory.find([Search("tea " * 12_501, 1)])

    def test_a_row_to_which_chromas_graph_has_no_way_is_found(self, in_memory: RecallStore) -> None:
        """Equal vectors link to each other alone: Chroma answers with nothing."""
        in_memory.add([{"id": "lone", "content": "bread", "metadata": {"stars": 5}}])
        in_memory.add(["tea"] * 500)
        for text in ("bread", "tea"):
            [found] = in_memory.find([Search(text, 5, filter={"stars": 5})])
            assert [memory.id for memory in found] == ["lone"]
            assert found[0].score == pytest.approx(1.0 if text == "bread" else 0.0, abs=0.2)

    def test_chromas_race_is_tried_again(
        self, searched_by_chroma: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A row deleted between Chroma's two look-ups is an error that passes."""
        failures = _failing_queries(monkeypatch, "Error finding id", times=2)
        assert contents(best(searched_by_chroma, "tea")) == ["tea"]
        assert failures == []

    def test_a_race_that_does_not_pass_is_an_error(
        self, searched_by_chroma: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _failing_queries(monkeypatch, "Error finding id", times=99)
        with pytest.raises(StoreError, match="Error finding id") as raised:
            best(searched_by_chroma, "tea")
        assert isinstance(raised.value.__cause__, chromadb.errors.InternalError)

    def test_a_broken_index_is_not_tried_again(
        self, searched_by_chroma: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The second try would pass, and return wrong neighbours."""
        broken = "Failed to apply logs to the hnsw segment writer"
        left = _failing_queries(monkeypatch, broken, times=2)
        with pytest.raises(StoreError, match="apply logs"):
            best(searched_by_chroma, "tea")
        assert len(left) == 1

    async def test_the_event_loop_runs_on_while_a_store_works(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Slow(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                time.sleep(0.3)
                return super().embed_documents(texts)

            async def aembed_query(self, text: str) -> list[float]:
                await asyncio.sleep(0.1)
                return self.embed_query(text)

        with RecallStore(embedding=Slow()) as store:
            collection = chromadb.Collection
            query = collection.query

            def slow_query(*args: Any, **settings: Any) -> Any:
                time.sleep(0.3)
                return query(*args, **settings)

            monkeypatch.setattr(collection, "query", slow_query)
            for work in (store.aadd(["tea"]), store.afind([Search("tea", 1)])):
                ticks = await _ticks_during(work)
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

    def test_an_error_in_a_store_that_was_closed_meanwhile_says_so(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        in_memory.add(["tea"])

        def gone(*_: object, **__: object) -> int:
            in_memory.close()
            raise RuntimeError("there are no such rows")

        monkeypatch.setattr(Table, "select", gone)
        with pytest.raises(StoreClosedError, match="is closed; open it again"):
            in_memory.count()

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


def _failing_queries(monkeypatch: pytest.MonkeyPatch, message: str, times: int) -> list[Exception]:
    """Let the first queries fail as Chroma does."""
    failures: list[Exception] = [chromadb.errors.InternalError(message) for _ in range(times)]
    collection = chromadb.Collection
    query = collection.query

    def failing(self: Any, **asked: Any) -> Any:
        if failures:
            raise failures.pop()
        return query(self, **asked)

    monkeypatch.setattr(collection, "query", failing)
    return failures


async def _ticks_during(work: Any) -> int:
    ticks = 0
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.sleep(0.01)
        ticks += 1
    await task
    return ticks
