"""Collections of others: their own metadata stays, and what is no time is said."""

import logging
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from langchain_core.documents import Document
from store.kit import SmallEmbedding, best

from langchain_recall import RecallRetriever
from llamaindex_recall import RecallRetriever as LlamaIndexRetriever
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

FIELDS = {"created_at": "date", "user_id": "owner", "author": "by"}


def fill(collection: Any, *metadatas: dict[str, Any]) -> None:
    texts = [f"tea word{n}" for n in range(len(metadatas))]
    vectors = SmallEmbedding().embed_documents(texts)
    rows = [f"row{n}" for n in range(len(metadatas))]
    collection.add(ids=rows, documents=texts, embeddings=vectors, metadatas=[*metadatas])


def opened(collection: Any, **fields: Any) -> RecallStore:
    return RecallStore(collection, embedding=SmallEmbedding(), fields=fields or FIELDS)


class TestMetadata:
    OWN: ClassVar[dict[str, Any]] = {
        "date": "2024-03-05", "owner": "ann", "by": "Ben", "document_id": "d1", "quality": "high",
        "written_at": "Rome", "created_day": "Tuesday", "event_start": 3, "text": "draft",
    }  # fmt: skip

    def test_a_prompt_that_names_their_keys_finds_them(self, collection: Any) -> None:
        fill(collection, self.OWN)
        with opened(collection) as store:
            [document] = RecallRetriever(store=store, scope={"user_id": "ann"}).invoke("tea")
            [node] = LlamaIndexRetriever(store=store, scope={"user_id": "ann"}).retrieve("tea")
        assert isinstance(document, Document)
        for metadata in (document.metadata, node.metadata):
            assert self.OWN.items() <= metadata.items()
            assert metadata["user_id"] == "ann"
            assert metadata["author"] == "Ben"
            assert metadata["created_at"].startswith("2024-03-05")

    def test_a_field_of_ours_is_shown_once_and_the_trace_of_others_never(
        self, collection: Any
    ) -> None:
        fill(
            collection,
            {"created_at": 1709640000, "user_id": "ann", "quality": 0.5, "relevance_score": 9.0}
            | {"recall_trace": "x", "stars": 3},
        )
        with RecallStore(collection, embedding=SmallEmbedding()) as store:
            [memory] = store.memories()
        assert memory.metadata == {"stars": 3}
        assert (memory.quality, memory.scope.user_id) == (0.5, "ann")


class TestTimes:
    def test_common_forms_and_numbers_of_several_units_are_read(self, collection: Any) -> None:
        written = [
            "March 5, 2024", "5 March 2024", "05.03.2024", "2024/03/05", "2024-03-05T08:00:00Z",
            1709640000, 1709640000000, "1709640000", 20240305,
        ]  # fmt: skip
        fill(collection, *({"date": each} for each in written))
        with opened(collection) as store:
            day = TimeRange(
                datetime(2024, 3, 4, 10, tzinfo=UTC), datetime(2024, 3, 6, 14, tzinfo=UTC), "day"
            )
            assert len(best(store, "tea", limit=20, within=(day,))) == len(written)
            [found] = best(store, "tea", filter={"date": "March 5, 2024"}, limit=9)
            assert found.id == "row0"

    @pytest.mark.parametrize("most", [1709640000, 1709640000000], ids=["seconds", "milliseconds"])
    def test_a_number_of_another_unit_is_read_by_itself(self, collection: Any, most: int) -> None:
        times = [most + n for n in range(500)]
        times[250] = 1709640000000 if most < 1e11 else 1709640000
        fill(collection, *({"date": each} for each in times))
        with opened(collection) as store:
            days = {x.created_at and x.created_at.date() for x in store.memories()}
        assert days == {datetime(2024, 3, 5, tzinfo=UTC).date()}

    def test_a_wrong_key_is_warned_of_once_with_the_keys_there(
        self, collection: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        fill(collection, *[{"date": "2024-03-05", "owner": "ann"}] * 7)
        with caplog.at_level(logging.WARNING), opened(collection, created_at="datum") as store:
            best(store, "tea", limit=5)
            store.find([Search("tea", 5, method="keyword")])
        [said] = [each.getMessage() for each in caplog.records]
        assert said == (
            f"collection {collection.name!r}: created_at is read from 'datum': 0 of 7 rows have "
            "it; keys there: date, owner"
        )

    def test_a_date_with_two_meanings_is_read_by_the_setting_alone(
        self, collection: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        fill(collection, {"date": "05/03/2024"}, {"date": "25/03/2024"}, {"date": "soon"})
        with caplog.at_level(logging.WARNING), opened(collection) as store:
            read = {each.id for each in store.memories() if each.created_at}
        assert read == {"row1"}
        [said] = [each.getMessage() for each in caplog.records]
        assert "1 of 3 rows have one that can be read; not '05/03/2024', 'soon'" in said
        assert "first in '05/03/2024'? Say day_first=True or False" in said
        for day_first, month in ((True, 3), (False, 5)):
            with opened(collection, created_at="date", day_first=day_first) as store:
                [memory] = store.get(["row0"])
            assert memory.created_at is not None
            assert memory.created_at.astimezone().month == month
