"""A collection that does not exist yet: opening makes nothing, the first memory makes it."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from store.elsewhere import held_elsewhere, opens_elsewhere
from store.kit import SmallEmbedding, best, contents
from store.places import client_in

from recall_retrievers.core.errors import (
    EmbeddingMismatchError,
    FilterError,
    MemoryFormatError,
    StoreError,
    StoreLockedError,
)
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore


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
        failed: list[Exception] = []

        def add(number: int) -> None:
            try:
                if number % 4:
                    stores[number % 4].add([f"word{number}"])
                else:
                    asyncio.run(stores[0].aadd([f"word{number}"]))
            except Exception as error:  # noqa: BLE001 - none is expected
                failed.append(error)

        threads = [threading.Thread(target=add, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, [str(each) for each in failed]
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
