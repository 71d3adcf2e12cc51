"""Where LangChain users put a retriever or a stage: each of LangChain's own ways, unchanged."""

import asyncio
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from faces.adapters import ScriptedChat
from faces.conftest import NOW
from langchain_core.documents import Document
from langchain_core.load import dumps, loads
from langchain_core.runnables import (
    ConfigurableField,
    RunnableLambda,
    RunnablePassthrough,
)
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_recall import FuseRerank, RecallRetriever, RecencyRank, SemanticRank
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.store import RecallStore

BOB = {"configurable": {"user_id": "bob", "timestamp": "2024-03-06T12:00:00Z", "k": 1}}


@pytest.fixture
def retriever(store: RecallStore) -> RecallRetriever:
    return RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=2)


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Invoke a runnable either way; of what it returns, the ids."""
    with asyncio.Runner() as runner:

        def invoke(runnable: Any, given: Any, config: Any = None, **named: Any) -> list[str]:
            if request.param == "async":
                return _ids(runner.run(runnable.ainvoke(given, config, **named)))
            return _ids(runnable.invoke(given, config, **named))

        yield invoke


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


def test_batch_of_the_retriever_keeps_each_users_memories_apart(
    retriever: RecallRetriever,
) -> None:
    questions = ["dentist"] * 20
    users = ["ann", "bob"] * 10
    configs: Any = [_settings(user_id=user) for user in users]

    batched = retriever.batch(questions, configs)
    abatched = asyncio.run(retriever.abatch(questions, configs))

    assert batched == abatched
    assert [{each.metadata["user_id"] for each in found} for found in batched] == [
        {user} for user in users
    ]


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
    assert ask(chain(retriever), "the dentist yesterday", BOB) == ["bob"]
    assert ask(chain(retriever), "dentist") == ["fear", "moved"]


def test_a_question_of_the_root_call_is_read_against_its_timestamp(
    retriever: RecallRetriever,
) -> None:
    chain = RunnablePassthrough() | retriever

    [found] = chain.invoke("the dentist yesterday", BOB)

    assert found.metadata["recall_time_range"].startswith("2024-03-05T00:00:00+00:00/2024-03-06")


def test_what_the_config_says_wrongly_is_named(retriever: RecallRetriever, ask: Any) -> None:
    for wrong in ({"k": 0}, {"timestamp": "soonish"}, {"user_id": 7}, {"timezone": "Mars"}):
        [name] = wrong
        with pytest.raises((ValueError, ScopeError), match=name):
            ask(retriever, "dentist", _settings(**wrong))


def test_a_store_says_that_it_cannot_be_pickled(retriever: RecallRetriever) -> None:
    with pytest.raises(TypeError, match="can be neither pickled nor copied; pass on its path"):
        pickle.dumps(retriever)


# -- the stages -----------------------------------------------------------------------------------


@pytest.fixture
def given(retriever: RecallRetriever) -> dict[str, Any]:
    return {"query": "dentist", "documents": retriever.invoke("dentist")}


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


def test_a_stage_takes_its_model_along_when_it_is_pickled(given: dict[str, Any]) -> None:
    model = ScriptedChat(replies=['{"scores": [{"memory": 2, "score": 1.0}]}'])

    back = pickle.loads(pickle.dumps(SemanticRank(llm=model, semantic_share=1)))

    assert _ids(back.invoke(given)) == ["moved", "fear"]
