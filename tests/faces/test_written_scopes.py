"""What is written and deleted keeps to a bound scope, and to the view of one user."""

import asyncio
from typing import Any

import pytest
from faces.adapters import Face, both, once
from faces.conftest import NOW
from faces.owners import ANN, QUESTION, add, retriever
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.schema import TextNode

import langchain_recall
import llamaindex_recall
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Fetch, Flow, Recall, Search, Stage, Write
from recall_retrievers.store import RecallStore


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


@once
def test_a_stored_reflection_is_of_the_scope_of_the_call(
    own_store: RecallStore, face: Face
) -> None:
    reply = '{"points": [{"text": "The dentist moved to Elm Street.", "memories": [1, 2, 3]}]}'
    reflect = face.Reflect(llm=face.model(reply), store_reflections=True)
    asked = retriever(face, own_store, stages=[reflect], k=3)

    face.ask(asked, "Where did the dentist move?", scope={**ANN, "workspace": "none"})
    face.ask(asked, "Where did the dentist move?", scope=ANN)

    stored = [each for each in own_store.memories() if each.memory_type == "reflection"]
    assert [each.scope.fields() for each in stored] == [ANN] * len(stored)


async def test_a_block_may_be_required_to_name_the_session(words: object) -> None:
    """Whose session it is, and which: both stand in what it asks and in what it stores."""
    with RecallStore(embedding=words, require_scope=("user_id", "session_id")) as store:
        block = llamaindex_recall.RecallMemoryBlock(
            retriever=llamaindex_recall.RecallRetriever(store=store),
            scope_of=lambda _: ANN,
            by_session=True,
        )

        await block.aput([ChatMessage("The kettle is new.")], session_id="s1")

        [kettle] = store.memories(scope={**ANN, "session_id": "s1"})
        assert kettle.content == "The kettle is new."
        assert "kettle" in await block.aget([ChatMessage("the kettle?")], session_id="s1")
        assert await block.aget([ChatMessage("the kettle?")], session_id="s2") == ""


async def test_what_a_block_stores_is_of_its_sessions_owner(own_store: RecallStore) -> None:
    bound = llamaindex_recall.RecallRetriever(store=own_store, scope={"workspace": "home"})
    block = llamaindex_recall.RecallMemoryBlock(retriever=bound, scope_of=lambda _: ANN)

    await block.aput([ChatMessage("The kettle is new.")], session_id="s1")

    [kettle] = [each for each in own_store.memories() if "kettle" in each.content]
    assert kettle.scope.fields() == {"user_id": "ann", "session_id": "s1", "workspace": "home"}


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

    if face.is_langchain:
        made = asked.add_documents([Document("The dentist has a new phone.")])
    else:
        made = asked.add_nodes([TextNode(text="The dentist has a new phone.")])
    assert users(own_store, made) == {"bob"}
    assert {each.id for each in face.ask(asked, "the dentist")} == {"bob", *made}


def test_agents_read_and_write_in_the_view(own_store: RecallStore) -> None:
    bobs = own_store.for_scope(user_id="bob")
    before = {each.id for each in own_store.memories()}
    memory = langchain_recall.RecallMiddleware(
        langchain_recall.RecallRetriever(store=bobs, timestamp=NOW)
    )
    shown: list[str] = []

    class Watched(GenericFakeChatModel):
        def _generate(self, messages: Any, *given: Any, **named: Any) -> Any:
            shown.append(messages[0].text)
            return super()._generate(messages, *given, **named)

    model = Watched(messages=iter([AIMessage("Dr. Lee.")]))
    create_agent(model, [], middleware=[memory]).invoke(
        {"messages": [("user", "Who is the dentist?")]}, {"configurable": {"session_id": "s"}}
    )
    assert "Dr. Lee" in shown[0]
    assert "afraid" not in shown[0]

    block = llamaindex_recall.RecallMemoryBlock(
        retriever=llamaindex_recall.RecallRetriever(store=bobs, timestamp=NOW)
    )
    chat = ChatMemory.from_defaults(session_id="t", memory_blocks=[block])
    seen = asyncio.run(chat.aget(input="Who is the dentist?"))
    asyncio.run(block.aput([ChatMessage("I moved to Rome.")], session_id="t"))

    assert "Dr. Lee" in str(seen)
    made = {each.id for each in own_store.memories()} - before
    assert [each.content for each in own_store.get(list(made))] == ["I moved to Rome."]
    assert users(own_store, list(made)) == {"bob"}


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

    assert agent.search_memory_with_context("dentist")["total_matches"] == 0
    own_store.for_scope(user_id="bob").add(
        [{"content": "Bob fears the dentist.", "memory_type": "event"}]
    )
    assert agent.search_memory_with_context("dentist")["total_matches"] == 1
    with pytest.raises(ScopeError):
        agent.search_memory_with_context("dentist", user_id="ann")
