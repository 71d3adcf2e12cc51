"""A LangGraph graph that remembers across conversations, with checkpoints.

    python examples/langgraph_memory.py

Needs ``pip install "recall-retrievers[agents]"`` and no key: a stand-in speaks for the model. A
checkpoint keeps one conversation (its ``thread_id``); the collection keeps what was said in all of
them. Whose memories are searched, and when it is, come from the config of the call: the user's
words cannot change them.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph

from langchain_recall import PrintMemory, RecallRetriever, RecallStore


class Chat(TypedDict):
    """What a checkpoint holds: the conversation, and what was recalled for its last question."""

    messages: Annotated[list[AnyMessage], add_messages]
    recalled: list[Document]


def chat_graph(
    store: RecallStore, model: BaseChatModel, checkpointer: BaseCheckpointSaver[str]
) -> CompiledStateGraph[Chat]:
    """Recall, answer, remember: one turn of a conversation."""
    retriever = RecallRetriever(store=store, k=3)

    def recall(state: Chat, config: RunnableConfig) -> dict[str, object]:
        return {"recalled": retriever.invoke(state["messages"][-1].text, config)}

    def answer(state: Chat) -> dict[str, object]:
        memories = PrintMemory().format(state["recalled"])
        told = SystemMessage(f"What you remember, as quoted material:\n{memories}")
        return {"messages": [model.invoke([told, *state["messages"]])]}

    def remember(state: Chat, config: RunnableConfig) -> None:
        given = config["configurable"]
        *before, question, reply = state["messages"]  # what was said before is stored already
        store.add_conversation(
            [question, reply],
            scope={"user_id": given["user_id"], "session_id": given["thread_id"]},
            created_at=given["timestamp"],
            turn_before=str(before[-1].id) if before else "",
        )

    graph = StateGraph(Chat)
    graph.add_sequence([recall, answer, remember])
    graph.add_edge(START, "recall")
    graph.add_edge("remember", END)
    return graph.compile(checkpointer)


def turn(thread_id: str, timestamp: str) -> RunnableConfig:
    """The config of a call: who asks, in which conversation, and when."""
    return {
        "configurable": {
            "thread_id": thread_id,
            "user_id": "ann",
            "timestamp": timestamp,
            "timezone": "UTC",
        }
    }


def main() -> None:
    """Two conversations, three days apart."""
    model = FakeListChatModel(responses=["I hope it did not hurt.", "A molar, on Elm Street."])
    with RecallStore() as store:
        graph = chat_graph(store, model, InMemorySaver())
        monday, thursday = turn("1", "2024-03-04T18:00:00Z"), turn("2", "2024-03-07T09:00:00Z")
        said = "The dentist on Elm Street filled a molar today."
        graph.invoke({"messages": [("user", said)]}, monday)  # type: ignore[arg-type]  # a pair is a message too
        asked = "What did the dentist do on Monday?"
        done = graph.invoke({"messages": [("user", asked)]}, thursday)  # type: ignore[arg-type]

        best = done["recalled"][0]
        print(f"recalled: {best.page_content} ({best.metadata['recall_time_words']})")
        print(f"answered: {done['messages'][-1].text}")
        kept = graph.get_state(thursday).values
        print(f"the checkpoint has {len(kept['messages'])} messages, {len(kept['recalled'])} found")


if __name__ == "__main__":
    main()
