"""Collections that somebody else made."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb import EmbeddingFunction
from chromadb.utils.embedding_functions import register_embedding_function
from store.foreign import (
    FIELDS,
    FILLERS,
    FIRST,
    MOMENTS,
    TEXTS,
    TIMES,
    day,
    everything_in,
    metadata_of,
)
from store.kit import SmallEmbedding, contents, ids, similarities

from recall_retrievers.core.errors import (
    FilterError,
    ForeignCollectionError,
)
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange


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
            for limit in (2, 9):
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


def test_no_stored_embedding_function_is_built(tmp_path: Path) -> None:
    """It may name a model whose code would run: CVE-2026-45829."""
    client = chromadb.PersistentClient(tmp_path)
    made = client.create_collection("theirs", embedding_function=Hostile())
    made.add(ids=["a", "b"], documents=["tea", "bread"])
    client.close()
    Hostile.built = 0

    assert [each.name for each in RecallStore.check(tmp_path)] == ["theirs"]
    assert [each.name for each in RecallStore.repair(tmp_path)] == ["theirs"]
    client = chromadb.PersistentClient(tmp_path)
    for place in (client, client.get_collection("theirs", embedding_function=None)):
        with RecallStore(place, "theirs", embedding=SmallEmbedding()) as store:
            [[first, _]] = store.find([Search("tea", 2)])
            assert first.memory.id == "a"

    assert Hostile.built == 0
    client.get_collection("theirs").query(query_texts=["tea"])
    assert Hostile.built > 0  # it is Chroma that would
    client.close()


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
