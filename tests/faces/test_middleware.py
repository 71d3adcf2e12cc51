"""RecallMiddleware: what the model of a LangChain agent sees, and what is written down."""

import asyncio
from typing import Any

import pytest
from faces.conftest import NOW
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_recall import RecallMiddleware, RecallRetriever, SearchGate
from recall_retrievers.store import RecallStore

CONFIG = {"timestamp": NOW, "timezone": "UTC"}


class Watched(GenericFakeChatModel):
    """A model that keeps what it was shown."""

    shown: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it

    def bind_tools(self, tools: Any, **kwargs: Any) -> "Watched":
        return self

    def _generate(self, messages: Any, *given: Any, **named: Any) -> Any:
        self.shown.append(messages)
        return super()._generate(messages, *given, **named)


@tool
def clock() -> str:
    """What time it is."""
    return "noon"


def said(*replies: Any) -> Watched:
    return Watched(
        messages=iter([r if isinstance(r, AIMessage) else AIMessage(r) for r in replies])
    )


def run(agent: Any, text: str, is_async: bool, **configurable: str) -> Any:
    asked = {"messages": [("user", text)]}
    config = {"configurable": {**CONFIG, **configurable}}
    return asyncio.run(agent.ainvoke(asked, config)) if is_async else agent.invoke(asked, config)


@pytest.mark.parametrize("is_async", [False, True])
def test_every_model_call_of_a_turn_sees_the_memories(store: RecallStore, is_async: bool) -> None:
    call = AIMessage("", tool_calls=[{"name": "clock", "args": {}, "id": "1"}])
    model = said(call, "A filling.")
    recall = RecallMiddleware(RecallRetriever(store=store, k=1))
    agent = create_agent(model, [clock], system_prompt="Be brief.", middleware=[recall])

    done = run(agent, "Which filling did the dentist put in last Tuesday?", is_async, user_id="ann")

    for messages in model.shown:
        system = messages[0]
        assert isinstance(system, SystemMessage)
        assert "Be brief." in system.text
        assert "The dentist put a filling in my tooth." in system.text
        assert "quoted material" in system.text
    assert len(model.shown) == 2
    assert not any("filling in my tooth" in m.text for m in done["messages"])


def test_of_a_message_that_is_longer_than_a_question_the_beginning_is_asked(
    store: RecallStore,
) -> None:
    model = said("A filling.")
    recall = RecallMiddleware(RecallRetriever(store=store, k=1))
    agent = create_agent(model, [], middleware=[recall])

    run(agent, "What did the dentist do? " + "See: " * 20_000, False, user_id="ann")

    assert "dentist" in model.shown[0][0].text


def test_the_next_turn_has_its_own_memories_and_the_history_none(store: RecallStore) -> None:
    model = said("A filling.", "Green tea.")
    recall = RecallMiddleware(RecallRetriever(store=store, k=1))
    agent = create_agent(model, middleware=[recall], checkpointer=InMemorySaver())

    run(agent, "Which filling did I get last Tuesday?", False, user_id="ann", thread_id="1")
    done = run(agent, "What does Ann drink in the morning?", False, user_id="ann", thread_id="1")

    assert "filling" not in model.shown[1][0].text
    assert "Green tea" in model.shown[1][0].text
    assert [type(m).__name__ for m in done["messages"]] == ["HumanMessage", "AIMessage"] * 2


def test_where_nothing_is_found_the_model_is_told_nothing(store: RecallStore) -> None:
    model = said("Hello.")
    recall = RecallMiddleware(RecallRetriever(store=store, scope={"user_id": "nobody"}))

    run(create_agent(model, middleware=[recall]), "Hello!", False)

    assert [type(m).__name__ for m in model.shown[0]] == ["HumanMessage"]


def test_a_gate_spares_small_talk_the_search(store: RecallStore) -> None:
    model = said("You are welcome.", "Green tea.")
    recall = RecallMiddleware(RecallRetriever(store=store), gate=SearchGate())
    agent = create_agent(model, middleware=[recall])

    run(agent, "Thanks!", False, user_id="ann")
    run(agent, "What did I tell you about my tea?", False, user_id="ann")

    assert [type(m).__name__ for m in model.shown[0]] == ["HumanMessage"]
    assert "Green tea" in model.shown[1][0].text
