"""One memory that several questions or retrievers find is one to the frameworks' own retrievers."""

import copy
import pickle
from typing import Any

import pytest
from faces.adapters import Face, ScriptedLLM, langchain, llamaindex
from faces.conftest import MEMORIES, NOW
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MultiQueryRetriever,
)
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from pydantic import TypeAdapter

import langchain_recall
import llamaindex_recall
from recall_retrievers.store import RecallStore

QUESTION = "Where is the dentist?"
OTHERS = "the dentist last Tuesday\nthe dentist of Bob\nWho put a filling in?"


@pytest.fixture(params=["RecallStore", "AnyStore", "compressed"])
def retriever(request: pytest.FixtureRequest, store: RecallStore, words: Any) -> Any:
    """Ours over our store, ours over LangChain's, and our stages behind LangChain's retriever."""
    ours: dict[str, Any] = {"timestamp": NOW, "timezone": "UTC"}
    if request.param == "RecallStore":
        return langchain_recall.RecallRetriever(store=store, k=3, **ours)
    stock = InMemoryVectorStore(words)
    stock.add_texts([each["content"] for each in MEMORIES], ids=[each["id"] for each in MEMORIES])
    if request.param == "AnyStore":
        return langchain_recall.RecallRetriever(store=stock, k=3, **ours)
    return ContextualCompressionRetriever(
        base_retriever=stock.as_retriever(),
        base_compressor=langchain_recall.RecallCompressor(**ours),
    )


@langchain
def test_several_questions_find_each_memory_once(retriever: Any, face: Face) -> None:
    model = FakeListChatModel(responses=[OTHERS])

    found = face.call(MultiQueryRetriever.from_llm(retriever, model), "invoke", QUESTION)

    ids = [document.id for document in found]
    assert len(ids) >= 2
    assert sorted(ids) == sorted(set(ids))


@langchain
def test_an_ensemble_finds_each_memory_once(store: RecallStore, face: Face) -> None:
    by_words = langchain_recall.RecallRetriever(store=store, k=3, method="keyword")
    both = EnsembleRetriever(retrievers=[langchain_recall.RecallRetriever(store=store), by_words])

    ids = [document.id for document in face.call(both, "invoke", QUESTION)]

    assert sorted(ids) == sorted(set(ids))


def test_what_differs_is_not_the_same(store: RecallStore) -> None:
    [found, other, *_] = langchain_recall.RecallRetriever(store=store).invoke(QUESTION)
    [again, *_] = langchain_recall.RecallRetriever(store=store, method="keyword").invoke(QUESTION)

    assert found.id == again.id
    assert found == again
    assert dict(found.metadata) != dict(again.metadata)
    assert found != other
    assert found != found.model_copy(update={"page_content": "Another text."})
    later = {**found.metadata, "created_at": "2030-01-01T00:00:00+00:00"}
    assert found != found.model_copy(update={"metadata": type(found.metadata)(later)})


def test_it_is_a_document_like_any_other(store: RecallStore) -> None:
    [found, *_] = langchain_recall.RecallRetriever(store=store).invoke(QUESTION)
    same = Document(id=found.id, page_content=found.page_content, metadata=dict(found.metadata))

    assert type(found) is Document
    assert found == same == found
    assert repr(found) == repr(same)
    assert same != Document(id=found.id, page_content=found.page_content)
    assert found != Document(id=found.id, page_content=found.page_content)
    assert TypeAdapter(list[Document]).validate_python([found]) == [found]
    assert found.model_dump() == same.model_dump()
    assert loads(dumps(found), allowed_objects=[Document]) == same
    for revived in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert revived == found
    serializer = JsonPlusSerializer()
    assert serializer.loads_typed(serializer.dumps_typed(found)) == same


@llamaindex
@pytest.mark.parametrize("kind", ["RecallStore", "AnyStore"])
def test_a_node_that_several_questions_find_has_the_score_of_all(
    store: RecallStore, face: Face, kind: str
) -> None:
    nodes = [TextNode(id_=each["id"], text=each["content"]) for each in MEMORIES]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))
    ours = llamaindex_recall.RecallRetriever(
        store=store if kind == "RecallStore" else index, k=3, timestamp=NOW, timezone="UTC"
    )
    model = ScriptedLLM(replies=[OTHERS])
    fused = QueryFusionRetriever(
        [ours], llm=model, mode="reciprocal_rerank", num_queries=4, similarity_top_k=9
    )

    found = face.call(fused, "retrieve", QUESTION)

    ids = [node.node_id for node in found]
    assert sorted(ids) == sorted(set(ids))
    answers = [ours.retrieve(question) for question in (QUESTION, *OTHERS.splitlines())]
    all_scores = sum(1 / (60 + rank) for answer in answers for rank in range(len(answer)))
    assert len(found) < sum(map(len, answers))
    assert sum(node.score or 0.0 for node in found) == pytest.approx(all_scores)
