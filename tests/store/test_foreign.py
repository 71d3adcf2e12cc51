"""Collections that somebody else made: searched, never written; their times and metadata."""

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import chromadb
import pytest
from chromadb import EmbeddingFunction
from chromadb.utils.embedding_functions import register_embedding_function
from langchain_chroma import Chroma
from langchain_core.documents import Document
from llama_index.core.schema import TextNode
from llama_index.vector_stores.chroma import ChromaVectorStore
from store.kit import FIRST, MOMENTS, TEXTS, SmallEmbedding, best, contents, day, ids, similarities

from langchain_recall import RecallRetriever
from llamaindex_recall import RecallRetriever as LlamaIndexRetriever
from recall_retrievers.core.errors import FilterError, ForeignCollectionError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.fields import Fields
from recall_retrievers.timeline import TimeRange

FIELDS = {"created_at": "when", "memory_type": "kind", "author": "by", "user_id": "owner"}

TIMES: dict[str, Callable[[datetime], object]] = {
    "seconds": lambda moment: int(moment.timestamp()),
    "fractional seconds": lambda moment: moment.timestamp() + 0.25,
    "milliseconds": lambda moment: int(moment.timestamp() * 1000),
    "fractional milliseconds": lambda moment: moment.timestamp() * 1000 + 0.5,
    "iso": lambda moment: moment.isoformat(),
    "iso, another zone": lambda moment: moment.astimezone(
        datetime.fromisoformat("2024-01-01T00:00:00+05:30").tzinfo
    ).isoformat(),
}


def metadata_of(number: int, moment: object) -> dict[str, Any]:
    return {
        "when": moment,
        "kind": "insight" if number % 2 else "event",
        "by": f"Author {number}",
        "owner": "ann" if number < 4 else "bob",
        "stars": number,
    }


def _by_langchain(
    client: chromadb.ClientAPI,
    name: str,
    embedding: SmallEmbedding,
    write: Callable[[datetime], object],
    space: str,
) -> Any:
    theirs = Chroma(name, embedding, client=client, collection_metadata={"hnsw:space": space})
    metadatas = [metadata_of(n, write(each)) for n, each in enumerate(MOMENTS)]
    theirs.add_texts(TEXTS, metadatas, ids=[f"row{n}" for n in range(len(TEXTS))])
    return client.get_collection(name, embedding_function=None)


def _by_llamaindex(
    client: chromadb.ClientAPI,
    name: str,
    embedding: SmallEmbedding,
    write: Callable[[datetime], object],
) -> Any:
    collection = client.create_collection(name, embedding_function=None)
    nodes = [
        TextNode(
            id_=f"row{n}",
            text=text,
            metadata=metadata_of(n, write(MOMENTS[n])),
            embedding=embedding.embed_query(text),
        )
        for n, text in enumerate(TEXTS)
    ]
    ChromaVectorStore(chroma_collection=collection).add([*nodes])
    return collection


FILLERS: dict[str, Callable[..., Any]] = {
    "langchain, l2": partial(_by_langchain, space="l2"),
    "langchain, cosine": partial(_by_langchain, space="cosine"),
    "langchain, ip": partial(_by_langchain, space="ip"),
    "llamaindex": _by_llamaindex,
}


def everything_in(collection: Any) -> object:
    rows = collection.get(include=["documents", "metadatas", "embeddings"])
    rows["embeddings"] = rows["embeddings"].tolist()
    return rows, collection.metadata, collection.configuration_json, collection.name


@pytest.fixture(params=[True, False], ids=["unit vectors", "vectors of any length"])
def embedding(request: pytest.FixtureRequest) -> SmallEmbedding:
    return SmallEmbedding(unit=request.param)


@pytest.fixture(params=sorted(FILLERS))
def theirs(
    request: pytest.FixtureRequest,
    chroma: chromadb.ClientAPI,
    collection_name: str,
    embedding: SmallEmbedding,
) -> Iterator[Any]:
    collection = FILLERS[request.param](chroma, collection_name, embedding, TIMES["seconds"])
    yield collection
    chroma.delete_collection(collection_name)


def test_it_is_searched_by_content_time_type_author_and_scope(
    theirs: Any, embedding: SmallEmbedding
) -> None:
    with RecallStore(theirs, embedding=embedding, fields=FIELDS) as store:
        everything = store.find([Search("dentist", limit=9)])[0]
        assert sorted(ids(everything)) == [f"row{n}" for n in range(len(TEXTS))]
        for memory in (hit.memory for hit in everything):
            n = int(memory.id[3:])
            assert (memory.content, memory.created_at) == (TEXTS[n], MOMENTS[n])
            assert memory.memory_type == ("insight" if n % 2 else "event")
            assert memory.author == f"Author {n}"
            assert memory.scope == Scope(user_id="ann" if n < 4 else "bob")
            assert memory.metadata == metadata_of(n, TIMES["seconds"](MOMENTS[n]))
        searches = [
            Search("tea", 9, scope=Scope(user_id="bob")),
            Search("tea", 9, within=(day(2), day(4))),
            Search("tea", 9, filter={"kind": "insight", "stars": {"$gt": 1.5}}),
            Search("tea", 9, Scope(user_id="ann"), {"kind": "event"}, (day(2), day(4))),
        ]
        assert [sorted(ids(found)) for found in store.find(searches)] == [
            ["row4", "row5"],
            ["row2", "row4"],
            ["row3", "row5"],
            ["row2"],
        ]
        assert contents(store.get(["row3", "row0"])) == [TEXTS[3], TEXTS[0]]
        anns, since = store.for_scope(user_id="ann"), (MOMENTS[2], None)
        assert ids([*anns.memories(time_range=since)]) == ["row3", "row2"]
        assert (store.count(), anns.count(), store.count(time_range=since)) == (6, 4, 4)
        assert [each.memories for each in store.scopes()] == [4, 2]


def test_the_best_come_first_with_their_cosine(theirs: Any, embedding: SmallEmbedding) -> None:
    """The nearest by distance are not the most similar where vectors differ in length."""
    with RecallStore(theirs, embedding=embedding) as store:
        for question in ("tea", "dentist in winter", "a train to the river", "green"):
            expected = sorted(similarities(question, TEXTS, embedding), reverse=True)
            for limit in (3, 9):
                found = store.find([Search(question, limit)])[0]
                assert [x.score for x in found] == pytest.approx(expected[:limit], abs=1e-4)


def test_it_is_never_written(
    theirs: Any, chroma: chromadb.ClientAPI, embedding: SmallEmbedding
) -> None:
    before = everything_in(theirs)
    with RecallStore(chroma, theirs.name, embedding=embedding, fields=FIELDS) as store:
        store.find([Search("tea", 3, Scope(user_id="ann"), None, (day(1),))])
        for write in (
            lambda: store.add(["tea"]),
            lambda: store.update("row1", text="tea"),
            lambda: store.delete(["row1"]),
            lambda: store.delete(everything=True),
            store.purge,
        ):
            with pytest.raises(ForeignCollectionError, match="searched, never written"):
                write()
    after = chroma.get_collection(theirs.name, embedding_function=None)
    assert everything_in(after) == before


@register_embedding_function  # so Chroma builds it where it is stored with a collection
class Hostile(EmbeddingFunction[list[str]]):
    built = 0

    def __init__(self) -> None:
        Hostile.built += 1

    def __call__(self, input: list[str]) -> Any:
        return SmallEmbedding().embed_documents(input)

    @staticmethod
    def name() -> str:
        return "hostile"

    @staticmethod
    def build_from_config(config: Any) -> "Hostile":
        return Hostile()

    def get_config(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("form", TIMES)
def test_whatever_the_form_of_their_times_they_are_read_and_searched(
    chroma: chromadb.ClientAPI, collection_name: str, form: str
) -> None:
    small, write = SmallEmbedding(), TIMES[form]
    collection = FILLERS["langchain, cosine"](chroma, collection_name, small, write)
    with RecallStore(collection, embedding=small, fields=FIELDS) as store:
        for memory in (hit.memory for hit in store.find([Search("tea", limit=9)])[0]):
            assert memory.created_at is not None
            late = memory.created_at - MOMENTS[int(memory.id[3:])]
            assert timedelta(0) <= late < timedelta(seconds=1)

        def found(*within: TimeRange) -> list[str]:
            return sorted(ids(store.find([Search("tea", limit=9, within=within)])[0]))

        assert found(day(0), day(5)) == ["row0", "row5"]
        assert found(TimeRange(None, MOMENTS[2], "day")) == ["row0", "row1"]
        assert found(TimeRange(MOMENTS[4], None, "day")) == ["row4", "row5"]
        minute = timedelta(minutes=1)
        assert found(TimeRange(MOMENTS[1] - minute, MOMENTS[1] + minute, "minute")) == ["row1"]

        search = Search("tea", 9, filter={"when": {"$gte": MOMENTS[2], "$lt": "2024-03-05T00:00Z"}})
        if isinstance(write(FIRST), str):
            with pytest.raises(FilterError, match="compares numbers"):  # Chroma orders no text
                store.find([search])
        else:
            assert sorted(ids(store.find([search])[0])) == ["row2", "row3"]
    chroma.delete_collection(collection_name)


def test_rows_without_text_are_passed_over_and_the_limit_is_still_met(collection: Any) -> None:
    small = SmallEmbedding()
    vectors = small.embed_documents([f"tea word{n}" for n in range(60)])
    collection.add(ids=[f"bare{n}" for n in range(60)], embeddings=vectors)
    texts = [f"bread word{n}" for n in range(6)]
    collection.add(ids=texts, documents=texts, embeddings=small.embed_documents(texts))
    with RecallStore(collection, embedding=small) as store:
        found = store.find([Search("tea", limit=5)])[0]
        assert len(found) == 5
        assert set(contents(found)) <= set(texts)
        assert store.get(["bare1", texts[0]])[0].id == texts[0]
    with pytest.raises(ValueError, match="did you mean 'content'"):
        RecallStore(collection, embedding=small, fields={"contents": "body"})


def test_no_stored_embedding_function_is_built(tmp_path: Path) -> None:
    """It may name a model whose code would run: CVE-2026-45829."""
    with chromadb.PersistentClient(tmp_path) as client:
        made = client.create_collection("theirs", embedding_function=Hostile())
        made.add(ids=["a", "b"], documents=["tea", "bread"])
    Hostile.built = 0
    for look in (RecallStore.check, RecallStore.repair):
        assert [each.name for each in look(tmp_path)] == ["theirs"]
    with chromadb.PersistentClient(tmp_path) as client:
        for place in (client, client.get_collection("theirs", embedding_function=None)):
            with RecallStore(place, "theirs", embedding=SmallEmbedding()) as store:
                assert ids(store.find([Search("tea", 1)])[0]) == ["a"]
        assert Hostile.built == 0
        client.get_collection("theirs").query(query_texts=["tea"])
    assert Hostile.built > 0  # it is Chroma that would


OWN_FIELDS = {"created_at": "date", "user_id": "owner", "author": "by"}


def fill(collection: Any, *metadatas: dict[str, Any]) -> None:
    texts = [f"tea word{n}" for n in range(len(metadatas))]
    vectors = SmallEmbedding().embed_documents(texts)
    rows = [f"row{n}" for n in range(len(metadatas))]
    collection.add(ids=rows, documents=texts, embeddings=vectors, metadatas=[*metadatas])


def opened(collection: Any, **fields: Any) -> RecallStore:
    return RecallStore(collection, embedding=SmallEmbedding(), fields=fields or OWN_FIELDS)


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
            | {"recall_trace": "x", "stars": 3, "superseded_by": "x", "superseded_at": 0},
        )
        with RecallStore(collection, embedding=SmallEmbedding()) as store:
            [memory] = store.memories()  # and it is superseded by nobody
            assert [*store.memories(as_of=1709630000)] == []
        assert memory.metadata == {"stars": 3, "superseded_by": "x", "superseded_at": 0}
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


def test_the_text_may_stand_in_the_metadata(collection: Any) -> None:
    collection.add(
        ids=["a"],
        documents=["a heading"],
        metadatas=[{"body": "green tea"}],
        embeddings=SmallEmbedding().embed_documents(["green tea"]),
    )
    fields = Fields(content="body")
    with RecallStore(collection, embedding=SmallEmbedding(), fields=fields) as store:
        memory = store.find([Search("green tea", limit=1)])[0][0].memory
    assert memory.content == "green tea"
    assert "body" not in memory.metadata
