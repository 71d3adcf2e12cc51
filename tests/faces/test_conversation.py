"""Messages of both frameworks stored as one conversation, and asked for through either face."""

from typing import Any

import pytest
from faces.adapters import Face, once
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock

from recall_retrievers.store import RecallStore

WHEN = "2024-03-12T15:20:00Z"
LANGCHAIN = [
    SystemMessage("You are kind."),
    AIMessage("Which pets do you have at home?"),
    HumanMessage([{"type": "text", "text": "Three of them, all tabby."}]),
    ToolMessage("42", tool_call_id="1"),
]
LLAMAINDEX = [
    ChatMessage(role=MessageRole.SYSTEM, content="You are kind."),
    ChatMessage(role="assistant", content="Which pets do you have at home?"),
    ChatMessage(role="user", blocks=[TextBlock(text="Three of them, all tabby.")]),
    ChatMessage(role="tool", content="42"),
]
PLAIN = [
    {"role": "assistant", "content": "Which pets do you have at home?"},
    {"role": "user", "content": "Three of them, all tabby."},
]


@pytest.mark.parametrize("messages", [LANGCHAIN, LLAMAINDEX, PLAIN], ids=["lc", "li", "plain"])
def test_every_framework_says_the_same(words: Any, messages: list[Any]) -> None:
    with RecallStore(embedding=words) as store, RecallStore(embedding=words) as plain:
        ids = store.add_conversation(messages, created_at=WHEN)
        same = plain.add_conversation(PLAIN, created_at=WHEN)

        assert ids == same
        assert store.get(ids) == plain.get(ids)


def test_a_message_has_its_own_id_name_and_time(words: Any) -> None:
    message = HumanMessage(
        "Tea, please.", id="m1", name="Ann", additional_kwargs={"created_at": WHEN}
    )
    with RecallStore(embedding=words) as store:
        assert store.add_conversation([message]) == ["m1"]
        [kept] = store.get(["m1"])

    assert (kept.author, kept.created_at.isoformat()) == ("Ann", "2024-03-12T15:20:00+00:00")


@once
def test_an_answer_is_found_by_its_question(face: Face, words: Any) -> None:
    told = {"role": "user", "content": "I saw a tabby in the street once.", "id": "other"}
    with RecallStore(embedding=words) as store:
        _, answer = store.add_conversation(LANGCHAIN, created_at=WHEN)
        store.add_conversation([told], created_at="2024-01-01T00:00:00Z")
        retriever = face.RecallRetriever(store=store, method="keyword", k=1)
        found = face.ask(retriever, "Do I have tabby pets at home?")

    assert found[0].id == answer
    assert found[0].content == "Three of them, all tabby."
