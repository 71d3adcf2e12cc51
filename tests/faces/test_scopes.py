"""A bound scope, a required one and a view: whatever is asked, stored or deleted keeps to them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from faces.adapters import Face, both, once
from faces.conftest import NOW
from faces.owners import ANN, BOB, QUESTION, add, retriever
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from llama_index.core.base.llms.types import ChatMessage
from tables import table

import langchain_recall
import llamaindex_recall
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Fetch, Flow, Recall, Search, Stage, Write
from recall_retrievers.store import RecallStore

MISSING = r"the scope must name user_id, because of require_scope=\('user_id',\)"


@pytest.fixture
def demanding(words: object) -> Iterator[RecallStore]:
    """A store of two users that answers nobody else."""
    with RecallStore(embedding=words, require_scope=("user_id",)) as opened:
        opened.add(
            [
                {"id": "elm", "content": "The dentist is on Elm Street.", "scope": ANN},
                {"id": "oak", "content": "The dentist is on Oak Street.", "scope": BOB},
            ]
        )
        yield opened


def contents(store: RecallStore) -> list[str]:
    whole = [*store.memories(scope=ANN), *store.memories(scope=BOB)]
    return sorted(memory.content for memory in whole)


# -- two scopes of one call hold both --------------------------------------------------------------


def test_the_configuration_and_a_calls_own_scope_hold_both(store: RecallStore) -> None:
    asked = langchain_recall.RecallRetriever(store=store, timestamp=NOW, k=9)
    anns: Any = {"configurable": ANN}

    async def both() -> list[Document]:
        return await asked.ainvoke(QUESTION, anns, scope={"agent_id": "helper"})

    for found in (asked.invoke(QUESTION, anns, scope={"agent_id": "helper"}), asyncio.run(both())):
        assert [each.id for each in found] == ["fear"]
    for nothing in (None, {}):
        found = asked.invoke(QUESTION, anns, scope=nothing)
        assert {each.metadata["user_id"] for each in found} == {"ann"}
    with pytest.raises(ScopeError, match="is 'ann' and cannot be changed to 'bob'"):
        asked.invoke(QUESTION, anns, scope=BOB)


def test_a_bundle_and_a_calls_own_scope_hold_both(store: RecallStore) -> None:
    asked = llamaindex_recall.RecallRetriever(store=store, timestamp=NOW, k=9)
    bundle = llamaindex_recall.RecallQueryBundle(QUESTION, options={"scope": ANN})

    found = asked.retrieve(bundle, scope={"agent_id": "helper"})

    assert [each.node_id for each in found] == ["fear"]
    assert "bob" not in {each.node_id for each in asked.retrieve(bundle, scope=None)}
    with pytest.raises(ScopeError, match="is 'ann' and cannot be changed to 'bob'"):
        asked.retrieve(bundle, scope=BOB)


# -- a required scope ------------------------------------------------------------------------------


@both
def test_a_retriever_requires_a_scope(store: RecallStore, face: Face) -> None:
    asked = retriever(face, store, require_scope=("user_id",), k=9)

    for wide in ({}, {"scope": None}, {"scope": {"agent_id": "helper"}}):
        with pytest.raises(ScopeError, match=MISSING):
            face.ask(asked, QUESTION, **wide)
    with pytest.raises(ScopeError, match=MISSING):
        add(face, asked, "The dentist is away.")
    found = face.ask(asked, QUESTION, scope=ANN)
    assert {each.metadata["user_id"] for each in found} == {"ann"}
    bound = retriever(face, store, require_scope=("user_id",), scope=BOB)
    assert [each.id for each in face.ask(bound, QUESTION)] == ["bob"]


@once
def test_what_is_required_goes_with_the_retriever(store: RecallStore, face: Face) -> None:
    asked = retriever(face, store, require_scope=["user_id", "workspace"])

    assert asked.model_dump()["require_scope"] == ("user_id", "workspace")
    again = retriever(face, store, **asked.model_dump(include={"require_scope"}))
    assert again.require_scope == asked.require_scope
    with pytest.raises(ScopeError, match="must name user_id"):
        face.ask(asked.model_copy(update={"k": 2}), QUESTION)
    if face.is_langchain:
        with pytest.raises(ScopeError, match="must name workspace"):
            asked.invoke(QUESTION, {"configurable": ANN})


@once
@table("wrong", ["user_id", ("",), ("user",), [None], {"user_id"}, None], ids=str)
def test_what_cannot_be_required(store: RecallStore, face: Face, words: object, wrong: Any) -> None:
    message = "require_scope takes a tuple of user_id, agent_id, session_id, workspace"
    with pytest.raises(ScopeError, match=message):
        retriever(face, store, require_scope=wrong)
    with pytest.raises(ScopeError, match=message):
        face.RecallStore(embedding=words, require_scope=wrong)


@both
def test_nothing_gets_round_a_store_that_requires_a_scope(
    demanding: RecallStore, face: Face
) -> None:
    asked = retriever(face, demanding)
    gated = retriever(face, demanding, gate=face.SearchGate())
    agents = face.AgentMemory(store=demanding)
    searches = [Search(QUESTION, 5, Scope(user_id="ann")), Search(QUESTION, 5)]
    config = face.RecallConfig(source=demanding)

    for way in (
        lambda: face.ask(asked, QUESTION),
        lambda: face.ask(asked, QUESTION, scope={"session_id": "monday"}),
        lambda: face.ask(gated, "Thanks!"),
        lambda: face.use(face.create_recall_tool(asked), query=QUESTION),
        lambda: face.call(face, "recall", QUESTION, config),
        lambda: agents.search_memory_with_context(QUESTION),
        lambda: add(face, asked, "The dentist is away."),
        lambda: face.call(demanding, "find", searches),
        lambda: demanding.get(["elm"]),
        lambda: demanding.delete(["elm"]),
        demanding.memories,
        lambda: demanding.add([{"content": "Tea.", "scope": ANN}, "The dentist is away."]),
        lambda: demanding.add_conversation([{"role": "user", "content": "The dentist is away."}]),
    ):
        with pytest.raises(ScopeError, match=MISSING):
            pytest.fail(str(way()))  # type: ignore[no-untyped-call]  # lambdas have no types
    assert contents(demanding) == ["The dentist is on Elm Street.", "The dentist is on Oak Street."]


async def test_a_block_and_a_middleware_over_a_store_that_requires_a_scope(
    demanding: RecallStore, caplog: pytest.LogCaptureFixture
) -> None:
    block = llamaindex_recall.RecallMemoryBlock(
        retriever=llamaindex_recall.RecallRetriever(store=demanding)
    )
    middleware = langchain_recall.RecallMiddleware(
        langchain_recall.RecallRetriever(store=demanding)
    )

    assert await block.aget([ChatMessage(QUESTION)], session_id="s1") == ""
    await block.aput([ChatMessage("The dentist is away.")], session_id="s1")
    with pytest.raises(ScopeError, match=MISSING):
        middleware.before_agent({"messages": [HumanMessage(QUESTION)]}, None)  # type: ignore[arg-type]  # it needs none

    assert caplog.text.count("ScopeError: the scope must name user_id") == 2
    assert len(contents(demanding)) == 2


@both
def test_what_a_retriever_stores_is_of_its_scope(own_store: RecallStore, face: Face) -> None:
    bound = retriever(face, own_store, scope={"user_id": "ann", "workspace": "home"})

    [left_open] = add(face, bound, "The kettle is new.")
    [narrower] = add(face, bound, "The teapot is old.", user_id="ann", session_id="monday")

    stored = own_store.get([left_open, narrower])
    assert [each.scope.fields() for each in stored] == [
        {"user_id": "ann", "workspace": "home"},
        {"user_id": "ann", "session_id": "monday", "workspace": "home"},
    ]


@both
def test_of_another_scope_it_stores_nothing(own_store: RecallStore, face: Face) -> None:
    before = sorted(each.id for each in own_store.memories())

    with pytest.raises(ScopeError, match="is 'ann' and cannot be changed to 'bob'"):
        add(face, retriever(face, own_store, scope=ANN), "One.", "Two.", user_id="bob")
    with pytest.raises(ScopeError, match="'bob' is there already, outside the scope"):
        add(face, retriever(face, own_store, scope=ANN), "One.", "Two.", ids=["new", "bob"])

    assert sorted(each.id for each in own_store.memories()) == before
    assert own_store.get(["bob"])[0].scope.user_id == "bob"


class Careless(Stage):
    """A stage of somebody's own that forgets whose question it is."""

    def apply(self, recall: Recall) -> Flow:
        """Look everywhere, and write it down."""
        [found] = yield [Search(QUESTION, 9)]
        [known] = yield [Fetch(("moved", "bob"))]
        yield [Write((Memory(id="mark", content="The dentist was asked about."),))]
        memories: Any = [*(hit.memory for hit in found), *known]
        return Recall(recall.query, tuple({each.id: each for each in memories}.values()))


@once
def test_a_stage_sees_and_writes_in_the_scope_of_the_call(
    own_store: RecallStore, face: Face
) -> None:
    found = face.ask(retriever(face, own_store, stages=[Careless()], k=20), QUESTION, scope=ANN)

    assert {each.metadata["user_id"] for each in found} == {"ann"}
    assert own_store.get(["mark"])[0].scope.fields() == ANN


async def test_a_block_may_be_required_to_name_the_session(words: object) -> None:
    """Whose session it is, and which: both stand in what it asks and in what it stores."""
    with RecallStore(embedding=words, require_scope=("user_id", "session_id")) as store:
        block = llamaindex_recall.RecallMemoryBlock(
            retriever=llamaindex_recall.RecallRetriever(store=store),
            scope_of=lambda _: ANN,
            by_session=True,
            gate=None,
        )

        await block.aput([ChatMessage("The kettle is new.")], session_id="s1")

        [kettle] = store.memories(scope={**ANN, "session_id": "s1"})
        assert kettle.content == "The kettle is new."
        assert "kettle" in await block.aget([ChatMessage("the kettle?")], session_id="s1")
        assert await block.aget([ChatMessage("the kettle?")], session_id="s2") == ""


def users(store: RecallStore, ids: list[str]) -> set[str | None]:
    return {each.scope.user_id for each in store.get(ids)}


@both
def test_a_retriever_and_a_tool_find_and_add_in_the_view(
    own_store: RecallStore, face: Face
) -> None:
    bobs = own_store.for_scope(user_id="bob")
    asked = face.RecallRetriever(store=bobs, timestamp=NOW, timezone="UTC", k=9)

    assert [each.id for each in face.ask(asked, "the dentist")] == ["bob"]
    _, found = face.use(face.create_recall_tool(asked), query="dentist")
    assert [each.id for each in found] == ["bob"]
    with pytest.raises(ScopeError, match="'bob' and cannot be changed to 'ann'"):
        face.ask(asked, "the dentist", scope={"user_id": "ann"})

    made = add(face, asked, "The dentist has a new phone.")
    assert users(own_store, made) == {"bob"}
    assert {each.id for each in face.ask(asked, "the dentist")} == {"bob", *made}


@once
def test_a_retriever_has_the_scope_of_its_view(own_store: RecallStore, face: Face) -> None:
    bobs = own_store.for_scope(user_id="bob")

    asked = face.RecallRetriever(store=bobs, scope={"session_id": "s"}, require_scope=["user_id"])

    assert asked.scope == Scope(user_id="bob", session_id="s")
    assert face.ask(asked, "the dentist") == []
    with pytest.raises(ScopeError, match="'bob' and cannot be changed to 'ann'"):
        face.RecallRetriever(store=bobs, scope={"user_id": "ann"})


def test_an_agents_memory_of_a_view(own_store: RecallStore) -> None:
    agent = langchain_recall.AgentMemory(store=own_store.for_scope(user_id="bob"))

    assert agent.search_memory_with_context("dentist")["total_matches"] == 1
    own_store.for_scope(user_id="bob").add(
        [{"content": "Bob fears the dentist.", "memory_type": "event"}]
    )
    assert agent.search_memory_with_context("dentist")["total_matches"] == 2
    with pytest.raises(ScopeError):
        agent.search_memory_with_context("dentist", user_id="ann")
