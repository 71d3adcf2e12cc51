"""Opening: whose collection it is, who else has it open, and with which embedding."""

import re
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb.config import Settings
from store.elsewhere import opens_elsewhere
from store.kit import NOON, SmallEmbedding, best, contents

from recall_retrievers.core.errors import (
    EmbeddingMismatchError,
    ForeignCollectionError,
    MemoryFormatError,
    StoreError,
)
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
