"""Failing well: what goes wrong is an error of ours, with its cause and what to do about it."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chromadb
import httpx
import pytest
from chroma_server import ChromaServer
from store.kit import SmallEmbedding, best, contents, python_process

from recall_retrievers.core.errors import FilterError, StoreError, StoreUnavailableError
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ChromaServer]:
    server = ChromaServer(tmp_path / "server")
    yield server
    server.stop()


class TestServerAway:
    def test_every_call_says_that_the_server_does_not_answer(
        self, server: ChromaServer, small: SmallEmbedding
    ) -> None:
        client = server.client()
        store = RecallStore(client, embedding=small)
        made = store.add([f"tea {number}" for number in range(3)])
        server.stop()
        calls: list[Callable[[], object]] = [
            store.count,
            lambda: store.get(made),
            lambda: list(store.memories()),
            lambda: store.add(["train"]),
            lambda: asyncio.run(store.aadd(["train"])),
            lambda: store.add_conversation([{"role": "user", "content": "I like tea."}]),
            lambda: store.delete(made),
            lambda: best(store, "tea"),
            lambda: best(store, "tea", method="keyword"),
            lambda: best(store, "tea", filter={"x": {"$ne": 1}}),
            lambda: asyncio.run(store.afind([Search("tea", 1)])),
            lambda: RecallStore(client, "others", embedding=small),
        ]
        for call in calls:
            with pytest.raises(StoreUnavailableError, match=r"do it again") as raised:
                call()
            assert isinstance(raised.value.__cause__, httpx.TransportError)
        store.close()

    def test_an_add_whose_server_goes_says_what_is_stored_and_what_may_be(
        self, server: ChromaServer
    ) -> None:
        class Stopping(SmallEmbedding):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                if any(text.startswith("word500 ") for text in texts):
                    server.stop()
                return super().embed_documents(texts)

        with RecallStore(server.client(), embedding=Stopping()) as store:
            with pytest.raises(
                StoreUnavailableError, match="600 memories 500 are stored"
            ) as raised:
                store.add({"id": f"m{n}", "content": f"word{n} "} for n in range(600))
            assert raised.value.stored == tuple(f"m{n}" for n in range(500))
            assert raised.value.unsure == tuple(f"m{n}" for n in range(500, 600))


class TestPartlyStored:
    """An add of several batches that fails in the middle."""

    class Fails(SmallEmbedding):
        working = False

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            if not self.working and "word700" in texts:
                raise ConnectionError("the provider has gone")
            return super().embed_documents(texts)

    @pytest.mark.parametrize("how", ["add", "aadd", "conversation"])
    def test_the_error_says_which_are_stored(self, how: str) -> None:
        texts = [f"word{number}" for number in range(1_000)]
        turns = [{"role": "user", "content": text} for text in texts]
        embedding = self.Fails()
        with RecallStore(embedding=embedding) as store:
            calls: dict[str, Callable[[], Any]] = {
                "add": lambda: store.add(texts),
                "aadd": lambda: asyncio.run(store.aadd(texts)),
                "conversation": lambda: store.add_conversation(turns, created_at=0),
            }
            with pytest.raises(StoreError, match="Of 1,000 memories 500 are stored") as raised:
                calls[how]()
            error = raised.value
            assert [each.content for each in store.get(error.stored)] == texts[:500]
            assert store.count() == 500
            assert error.unsure == ()
            embedding.working = True
            store.delete(error.stored)
            calls[how]()
            assert store.count() == 1_000

    def test_rows_that_chroma_stored_though_it_raised_are_counted(
        self, in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What was there before and is not replaced does not count."""
        in_memory.add([{"id": "old", "content": "tea", "created_at": 0}])
        upsert = chromadb.Collection.upsert

        def half(self: chromadb.Collection, **rows: Any) -> None:
            upsert(self, **{name: values[:2] for name, values in rows.items()})
            raise chromadb.errors.InternalError("something broke")

        monkeypatch.setattr(chromadb.Collection, "upsert", half)
        rows = [{"id": x, "content": f"new {x}", "created_at": 0} for x in ("a", "b", "old", "c")]
        with pytest.raises(StoreError, match="Of 4 memories 2 are stored") as raised:
            in_memory.add(rows)
        assert raised.value.stored == ("a", "b")
        assert in_memory.get(["old"])[0].content == "tea"


class TestWrongInput:
    @pytest.mark.parametrize("ids", [[1], [None], ["a", b"b"], 1, "abc"], ids=repr)
    def test_ids_are_a_list_of_texts(self, in_memory: RecallStore, ids: Any) -> None:
        says = "put it in a list" if ids == "abc" else r"ids must be a list of texts; got .*\("
        for use in (in_memory.get, in_memory.vectors, in_memory.delete):
            with pytest.raises(TypeError, match=says):
                use(ids)

    def test_a_filter_may_be_as_deep_as_a_server_reads_and_no_deeper(
        self, store: RecallStore
    ) -> None:
        nested: dict[str, Any] = {"x": 1}
        for number in range(29):
            nested = {"$or" if number % 2 else "$and": [nested, {"y": {"$ne": number}}]}
        store.add([{"content": "tea", "metadata": {"x": 1}}])
        assert len(best(store, "tea", filter=nested)) == 1
        for _ in range(20_000):
            nested = {"$and": [nested, {"y": 2}]}
        with pytest.raises(FilterError, match="nested"):
            best(store, "tea", filter=nested)

    def test_a_filter_has_a_size(self, in_memory: RecallStore) -> None:
        in_memory.add([{"content": "tea", "metadata": {"x": 7}}, "coffee"])
        one, many = {"x": {"$lt": 8}}, {"x": {"$in": [*range(5_000)]}}
        half = {"$or": [{"x": 7}] * 100}
        for most in ({"$or": [one] * 200}, {"$and": [many, many]}, {"$and": [half, half]}):
            assert contents(best(in_memory, "tea", limit=5, filter=most)) == ["tea"]
            for more in ({"$and": [most, one]}, {**most, "x": 7}, {"$and": [most, *[{}] * 200]}):
                for use in (
                    lambda more: best(in_memory, "tea", filter=more),
                    lambda more: in_memory.count(filter=more),
                    lambda more: in_memory.delete(filter=more),
                    lambda more: in_memory.get(["a"], filter=more),
                    lambda more: [*in_memory.memories(filter=more)],
                ):
                    with pytest.raises(FilterError, match="200 conditions and 10,000 values"):
                        use(more)

    def test_a_collection_that_somebody_deletes_is_an_error_of_ours(
        self, chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
    ) -> None:
        with RecallStore(chroma, collection_name, embedding=small) as store:
            store.add(["tea"])
            chroma.delete_collection(collection_name)
            for use in (store.count, lambda: store.add(["train"]), lambda: store.delete(["a"])):
                with pytest.raises(StoreError, match="open the store again"):
                    use()


class TestEmbedding:
    """What a user's model raises is the cause of an error that names it."""

    class Raises(SmallEmbedding):
        error: BaseException = IndexError("list index out of range")

        def embed_query(self, text: str) -> list[float]:
            raise self.error

    @pytest.mark.parametrize(
        ("raised", "kind"),
        [(IndexError("out of range"), StoreError), (TimeoutError("10 s"), StoreUnavailableError)],
        ids=str,
    )
    def test_an_error_of_the_model_is_the_cause(
        self, raised: Exception, kind: type[StoreError]
    ) -> None:
        embedding = self.Raises()
        embedding.error = raised
        with RecallStore(embedding=embedding) as store:
            calls: list[Callable[[], object]] = [
                lambda: store.add(["tea"]),
                lambda: best(store, "tea"),
                lambda: asyncio.run(store.afind([Search("tea", 1)])),
            ]
            for call in calls:
                with pytest.raises(StoreError, match=f"model 'small' failed: .*{raised}") as found:
                    call()
                assert type(found.value) is kind
                assert found.value.__cause__ is raised
            assert store.count() == 0


def test_a_disk_that_fails_never_hangs_the_program(tmp_path: Path) -> None:
    """Chroma hangs for ever at the second or third call after a write that the system refused."""
    script = """
        import resource, signal, sys
        from pathlib import Path
        from recall_retrievers.core.errors import StoreError
        from recall_retrievers.core.stage import Search
        from recall_retrievers.store import RecallStore
        from store.kit import SmallEmbedding

        store = RecallStore(sys.argv[1], embedding=SmallEmbedding())
        beside = RecallStore(sys.argv[1], "beside", embedding=SmallEmbedding())
        store.add([{"id": f"m{n}", "content": f"word{n}"} for n in range(200)])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        largest = Path(sys.argv[1], "chroma.sqlite3").stat().st_size
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 20_000, hard))
        for turn in range(6):
            for call in (
                lambda: store.add([f"more{turn} {n} " + "x" * 300 for n in range(200)]),
                lambda: store.get(["m1"]),
                lambda: beside.get(["m1"]),
            ):
                try:
                    call()
                except StoreError as error:
                    assert "this store calls it no more. Close it" in str(error), error
                else:
                    assert turn == 0
            assert store.find([Search("word1", 1)])[0][0].id == "m1"  # the row index is there
        store.close()
        beside.close()
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        with RecallStore(sys.argv[1], embedding=SmallEmbedding()) as store:
            store.add(["tea"])
            print(store.count(), store.find([Search("word7", 1)])[0][0].id)
    """
    process = python_process(script, str(tmp_path))
    try:
        out, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert out.strip() == "201 m7", errors
