"""A store of somebody else: its own search by words, and what it did not look through."""

import zlib
from collections.abc import Callable
from typing import Any

import pytest
from faces.adapters import FACES, Face, both, once
from faces.other_stores import (
    DIMENSION,
    Fixed,
    FixedIndex,
    LangChainWords,
    LlamaIndexWords,
    Row,
    crowd,
    documents_of,
    llamaindex_postgres,
    needs,
    nodes_of,
    qdrant_id,
    rows,
)
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeWithScore

from recall_retrievers.core.errors import StoreError

pytestmark = [
    pytest.mark.filterwarnings("ignore:builtin type .* has no __module__"),  # FAISS's own
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
]

Open = Callable[..., Any]
LANGCHAIN, LLAMAINDEX = (next(f for f in FACES if f.is_langchain is each) for each in (True, False))


@once
def test_a_store_that_was_not_looked_through_wholly_says_so(face: Face, opened: Open) -> None:
    near = {"id": "near", "content": "the dentist", "scope": {"user_id": "ann"}}
    source = opened("in memory", [near, *crowd(20)])
    store = face.AnyStore(source=source, fetch_limit=8, push_down=None)

    def ask(user: str) -> list[Any]:
        retriever = face.RecallRetriever(store=store, k=2, fetch_k=1, scope={"user_id": user})
        return face.ask(retriever, "the dentist", method="semantic")

    few, enough = ask("ann"), ask("bob")

    assert [each.id for each in few] == ["near"]
    assert few[0].metadata["recall_looked_through"] == 8
    assert (
        "only the first 8 memories of the store were looked through"
        in (few[0].metadata["recall_degraded"])
    )
    assert len(enough) == 2
    assert all("recall_looked_through" not in each.metadata for each in enough)


@both
def test_a_retriever_with_a_limit_of_its_own_says_so(face: Face, memories: list[Row]) -> None:
    source = (
        Fixed(documents=documents_of(memories))
        if face.is_langchain
        else (FixedIndex(nodes_of(memories)))
    )
    retriever = face.RecallRetriever(store=source, scope={"user_id": "bob"}, k=2)

    [bob] = face.ask(retriever, "dentist")

    assert bob.metadata["recall_looked_through"] == 6


@pytest.fixture
def memories() -> list[Row]:
    return rows()


@both
def test_the_own_search_by_words_is_used(face: Face, opened: Open, memories: list[Row]) -> None:
    by_words = [each for each in memories if each[0] in ("wedding", "bob")]
    keyword: Any
    if face.is_langchain:
        keyword = Fixed(documents=documents_of(by_words))
    else:
        keyword = FixedIndex(nodes_of(by_words))
    store = face.AnyStore(source=opened(), keyword=keyword)

    hybrid = face.ask(face.RecallRetriever(store=store), "Carla")
    words = face.ask(face.RecallRetriever(store=store, method="keyword"), "Carla")
    mine = face.ask(
        face.RecallRetriever(store=store, method="keyword", scope={"user_id": "ann"}), "Carla"
    )

    assert "recall_degraded" not in hybrid[0].metadata
    assert {each.id for each in hybrid if "recall_keyword" in each.metadata} == {"wedding", "bob"}
    assert {each.id for each in words} == {"wedding", "bob"}
    assert [each.id for each in mine] == ["wedding"]


def test_a_function_may_be_the_search_by_words(
    face: Face, opened: Open, memories: list[Row]
) -> None:
    seen = []

    def search_words(search: Any) -> list[Any]:
        seen.append(search)
        [tea] = [each for each in memories if each[0] == "tea"]
        if face.is_langchain:
            return [(documents_of([tea])[0], 7.5)]
        return [NodeWithScore(node=nodes_of([tea])[0], score=7.5)]

    async def later(search: Any) -> list[Any]:
        return search_words(search)

    for function in (search_words, later) if face.is_async else (search_words,):
        store = face.AnyStore(source=opened(), keyword=function)
        retriever = face.RecallRetriever(store=store, method="keyword", fetch_k=9)
        [found] = face.ask(retriever, "tea", scope={"user_id": "ann"})
        assert found.metadata["recall_keyword"] == 7.5
        assert (seen[-1].text, seen[-1].scope.user_id) == ("tea", "ann")
        assert seen[-1].limit >= 9

    if not face.is_async:
        store = face.AnyStore(source=opened(), keyword=later)
        with pytest.raises(StoreError, match="keyword is an async function"):
            face.ask(face.RecallRetriever(store=store, method="keyword"), "tea")


def test_qdrants_sparse_vectors_are_a_search_by_words(memories: list[Row]) -> None:
    needs("langchain_qdrant")
    from langchain_qdrant import QdrantVectorStore, RetrievalMode, SparseEmbeddings, SparseVector
    from qdrant_client import QdrantClient, models

    class Words(SparseEmbeddings):
        """A word is a number; a text has a 1 for each of its words."""

        def embed_query(self, text: str) -> SparseVector:
            numbers = sorted({zlib.crc32(word.encode()) for word in text.lower().split()})
            return SparseVector(indices=numbers, values=[1.0] * len(numbers))

        def embed_documents(self, texts: list[str]) -> list[SparseVector]:
            return [self.embed_query(text) for text in texts]

    client = QdrantClient(":memory:")
    client.create_collection(
        "memories",
        vectors_config={"": models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)},
        sparse_vectors_config={"langchain-sparse": models.SparseVectorParams()},
    )
    by_meaning, by_words, both = (
        QdrantVectorStore(client, "memories", LangChainWords(), mode, sparse_embedding=Words())
        for mode in (RetrievalMode.DENSE, RetrievalMode.SPARSE, RetrievalMode.HYBRID)
    )
    both.add_documents(
        [each.model_copy(update={"id": qdrant_id(str(each.id))}) for each in documents_of(memories)]
    )
    store = LANGCHAIN.AnyStore(source=by_meaning, keyword=by_words, fetch_limit=1)
    question = "of Bob called green tea"
    settings = {"k": 1, "fetch_k": 1, "scope": {"user_id": "ann"}}

    words, hybrid = (
        LANGCHAIN.RecallRetriever(store=store, method=method, **settings).invoke(question)
        for method in ("keyword", "hybrid")
    )

    assert [each.page_content for each in words] == [memories[3][1]]  # Bob's has more of the words
    assert words[0].metadata["recall_keyword"] == 2
    assert "recall_degraded" not in hybrid[0].metadata


def test_the_text_search_of_an_index_is_a_search_by_words(
    memories: list[Row], postgres: Callable[[], int]
) -> None:
    vectors = llamaindex_postgres(postgres(), hybrid_search=True)
    index = VectorStoreIndex(
        nodes_of(memories),
        storage_context=StorageContext.from_defaults(vector_store=vectors),
        embed_model=LlamaIndexWords(),
    )
    text_search = index.as_retriever(vector_store_query_mode="sparse", similarity_top_k=1)
    store = LLAMAINDEX.AnyStore(source=index, keyword=text_search)
    retriever = LLAMAINDEX.RecallRetriever(store=store, method="keyword", scope={"user_id": "ann"})

    found = LLAMAINDEX.ask(retriever, "dentist tooth")

    assert {each.id for each in found} == {"filling", "moved", "fear"}
    assert max(found, key=lambda each: each.metadata["recall_keyword"]).id == "filling"
