"""What goes between a store, the frameworks and another store: objects, collections, copies."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chroma_server import ChromaServer
from langchain_chroma import Chroma
from langchain_core.documents import Document
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters, VectorStoreQuery
from llama_index.vector_stores.chroma import ChromaVectorStore
from store.kit import (
    MOMENTS,
    TEXTS,
    Counting,
    SmallEmbedding,
    best,
    day,
    ids,
    python_process,
    similarities,
)

from recall_retrievers import Memory, read_memories
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

FIELDS_OF_ONE = {
    "created_at": "2024-03-05T10:00:00+00:00",
    "memory_type": "insight",
    "author": "Ann",
    "quality": 0.5,
    "expires_at": "2524-03-05T10:00:00+00:00",
    "user_id": "ann",
    "event_ranges": "2024-03-01T00:00:00+00:00/2024-03-02T00:00:00+00:00",
}
OTHERS = {
    "document_id": "letters",  # what rows and LlamaIndex keep for themselves
    "event_start": "noon",
    "written_at": 7,
    "text": ["a", "b"],
    "metadata.text": True,
    "topic": "tea",
}
SOURCE = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="letters")}


@pytest.mark.parametrize(
    "source",
    [
        Document("Tea.", id="m1", metadata={**FIELDS_OF_ONE, **OTHERS, "page": None}),
        TextNode(text="Tea.", id_="m1", metadata={**FIELDS_OF_ONE, **OTHERS}),
        NodeWithScore(
            node=TextNode(text="Tea.", id_="m1", metadata={**FIELDS_OF_ONE, **OTHERS}), score=0.5
        ),
    ],
    ids=lambda source: type(source).__name__,
)
def test_metadata_becomes_fields_and_the_rest_stays_as_it_is(
    in_memory: RecallStore, source: Any
) -> None:
    assert in_memory.add([source]) == ["m1"]

    [memory] = in_memory.get(["m1"])
    assert memory.content == "Tea."
    for name in ("created_at", "expires_at"):
        assert getattr(memory, name).isoformat() == FIELDS_OF_ONE[name]
    assert (memory.memory_type, memory.author, memory.quality) == ("insight", "Ann", 0.5)
    assert memory.scope.fields() == {"user_id": "ann"}
    assert [each.describe() for each in memory.events] == ["2024-03-01 (Friday)"]
    assert memory.metadata == OTHERS
    assert best(in_memory, "tea", filter={"document_id": "letters"})
    assert not best(in_memory, "tea", filter={"document_id": "bills"})
    assert in_memory.add(in_memory.memories()) == ["m1"]  # and once more
    assert in_memory.get(["m1"]) == [memory]


@pytest.mark.parametrize("whole", [True, False], ids=["as written", "copied by a script"])
def test_a_collection_of_llamaindex_is_copied_with_all_it_has(
    in_memory: RecallStore,
    chroma: chromadb.ClientAPI,
    small: SmallEmbedding,
    collection_name: str,
    whole: bool,
) -> None:
    rows = chroma.create_collection(collection_name, embedding_function=None)
    metadata = {"quality": "high", "created_day": 3, "when": "2024-03-05"}
    node = TextNode(text="tea", id_="n1", metadata=metadata, relationships=SOURCE)
    node.embedding = small.embed_query("tea")
    ChromaVectorStore(chroma_collection=rows).add([node])
    if not whole:
        rows.update(ids=["n1"], metadatas=[{"_node_content": None}])
    theirs = RecallStore(rows, embedding=small, fields={"created_at": "when"})
    [expected] = theirs.memories()
    assert expected.metadata.items() >= {**metadata, "ref_doc_id": "letters"}.items()

    in_memory.add(theirs.memories())
    assert list(in_memory.memories()) == [expected]
    theirs.copy_to(in_memory)
    assert list(in_memory.memories()) == [expected]


def test_a_line_whose_time_cannot_be_read_is_named_and_left_out(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    rows = [{"content": "Tea."}, {"content": "Milk.", "created_at": "last spring"}]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.warns(UserWarning, match="notes.jsonl: without 1 line.*\nline 2: .*last spring"):
        assert [each.content for each in read_memories(file)] == ["Tea."]


MEMORIES = [
    Memory(
        id=f"m{n:03}",
        content=f"tea word{n}, two weeks ago",
        created_at="2024-03-05T10:00:00Z",
        author="Ann",
        **({"events": []} if n % 3 else {}),
        said_before="Which tea?",
        metadata={"stars": n, "tags": ["a", "b"]},
    )
    for n in range(300)
]


KILLED = """
import os, sys
from store.kit import SmallEmbedding
from recall_retrievers.store import RecallStore

class Dies(SmallEmbedding):
    left = 1

    def embed_documents(self, texts):
        if not self.left:
            os.kill(os.getpid(), 9)
        self.left -= 1
        return super().embed_documents(texts)

here = RecallStore(sys.argv[1], embedding=SmallEmbedding())
here.copy_to(RecallStore(sys.argv[1], "second", embedding=Dies(32, "other")), progress=True)
"""


class Once(SmallEmbedding):
    """Embeds questions alone."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError(f"{len(texts)} texts are embedded again")


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with RecallStore(tmp_path / "here", embedding=SmallEmbedding()) as store:
        store.add(MEMORIES)
    return tmp_path / "here"


def test_a_folder_moves_to_a_server_and_back(
    filled: Path, tmp_path: Path, chroma_server: ChromaServer, collection_name: str
) -> None:
    with (
        RecallStore(filled, embedding=Once()) as here,
        RecallStore(
            chroma_server.client(), collection_name, embedding=Once(), create=True
        ) as there,
        RecallStore(tmp_path / "back", embedding=Once()) as back,
    ):
        assert here.copy_to(there) == there.copy_to(back) == 300
        expected = {each.id: each for each in here.memories()}
        for copy in (there, back):
            assert {each.id: each for each in copy.memories()} == expected
            for method in ("semantic", "keyword"):
                assert ids(best(copy, "word123, ago", method=method)) == ["m123"]
            two_weeks_before = best(copy, "tea", 300, filter={"event_start": {"$gt": 0}})
            assert len(two_weeks_before) == 100  # an empty list of events stays empty


def test_another_model_embeds_and_goes_on_after_a_kill(filled: Path) -> None:
    whole = {"include_superseded": True}
    with RecallStore(filled, embedding=SmallEmbedding()) as here:
        here.supersede("m007", {"id": "newer", "content": "tea at last"})
        expected = list(here.memories(**whole))
    assert python_process(KILLED, str(filled)).wait(120) == -9

    other = Counting(32, "other")
    with (
        RecallStore(filled, embedding=SmallEmbedding()) as here,
        RecallStore(filled, "second", embedding=other) as there,
    ):
        assert 0 < there.count() < here.count()
        assert here.copy_to(there) == 301
        assert 0 < other.embedded < 301
        assert list(there.memories(**whole)) == list(here.memories(**whole)) == expected
        assert there.get(["m007"])[0].superseded_by == "newer"
        for method in ("semantic", "keyword"):
            assert ids(best(there, "word123, ago", method=method)) == ["m123"]
        assert len(best(there, "tea", 300, filter={"event_start": {"$gt": 0}})) == 100


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[chromadb.ClientAPI]:
    """In a folder: in memory Chroma gives the lists of deleted collections to the next rows."""
    with chromadb.PersistentClient(str(tmp_path)) as client:
        yield client


@pytest.fixture
def ours(
    chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
) -> Iterator[RecallStore]:
    with RecallStore(chroma, collection_name, embedding=small) as store:
        store.add(
            Memory(
                id=f"row{n}",
                content=text,
                created_at=MOMENTS[n],
                events=[day(n)],
                scope=Scope(user_id="ann"),
                metadata={"stars": n},
            )
            for n, text in enumerate(TEXTS)
        )
        yield store
    chroma.delete_collection(collection_name)


def test_langchain_finds_them(
    ours: RecallStore, chroma: chromadb.ClientAPI, small: SmallEmbedding
) -> None:
    stock = Chroma(ours.name, small, client=chroma)  # type: ignore[arg-type]
    found, distance = stock.similarity_search_with_score("winter", k=1)[0]
    assert (found.id, found.page_content) == ("row4", "winter bread")
    assert distance == pytest.approx(1 - similarities("winter", ["winter bread"], small)[0])
    assert (found.metadata["stars"], found.metadata["user_id"]) == (4, "ann")
    assert found.metadata["created_at"] == int(MOMENTS[4].timestamp() * 1000)
    assert all(isinstance(value, str | int | float) for value in found.metadata.values())
    filtered = stock.similarity_search("tea", k=9, filter={"stars": {"$lt": 2}})
    assert sorted(each.id for each in filtered) == ["row0", "row1"]


def test_llamaindex_finds_them(
    ours: RecallStore, chroma: chromadb.ClientAPI, small: SmallEmbedding
) -> None:
    rows = chroma.get_collection(ours.name, embedding_function=None)
    anns = MetadataFilters(filters=[MetadataFilter(key="user_id", value="ann")])
    vector = small.embed_query("winter bread")
    query = VectorStoreQuery(query_embedding=vector, similarity_top_k=9, filters=anns)
    answer = ChromaVectorStore(chroma_collection=rows).query(query)
    assert answer.nodes is not None
    assert len(answer.nodes) == len(TEXTS)
    node = answer.nodes[0]
    assert (node.node_id, node.get_content()) == ("row4", "winter bread")
    assert node.metadata["stars"] == 4


def test_what_stock_writers_add_does_not_break_our_reading(
    ours: RecallStore, chroma: chromadb.ClientAPI, small: SmallEmbedding
) -> None:
    Chroma(ours.name, small, client=chroma).add_texts(  # type: ignore[arg-type]
        ["green tea from langchain", "undated tea"],
        [{"created_at": "soon", "event_ranges": "whenever", "quality": "high"}, {"x": 1}],
        ids=["langchain", "bare"],
    )
    rows = chroma.get_collection(ours.name, embedding_function=None)
    node = TextNode(id_="llamaindex", text="green tea", metadata={"topic": "tea"})
    node.embedding = small.embed_query("green tea")
    ChromaVectorStore(chroma_collection=rows).add([node])
    found = {each.id: each.memory for each in ours.find([Search("green tea", limit=20)])[0]}
    assert len(found) == len(TEXTS) + 3
    for name in ("langchain", "bare", "llamaindex"):
        assert (found[name].created_at, found[name].memory_type) == (None, "")
        assert (found[name].events, found[name].quality) == ((), None)
    assert found["llamaindex"].metadata == {"topic": "tea"}
    for more in ({"scope": Scope(user_id="ann")}, {"within": (TimeRange(None, None, "day"),)}):
        assert len(ours.find([Search("tea", 20, **more)])[0]) == len(TEXTS)
    assert ours.get(["bare"])[0].content == "undated tea"


@pytest.mark.parametrize("embedding", [Once(), SmallEmbedding(32, "other")])
def test_rows_of_others_become_memories(
    tmp_path: Path, chroma: chromadb.ClientAPI, embedding: SmallEmbedding
) -> None:
    small = SmallEmbedding()
    theirs = chroma.get_or_create_collection("theirs", embedding_function=None)
    theirs.add(
        ids=["a", "b"],
        documents=["two weeks ago I had tea", "bread"],
        embeddings=small.embed_documents(["two weeks ago I had tea", "bread"]),
        metadatas=[{"date": "2024-03-20", "owner": "ann"}, {"date": "2024-03-21", "owner": "bob"}],
    )
    fields = {"created_at": "date", "user_id": "owner"}
    with (
        RecallStore(chroma, "theirs", embedding=small, fields=fields) as source,
        RecallStore(tmp_path, embedding=embedding) as copy,
    ):
        assert source.copy_to(copy) == 2
        [hit] = copy.find([Search("tea", 1, method="keyword")])[0]
        assert hit.memory.scope.user_id == "ann"
        assert [each.grain for each in hit.memory.events] == ["day"]
    chroma.delete_collection("theirs")
