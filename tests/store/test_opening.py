"""Opening: what is there or not there yet, whose it is, with which embedding; and closing."""

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb.config import Settings
from store.elsewhere import held_elsewhere, opens_elsewhere
from store.kit import NOON, SmallEmbedding, best, contents
from store.places import client_in

from recall_retrievers.core.errors import (
    EmbeddingMismatchError,
    FilterError,
    ForeignCollectionError,
    MemoryFormatError,
    StoreClosedError,
    StoreError,
    StoreLockedError,
)
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange


class TestOpening:
    def test_stores_in_memory_are_private_to_each_other(self, small: SmallEmbedding) -> None:
        with RecallStore(embedding=small) as mine, RecallStore(embedding=small) as yours:
            mine.add(["tea"])
            assert (mine.count(), yours.count()) == (1, 0)
            yours.close()
            assert contents(best(mine, "tea")) == ["tea"]

    def test_a_path_opened_twice_under_two_spellings_is_one(
        self, tmp_path: Path, small: SmallEmbedding, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Chroma keeps an index for each spelling, and loses the vectors of one of them."""
        path = tmp_path / "store"
        (tmp_path / "link").symlink_to(path, target_is_directory=True)
        monkeypatch.chdir(tmp_path)
        spellings = [str(path), f"{path}/", "store", tmp_path / "link", f"{path}/../store"]
        stores = [RecallStore(each, embedding=small) for each in spellings]
        for number, store in enumerate(stores):
            store.add(f"word{number} turn{turn}" for turn in range(230))
        for store in stores:
            assert store.count() == 230 * len(stores)
            for number in range(len(stores)):
                found = best(store, f"word{number} turn7", filter={"none": {"$ne": 1}})
                assert found[0].score == pytest.approx(1, abs=1e-5)
        for store in stores[:-1]:
            store.close()
        assert best(stores[-1], "word0 turn7")[0].memory.content == "word0 turn7"
        stores[-1].close()
        with RecallStore(path, embedding=small) as store:
            assert len(best(store, "word3", limit=9_999, filter={"none": {"$ne": 1}})) == 1150

    @pytest.mark.parametrize(
        "source", [42, object(), ["path"], {"path": "x"}], ids=["int", "object", "list", "dict"]
    )
    def test_anything_else_is_no_source(self, source: Any, small: SmallEmbedding) -> None:
        with pytest.raises(TypeError, match="a path, a chromadb client or a chromadb collection"):
            RecallStore(source, embedding=small)

    async def test_an_async_client_is_refused_and_the_right_one_named(
        self, server_port: int, small: SmallEmbedding
    ) -> None:
        client = await chromadb.AsyncHttpClient(host="127.0.0.1", port=server_port)
        with pytest.raises(TypeError, match="HttpClient, not AsyncHttpClient"):
            RecallStore(client, embedding=small)  # type: ignore[arg-type]

    def test_an_empty_collection_handed_in_becomes_ours_with_its_first_memory(
        self, chroma: chromadb.ClientAPI, collection: Any, small: SmallEmbedding
    ) -> None:
        with RecallStore(collection, embedding=small) as store:
            with pytest.raises(ForeignCollectionError):
                store.delete(["a"])
            with pytest.raises(MemoryFormatError):
                store.add(["tea", " "])
            assert chroma.get_collection(collection.name).metadata is None
            store.add(["tea"])
            assert best(store, "tea")[0].memory.content == "tea"
            march = TimeRange(NOON.replace(day=1), NOON.replace(month=4, day=1), "month")
            store.add([{"content": "a trip", "created_at": "2024-05-01", "events": [march]}])
            assert [each.memory.content for each in best(store, "tea", within=(march,))] == [
                "a trip"
            ]
            since = {"created_at": {"$lt": "2024-06-01"}}  # its times are compared as our own
            assert [each.memory.content for each in best(store, "tea", filter=since)] == ["a trip"]
        with RecallStore(chroma, collection.name, embedding=small) as again:
            again.add(["coffee"])
            assert again.count() == 3

    def test_a_client_with_other_settings_is_asked_for(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        settings = Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(str(tmp_path), settings)
        try:
            with pytest.raises(StoreError, match=r"hand that client in: RecallStore\(client\)"):
                RecallStore(tmp_path, embedding=small)
            with RecallStore(client, "handed-in", embedding=small) as store:
                assert store.count() == 0
        finally:
            client.close()


class TestAnotherModel:
    @pytest.fixture
    def filled(self, tmp_path: Path, small: SmallEmbedding) -> Path:
        with RecallStore(tmp_path, embedding=small) as store:
            store.add(["tea"])
        return tmp_path

    def test_a_collection_of_another_model_is_refused_by_name(self, filled: Path) -> None:
        with pytest.raises(EmbeddingMismatchError, match=re.escape("vectors of 'small'")):
            RecallStore(filled, embedding=SmallEmbedding(model_name="large"))
        assert opens_elsewhere(filled) == "1"  # it holds no lock

    def test_other_dimensions_are_refused_for_reading_and_writing(self, filled: Path) -> None:
        with RecallStore(filled, embedding=SmallEmbedding(32)) as store:
            for use in (lambda: best(store, "tea"), lambda: store.add(["train"])):
                with pytest.raises(EmbeddingMismatchError, match=r"of 64 numbers.*makes 32"):
                    use()
            assert store.count() == 1


class TestEverywhere:
    """In memory, on a path and on a server alike."""

    def test_a_closed_store_says_so(self, store: RecallStore) -> None:
        store.add(["tea"])
        store.close()
        store.close()
        uses: list[Callable[[], object]] = [
            lambda: store.add(["tea"]),
            lambda: store.add([]),
            lambda: store.delete(["x"]),
            lambda: store.get(["x"]),
            lambda: store.get([]),
            lambda: best(store, "tea"),
            lambda: store.find([]),
            store.count,
        ]
        for use in uses:
            with pytest.raises(StoreClosedError, match="is closed; open it again"):
                use()
        with pytest.raises(StoreClosedError, match="closed"):
            asyncio.run(store.afind([Search("tea", 1)]))


def test_a_collection_of_ours_takes_no_fields(
    chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
) -> None:
    with RecallStore(chroma, collection_name, embedding=small) as store:
        store.add(["tea"])
    with pytest.raises(ForeignCollectionError, match="leave `fields` out"):
        RecallStore(chroma, collection_name, embedding=small, fields={"content": "body"})
    chroma.delete_collection(collection_name)


@pytest.fixture(params=["memory", "path", "server"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with client_in(request.param, request, tmp_path) as opened:
        yield opened


@pytest.fixture
def others(client: Any, collection_name: str) -> Iterator[str]:
    """A collection of somebody else's, on the same client."""
    name = f"{collection_name}-notes"
    vectors = SmallEmbedding().embed_documents(["tea"])
    client.create_collection(name, embedding_function=None).add(
        ids=["a"], documents=["tea"], embeddings=vectors, metadatas=[{"date": "2024-03-05"}]
    )
    yield name
    client.delete_collection(name)


def names_in(client: Any) -> set[str]:
    return {each.name for each in client.list_collections()}


class TestPath:
    @pytest.mark.parametrize("there", [True, False], ids=["empty folder", "no folder"])
    def test_until_the_first_memory_nothing_is_made_and_nothing_is_found(
        self, tmp_path: Path, small: SmallEmbedding, there: bool
    ) -> None:
        path = tmp_path / "deep" / "er"
        if there:
            path.mkdir(parents=True)
        before = sorted(tmp_path.rglob("*"))
        with RecallStore(path, embedding=small) as store:
            assert (store.count(), store.get(["a"]), list(store.memories())) == (0, [], [])
            assert store.find([Search("tea", 3), Search("tea", 3, method="keyword")]) == [[], []]
            assert asyncio.run(store.afind([Search("tea", 3)])) == [[]]
            store.delete(["a"])
            assert store.add([]) == []
            with pytest.raises(MemoryFormatError):
                store.add(["tea", " "])
            with pytest.raises(FilterError):
                best(store, "tea", filter={"a": {"$near": 1}})
            assert sorted(tmp_path.rglob("*")) == before
            store.add(["tea"])
            assert contents(best(store, "tea")) == ["tea"]
            if not there:
                assert opens_elsewhere(path) == "StoreLockedError"
        with RecallStore(path, embedding=small, create=False) as store:
            assert store.count() == 1

    def test_two_stores_and_many_threads_make_it_once(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        path = tmp_path / "memories"
        stores = [RecallStore(path, embedding=small) for _ in range(4)]

        def add(number: int) -> None:
            if number % 4:
                stores[number % 4].add([f"word{number}"])
            else:
                asyncio.run(stores[0].aadd([f"word{number}"]))

        with ThreadPoolExecutor(16) as threads:
            list(threads.map(add, range(16)))
        for store in stores:
            assert store.count() == 16
            assert contents(best(store, "word3", method="keyword")) == ["word3"]
            store.close()
        with RecallStore(path, embedding=small, create=False) as store:
            assert store.count() == 16

    def test_a_path_that_another_process_has_made_meanwhile_is_refused(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        path = tmp_path / "memories"
        with RecallStore(path, embedding=small) as store:
            with held_elsewhere(path):
                for use in (lambda: best(store, "tea"), lambda: store.add(["tea"]), store.count):
                    with pytest.raises(StoreLockedError):
                        use()
            assert contents(best(store, "theirs")) == ["theirs"]
            store.add(["ours"])
            assert store.count() == 2

    def test_a_path_that_must_be_there_is_not_made_and_a_file_is_none(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        for how in ({"create": False}, {"fields": {"created_at": "date"}}):
            with pytest.raises(StoreError, match="there is no Chroma path"):
                RecallStore(tmp_path / "memories", embedding=small, **how)  # type: ignore[arg-type]
        assert not (tmp_path / "memories").exists()
        (tmp_path / "notes.jsonl").write_text("{}", encoding="utf-8")
        with pytest.raises(StoreError, match="is a file"):
            RecallStore(tmp_path / "notes.jsonl", embedding=small)

    def test_a_name_that_chroma_refuses_is_refused_at_once(
        self, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        for name in ("no", "two words", "-dash", ""):
            with pytest.raises(StoreError, match="3 to 512 letters"):
                RecallStore(tmp_path / "memories", name, embedding=small)


class TestClient:
    def test_a_mistyped_name_makes_no_collection_and_a_question_says_so(
        self, client: Any, others: str, small: SmallEmbedding
    ) -> None:
        before = names_in(client)
        with RecallStore(client, others[:-1], embedding=small) as store:
            for use in (
                lambda: best(store, "tea"),
                lambda: asyncio.run(store.afind([Search("tea", 1)])),
            ):
                with pytest.raises(StoreError, match=f"Did you mean '{others}'"):
                    use()
            assert store.count() == 0
            assert names_in(client) == before

    @pytest.mark.parametrize(
        "how", [{"create": False}, {"fields": {"created_at": "date"}}], ids=str
    )
    def test_a_collection_that_must_be_there_is_an_error_at_once(
        self, client: Any, others: str, small: SmallEmbedding, how: dict[str, Any]
    ) -> None:
        before = names_in(client)
        with pytest.raises(StoreError, match=rf"no collection '{others}s'; .*'{others}'"):
            RecallStore(client, f"{others}s", embedding=small, **how)
        with RecallStore(client, others, embedding=small, **how) as store:
            assert contents(best(store, "tea")) == ["tea"]
        assert names_in(client) == before


def test_the_default_model_is_refused_at_once_where_it_cannot_have_made_the_vectors(
    client: Any, others: str
) -> None:
    with pytest.raises(EmbeddingMismatchError, match=r"vectors of 64 numbers.*makes 384"):
        RecallStore(client, others)


def test_a_client_that_is_handed_in_stays_open(
    chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
) -> None:
    with RecallStore(chroma, collection_name, embedding=small) as store:
        store.add(["tea"])
    collection = chroma.get_collection(collection_name, embedding_function=None)
    assert collection.count() == 1
    with RecallStore(collection, embedding=small) as store:
        assert store.name == collection_name
        store.add(["train"])
    assert collection.count() == 2
    chroma.delete_collection(collection_name)


def test_a_path_means_the_same_folder_after_the_program_changes_its_own(
    tmp_path: Path, small: SmallEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with RecallStore("memories", embedding=small) as store:
        monkeypatch.chdir(tmp_path / "elsewhere")
        store.add(["tea"])
    assert (tmp_path / "memories" / "chroma.sqlite3").exists()
