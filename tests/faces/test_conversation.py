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


@once
def test_whom_the_question_names_and_who_only_answered(face: Face, words: Any) -> None:
    said = [("Ann", "Tea is what I drink."), ("Bob", "Tea is what I drink.")]
    chat = [("assistant", "Tea it is."), ("user", "Tea it is.")]
    with RecallStore(embedding=words) as store:
        store.add([{"author": a, "content": t, "id": a} for a, t in (*said, *chat)])
        retriever = face.RecallRetriever(store=store, k=4)
        anns = face.ask(retriever, "What tea does Bob drink?")
        mine = {each.id: each for each in face.ask(retriever, "tea")}

    assert anns[0].id == "Bob"
    assert anns[0].metadata["recall_author_ratio"] == 1.25
    assert mine["user"].score > mine["assistant"].score
    assert mine["assistant"].metadata["recall_author_ratio"] == 0.5
    assert "said by Bob" in face.explain_text(anns)


@once
def test_the_search_can_be_set(face: Face, words: Any) -> None:
    texts = {
        "a": "I like green tea with lemon and a little ginger in the afternoon when it rains",
        "b": "i like green tea with lemon and a little ginger in the afternoon, when it rains!",
        "c": "Green tea is sold at the harbour",
    }
    with RecallStore(embedding=words) as store:
        store.add([{"id": i, "content": t, "created_at": WHEN} for i, t in texts.items()])

        def ids(**settings: Any) -> list[str]:
            retriever = face.RecallRetriever(store=store, k=3, **settings)
            return [each.id for each in face.ask(retriever, "green tea with lemon")]

        assert ids() == ["a", "c"]
        assert ids(duplicate_threshold=None) == ["a", "b", "c"]
        assert ids(duplicate_threshold=None, mmr_lambda=0.3) == ["a", "c", "b"]
        assert ids(fusion="ranks") == ["a", "c"]
        for wrong in ({"fusion": "sum"}, {"mmr_lambda": 2}, {"duplicate_threshold": 0}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                ids(**wrong)
