"""A bound scope and a required one: every question keeps to them."""

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
from recall_retrievers.core.errors import ScopeError, StoreError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
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


@once
def test_a_stage_sees_the_scope_of_the_retriever_and_of_the_call(
    store: RecallStore, face: Face
) -> None:
    seen: list[dict[str, str]] = []

    def look(memories: Any, query: Any) -> Any:
        seen.append(query.scope.fields())
        return memories

    asked = retriever(face, store, scope=ANN, stages=[look])
    face.ask(asked, QUESTION, scope={"agent_id": "helper"})

    assert seen == [{"user_id": "ann", "agent_id": "helper"}]


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
    one_call = face.arecall if face.is_async else face.recall
    find = demanding.afind if face.is_async else demanding.find
    config = face.RecallConfig(source=demanding)

    for way in (
        lambda: face.ask(asked, QUESTION),
        lambda: face.ask(asked, QUESTION, scope={"session_id": "monday"}),
        lambda: face.ask(gated, "Thanks!"),
        lambda: face.use(face.create_recall_tool(asked), query=QUESTION),
        lambda: face._wait(one_call(QUESTION, config)),
        lambda: agents.search_memory_with_context(QUESTION),
        lambda: add(face, asked, "The dentist is away."),
        lambda: face._wait(find([Search(QUESTION, 5, Scope(user_id="ann")), Search(QUESTION, 5)])),
        lambda: demanding.get(["elm"]),
        lambda: demanding.delete(["elm"]),
        demanding.memories,
        lambda: demanding.add([{"content": "Tea.", "scope": ANN}, "The dentist is away."]),
        lambda: demanding.add_conversation([{"role": "user", "content": "The dentist is away."}]),
    ):
        with pytest.raises(ScopeError, match=MISSING):
            pytest.fail(str(way()))  # type: ignore[no-untyped-call]  # lambdas have no types
    assert contents(demanding) == ["The dentist is on Elm Street.", "The dentist is on Oak Street."]


@once
def test_whoever_names_a_user_is_answered(demanding: RecallStore, face: Face) -> None:
    asked = retriever(face, demanding, scope=ANN)
    one_call = face.arecall if face.is_async else face.recall
    tool = face.create_recall_tool(asked)

    answers = [
        [each.content for each in face.ask(asked, QUESTION)],
        [each.content for each in face.use(tool, query=QUESTION)[1]],
        [
            each.content
            for each in face.found(
                face._wait(one_call(QUESTION, face.RecallConfig(source=demanding), scope=ANN))[
                    "memories"
                ]
            )
        ],
        [each.content for each in demanding.get(["oak", "elm"], scope=ANN)],
    ]

    assert answers == [["The dentist is on Elm Street."]] * 4


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


@once
def test_a_conversation_of_a_user_is_stored(demanding: RecallStore, face: Face) -> None:
    add = demanding.aadd_conversation if face.is_async else demanding.add_conversation
    turns = [("user", "I need a kettle."), ("assistant", "A red one?")]
    said = [{"role": role, "content": text} for role, text in turns]

    ids = face._wait(add(said, scope=ANN))

    assert [each.turn_before for each in demanding.get(ids, scope=ANN)] == ["", ids[0]]
    with pytest.raises(StoreError, match="which is not stored"):
        face._wait(add(said, scope=BOB, turn_before=ids[1]))
