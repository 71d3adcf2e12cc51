"""Where users put a retriever or a stage in LangChain, and what both faces have in common."""

import asyncio
import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from faces.adapters import FACES, Face, ScriptedChat, ScriptedLLM, langchain, llamaindex
from faces.conftest import MEMORIES, NOW
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    EnsembleRetriever,
    MultiQueryRetriever,
)
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.runnables import (
    ConfigurableField,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import MetadataMode, TextNode
from pydantic import TypeAdapter

import langchain_recall
import llamaindex_recall
from langchain_recall import FuseRerank, RecallRetriever, RecencyRank, SemanticRank
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.store import RecallStore, opened

BOB = {"configurable": {"user_id": "bob", "timestamp": "2024-03-06T12:00:00Z", "k": 1}}


@pytest.fixture
def retriever(store: RecallStore) -> RecallRetriever:
    return RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=2, everyone=True)


@pytest.fixture(params=FACES[:2], ids=str)
def ask(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Invoke a runnable either way; of what it returns, the ids."""

    def invoke(runnable: Any, given: Any, config: Any = None) -> list[str]:
        return _ids(request.param.call(runnable, "invoke", given, config))

    return invoke


def _ids(documents: list[Document]) -> list[str]:
    return [each.id or "" for each in documents]


def _settings(**configurable: Any) -> dict[str, Any]:
    return {"configurable": configurable}


class TestStandard(RetrieversIntegrationTests):
    """LangChain's own suite for retrievers."""

    @pytest.fixture(autouse=True)
    def _shared(self, store: RecallStore) -> None:
        self._store = store

    @property
    def retriever_constructor(self) -> type[RecallRetriever]:
        return RecallRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"store": self._store}

    @property
    def retriever_query_example(self) -> str:
        return "What about the dentist?"


# -- the retriever --------------------------------------------------------------------------------


def test_configurable_fields_of_the_retriever(retriever: RecallRetriever, ask: Any) -> None:
    settable = retriever.configurable_fields(
        k=ConfigurableField(id="how_many"), stages=ConfigurableField(id="flow")
    )

    assert ask(settable, "dentist") == ["fear", "moved"]
    assert ask(settable, "dentist", _settings(how_many=1)) == ["fear"]
    assert ask(settable, "dentist", _settings(flow=[RecencyRank()])) == ["bob", "filling"]
    with pytest.raises(ValueError, match="k must be at least 1"):
        ask(settable, "dentist", _settings(how_many=0))


def test_with_config_and_bind_of_the_retriever(retriever: RecallRetriever, ask: Any) -> None:
    assert ask(retriever.with_config(BOB), "dentist") == ["bob"]
    assert ask(retriever.bind(k=1, scope={"user_id": "bob"}), "dentist") == ["bob"]


@pytest.mark.parametrize(
    "chain",
    [
        lambda retriever: RunnablePassthrough() | retriever,
        lambda retriever: {"found": retriever} | RunnableLambda(lambda given: given["found"]),
        lambda retriever: RunnableLambda(retriever.invoke, retriever.ainvoke),
        lambda retriever: (
            RunnableLambda(lambda question: {"query": question})
            | RunnablePassthrough.assign(found=retriever)
            | RunnableLambda(lambda given: given["found"])
        ),
    ],
    ids=["sequence", "parallel", "function", "assign"],
)
def test_the_root_call_of_a_chain_says_who_when_and_how_many(
    retriever: RecallRetriever, ask: Any, chain: Callable[..., Any]
) -> None:
    strict = retriever.model_copy(update={"time_mode": "require"})

    assert ask(chain(strict), "the dentist yesterday", BOB) == ["bob"]  # two days before NOW
    assert ask(chain(strict), "the dentist yesterday") == []
    assert ask(chain(strict), "dentist") == ["fear", "moved"]


def test_what_the_config_says_wrongly_is_named(retriever: RecallRetriever, ask: Any) -> None:
    for wrong in ({"k": 0}, {"timestamp": "soonish"}, {"user_id": 7}, {"timezone": "Mars"}):
        [name] = wrong
        with pytest.raises((ValueError, ScopeError), match=name):
            ask(retriever, "dentist", _settings(**wrong))


def test_a_store_says_that_it_cannot_be_pickled(retriever: RecallRetriever) -> None:
    with pytest.raises(TypeError, match="can be neither pickled nor copied; pass on its path"):
        pickle.dumps(retriever)


# -- the stages -----------------------------------------------------------------------------------


def test_a_stage_says_what_it_takes() -> None:
    taken = FuseRerank().get_input_jsonschema()["$defs"]["CompressorInput"]

    assert taken["required"] == ["query", "documents"]
    assert FuseRerank().get_output_jsonschema()["items"] == {"$ref": "#/$defs/Document"}


def test_a_stage_is_never_written_down_without_its_model() -> None:
    """Read again it would silently ask none."""
    written = dumps(SemanticRank(llm=ScriptedChat(replies=["{}"])))

    assert '"ScriptedModel"' in written
    with pytest.raises(NotImplementedError, match="doesn't implement serialization"):
        loads(written, valid_namespaces=["langchain_recall"], allowed_objects=[SemanticRank])


def test_a_stage_takes_its_model_along_when_it_is_pickled(retriever: RecallRetriever) -> None:
    model = ScriptedChat(replies=['{"scores": [{"memory": 2, "score": 1.0}]}'])

    back = pickle.loads(pickle.dumps(SemanticRank(llm=model, semantic_share=1)))

    given = {"query": "dentist", "documents": retriever.invoke("dentist")}
    assert _ids(back.invoke(given)) == ["moved", "fear"]


@pytest.fixture
def of_nodes(store: RecallStore) -> Any:
    return llamaindex_recall.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=2)


def test_a_dump_of_the_retriever_holds_no_memories(retriever: Any) -> None:
    assert "dentist" not in dumps(retriever)
    assert "dentist" not in repr(retriever)


def test_a_prompt_sees_the_memory_and_not_the_trace(of_nodes: Any) -> None:
    [node, *_] = of_nodes.retrieve("the dentist last Tuesday")

    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "recall_" not in node.node.get_content(mode)
    assert "created_at: 2024-03-05T11:00:00+00:00" in node.node.get_content(MetadataMode.LLM)


def test_postprocessors_take_nodes_without_a_question(of_nodes: Any) -> None:
    nodes = of_nodes.retrieve("the dentist")

    for stage in (llamaindex_recall.ExtractTime(), llamaindex_recall.FuseRerank()):
        assert [n.node_id for n in stage.postprocess_nodes(nodes)] == [n.node_id for n in nodes]


def test_async_does_not_block_the_event_loop(
    retriever: Any, of_nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search waits for the loop: where it blocked it, it would wait in vain."""
    search = opened.search
    ticked = threading.Event()
    waited: list[bool] = []

    def waiting(*asked: Any) -> Any:
        waited.append(ticked.wait(30))
        return search(*asked)

    monkeypatch.setattr(opened, "search", waiting)

    async def with_a_loop(answer: Any) -> None:
        ticked.clear()
        asyncio.get_running_loop().call_later(0.01, ticked.set)
        await answer

    asyncio.run(with_a_loop(retriever.ainvoke("the dentist")))
    asyncio.run(with_a_loop(of_nodes.aretrieve("the dentist")))

    assert waited == [True, True]


QUESTION = "Where is the dentist?"
OTHERS = "the dentist last Tuesday\nthe dentist of Bob\nWho put a filling in?"


@pytest.fixture(params=["RecallStore", "AnyStore", "compressed"])
def of_several(request: pytest.FixtureRequest, store: RecallStore, words: Any) -> Any:
    """Ours over our store, ours over LangChain's, and our stages behind LangChain's of_several."""
    ours: dict[str, Any] = {"timestamp": NOW, "timezone": "UTC"}
    if request.param == "RecallStore":
        return langchain_recall.RecallRetriever(store=store, k=3, everyone=True, **ours)
    stock = InMemoryVectorStore(words)
    stock.add_texts([each["content"] for each in MEMORIES], ids=[each["id"] for each in MEMORIES])
    if request.param == "AnyStore":
        return langchain_recall.RecallRetriever(store=stock, k=3, **ours)
    return ContextualCompressionRetriever(
        base_retriever=stock.as_retriever(),
        base_compressor=langchain_recall.RecallCompressor(**ours),
    )


@langchain
def test_several_questions_find_each_memory_once(of_several: Any, face: Face) -> None:
    model = FakeListChatModel(responses=[OTHERS])

    found = face.call(MultiQueryRetriever.from_llm(of_several, model), "invoke", QUESTION)

    ids = [document.id for document in found]
    assert len(ids) >= 2
    assert sorted(ids) == sorted(set(ids))


@langchain
def test_an_ensemble_finds_each_memory_once(store: RecallStore, face: Face) -> None:
    ours = langchain_recall.RecallRetriever(store=store, everyone=True)
    by_words = ours.model_copy(update={"method": "keyword"})
    both = EnsembleRetriever(retrievers=[ours, by_words])

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
        store=store if kind == "RecallStore" else index,
        k=3,
        timestamp=NOW,
        timezone="UTC",
        everyone=True,
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
