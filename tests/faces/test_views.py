"""A view of one user in the place of a store: retriever, tool and agents of both frameworks."""

import asyncio
from typing import Any

import pytest
from faces.adapters import Face, both, once
from faces.conftest import NOW
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.schema import TextNode

import langchain_recall
import llamaindex_recall
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore


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
    chat = Memory.from_defaults(session_id="t", memory_blocks=[block])
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
