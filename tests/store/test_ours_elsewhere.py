"""Our collections in the hands of stock langchain-chroma and llama-index."""

from collections.abc import Iterator
from pathlib import Path

import chromadb
import pytest
from langchain_chroma import Chroma
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)
from llama_index.vector_stores.chroma import ChromaVectorStore
from store.foreign import MOMENTS, TEXTS, day
from store.kit import SmallEmbedding, similarities

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange


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
