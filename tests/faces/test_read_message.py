"""Messages of both frameworks: stored as a conversation, and read where they are no memory yet."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from faces.adapters import Face, once
from faces.conftest import NOW
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from tables import table

from recall_retrievers.store import RecallStore

ROWS = [
    ("user", "Ann's train is late.", {"timestamp": "2024-03-08T11:00:00Z"}),
    ("assistant", "By how much?", {"timestamp": "2024-03-08T11:00:05Z"}),
    ("user", "Bob is late too.", {"timestamp": "2024-03-08T10:00:00Z"}),
    ("user", "Ann likes tea.", {"timestamp": "2024-03-08T09:00:00Z", "memorized": True}),
]


SAID = ["Bob is late too.", "Ann's train is late.", "By how much?"]


QUESTION = "the dentist last Tuesday"


def plain() -> list[Any]:
    return [{"role": role, "content": text, **more} for role, text, more in ROWS]


def nodes() -> list[ChatMessage]:
    return [ChatMessage(text, role=role, additional_kwargs=dict(m)) for role, text, m in ROWS]


def history() -> InMemoryChatMessageHistory:
    kinds = {"user": HumanMessage, "assistant": AIMessage}
    said = [kinds[role](text, additional_kwargs=dict(more)) for role, text, more in ROWS]
    return InMemoryChatMessageHistory(messages=said)


class HistoryInADatabase(InMemoryChatMessageHistory):
    """It has a further method, as that of langchain-postgres."""

    def get_messages(self) -> list[Any]:
        return self.messages


def groups() -> list[Any]:
    marked = [
        {"role_name": role, "content": text, "time_created": m["timestamp"], "metadata": {**m}}
        for role, text, m in ROWS
    ]
    return [marked[:2], marked[2:]]


def chat_store() -> SimpleChatStore:
    return SimpleChatStore(store={"ann": nodes(), "carla": [ChatMessage("I am Carla.")]})


def new_memory() -> Memory:
    memory = Memory.from_defaults(session_id="s1")
    memory.put_messages(nodes())
    return memory


SOURCES: dict[str, Callable[[], Any]] = {
    "a list": plain,
    "groups, as the seed has them": groups,
    "a list of LlamaIndex messages": nodes,
    "a LangChain chat history": history,
    "a LangChain chat history with a method": lambda: HistoryInADatabase(**vars(history())),
    "a LlamaIndex chat store": chat_store,
    "a LlamaIndex buffer": lambda: ChatMemoryBuffer.from_defaults(chat_history=nodes()),
    "a LlamaIndex memory": new_memory,
    "a function": lambda: plain,
}


@once
@table("name", SOURCES)
def test_it_joins_the_memories_from_wherever_it_is(
    store: RecallStore, face: Face, name: str
) -> None:
    joining = face.ReadMessage(source=SOURCES[name](), key="ann")
    asked = {"store": store, "timestamp": NOW, "timezone": "UTC", "k": 2}

    alone = face.ask(face.RecallRetriever(**asked), QUESTION)
    stages = [face.ExtractTime(), face.FuseRerank(), joining]
    found = face.ask(face.RecallRetriever(**asked, stages=stages), QUESTION)

    assert found[:2] == alone
    assert [each.content for each in found[2:]] == SAID
    assert len({each.id for each in found}) == 5
    for each in found[2:]:
        assert each.score is None
        assert each.metadata["memory_type"] == "message"
        assert each.metadata["recall_source"] == "messages"
    assert found[3].metadata["created_at"] == "2024-03-08T11:00:00+00:00"
    assert "of the messages: no memory yet" in face.explain_text(found)
    again = face.ask(face.RecallRetriever(**asked, stages=stages), QUESTION)
    assert again == found  # the source is as it was
    assert face.refine(joining, [], "x") == []


NAMED = [{**row, "name": name} for row, name in zip(plain(), ["Ann", "", "Bob", ""], strict=True)]
NO_TURNS = [("user", "Hello."), ("tool", "42"), ("system", "Be kind.")]
UNTIMED = [("user", "one"), ("user", "two"), {"content": "three", "created_at": "2020-01-01"}]


@once
@table(
    ("messages", "settings", "expected"),
    [
        (plain(), {}, SAID),
        (plain(), {"contextual_msg_max_count": 2}, SAID[1:]),
        (plain(), {"target_name": "Ann"}, SAID[1:2]),
        (plain(), {"target_name": "bob"}, SAID[:1]),
        (plain(), {"target_name": "user"}, []),
        (plain(), {"target_name": "Nobody"}, []),
        (NAMED, {"target_name": "Bob"}, ["Bob is late too."]),
        (NO_TURNS, {"contextual_msg_max_count": 1}, ["Hello."]),
        (UNTIMED, {}, ["one", "two", "three"]),  # without times the order stays
    ],
    ids=str,
)
def test_which_messages(
    face: Face, messages: list[Any], settings: dict[str, Any], expected: list[str]
) -> None:
    before = copy.deepcopy(messages)

    assert [each.content for each in face.ReadMessage(**settings).read(messages)] == expected
    assert messages == before


@once
def test_the_messages_of_the_call(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(
        store=store, k=1, stages=[face.ReadMessage()], scope={"user_id": "ann"}
    )
    said = [
        SystemMessage("You are kind."),
        HumanMessage("Ann is afraid of the dentist."),  # a memory says so already
        AIMessage("Why?"),
        ToolMessage("42", tool_call_id="1"),
    ]

    found = face.ask(retriever, "Who is afraid of the dentist?", messages=said)

    again = [*said, HumanMessage("Who is afraid of the dentist?")]  # the question is no news

    assert face.ask(retriever, "Who is afraid of the dentist?", messages=again) == found
    assert [each.content for each in found] == ["Ann is afraid of the dentist.", "Why?"]
    assert found[1].metadata["user_id"] == "ann"
    assert face.ask(retriever, "Who is afraid of the dentist?") == found[:1]


@once
def test_what_is_stored_already_is_not_said_twice(face: Face, words: Any) -> None:
    """A turn has the id in the answer that `add_conversation` gives it."""
    said = plain()[:1]
    with RecallStore(embedding=words) as store:
        [stored] = store.add_conversation(said)
        retriever = face.RecallRetriever(store=store, stages=[face.ReadMessage(source=said)])

        assert [each.id for each in face.ask(retriever, "the train")] == [stored]


@once
def test_a_text_tells_of_them_too(store: RecallStore, face: Face) -> None:
    stages = [face.FuseRerank(), face.ReadMessage(source=plain()), face.PrintMemory()]
    retriever = face.RecallRetriever(store=store, k=1, stages=stages, timestamp=NOW)

    [text] = face.ask(retriever, "Who is afraid of the dentist?")

    assert text.content.startswith("Memory 1:\n  Content: Ann is afraid of the dentist.")
    assert "Memory 4:\n  Content: By how much?" in text.content


@once
def test_what_cannot_be_read_leaves_the_memories(store: RecallStore, face: Face) -> None:
    def down() -> Any:
        raise ConnectionError("the chat store is down")

    for source, why in [
        (down, "ReadMessage: ConnectionError: the chat store is down"),
        ([7], "ReadMessage: QueryError: the messages cannot be read: a message has a role"),
        ([{"content": "x", "timestamp": "soon"}], "ReadMessage: QueryError: the messages cannot"),
    ]:
        retriever = face.RecallRetriever(store=store, k=2, stages=[face.ReadMessage(source=source)])
        found = face.ask(retriever, "the dentist")

        assert len(found) == 2
        assert found[0].metadata["recall_degraded"].startswith(why)


@once
def test_what_is_no_source_is_refused(face: Face) -> None:
    with pytest.raises(ValueError, match=r"source must be a list of messages, .* got int"):
        face.ReadMessage(source=7)
    with pytest.raises(ValueError, match="got str"):
        face.ReadMessage().read("Hello")
    with pytest.raises(ValueError, match="say which one with key"):
        face.ReadMessage(source=chat_store())
    with pytest.raises(ValueError, match="contextual_msg_max_count"):
        face.ReadMessage(contextual_msg_max_count=0)
    with pytest.raises(face.RecallError, match="the messages cannot be read: a message has a role"):
        face.ReadMessage().read([7])


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
