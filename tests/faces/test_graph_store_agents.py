"""Agents and langmem's tools on a RecallGraphStore; and on a RecallStore, which is none."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import WordsEmbedding
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langmem import create_manage_memory_tool, create_search_memory_tool

from langchain_recall import RecallGraphStore, RecallRetriever, RecallStore

NAMESPACE = ("memories", "{user_id}")


class ToolCaller(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **kwargs: Any) -> "ToolCaller":
        return self


@pytest.fixture
def store(words: WordsEmbedding) -> Iterator[RecallStore]:
    with RecallStore(embedding=words, require_scope=("user_id",)) as store:
        yield store


def run(agent: Any, user: str, is_async: bool) -> list[Any]:
    config = {"configurable": {"user_id": user}}
    given = {"messages": [("user", "Hello.")]}
    if is_async:
        return asyncio.run(agent.ainvoke(given, config))["messages"]
    return agent.invoke(given, config)["messages"]


def calls(*asked: tuple[str, dict[str, Any]]) -> ToolCaller:
    """A model that calls these tools, one after the other, and then says that it is done."""
    replies = [
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": str(n)}])
        for n, (name, args) in enumerate(asked)
    ]
    return ToolCaller(messages=iter([*replies, AIMessage("Done.")]))


@pytest.mark.parametrize("is_async", [False, True])
def test_langmems_tools_store_find_change_and_forget(store: RecallStore, is_async: bool) -> None:
    items = RecallGraphStore(store, namespace=NAMESPACE)
    tools = [create_manage_memory_tool(NAMESPACE), create_search_memory_tool(NAMESPACE)]

    def agent(*asked: tuple[str, dict[str, Any]]) -> Any:
        return create_agent(calls(*asked), tools, store=items)

    tea = {"content": "Ann likes green tea.", "action": "create"}
    messages = run(
        agent(("manage_memory", tea), ("search_memory", {"query": "Who likes tea?"})),
        "ann",
        is_async,
    )
    [found] = json.loads(messages[4].content)
    of_bob = run(agent(("search_memory", {"query": "Who likes tea?"})), "bob", is_async)
    changed = {"content": "Ann likes coffee.", "action": "update", "id": found["key"]}
    run(agent(("manage_memory", changed)), "ann", is_async)
    retriever = RecallRetriever(store=store, scope={"user_id": "ann"})

    assert found["value"] == {"content": "Ann likes green tea."}
    assert json.loads(of_bob[2].content) == []
    assert [document.page_content for document in retriever.invoke("What does Ann like?")] == [
        "Ann likes coffee."
    ]

    run(agent(("manage_memory", {"action": "delete", "id": found["key"]})), "ann", is_async)
    assert store.count(scope={"user_id": "ann"}) == 0


def test_langmems_tools_work_outside_of_a_graph(words: WordsEmbedding) -> None:
    with RecallStore(embedding=words) as store:
        items = RecallGraphStore(store)
        create_manage_memory_tool(("notes",), store=items).invoke({"content": "Ann likes tea."})
        found = create_search_memory_tool(("notes",), store=items).invoke({"query": "tea"})

    assert [item["value"]["content"] for item in json.loads(found)] == ["Ann likes tea."]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_tool_reads_the_store_of_its_agent(words: WordsEmbedding, is_async: bool) -> None:
    @tool
    def favourite(runtime: ToolRuntime) -> str:
        """The drink of the user."""
        item = runtime.store.get(("drinks",), "ann")
        return "none" if item is None else item.value["drink"]

    with RecallStore(embedding=words) as store:
        items = RecallGraphStore(store)
        items.put(("drinks",), "ann", {"drink": "tea"})
        messages = run(
            create_agent(calls(("favourite", {})), [favourite], store=items), "a", is_async
        )

    assert messages[2].content == "tea"


def test_a_recall_store_as_the_store_of_a_tool_is_an_error_that_names_ours(
    words: WordsEmbedding,
) -> None:
    named = r"no store of LangGraph; pass RecallGraphStore\(store\)"
    with RecallStore(embedding=words) as store:
        with pytest.raises(AttributeError, match=named):
            create_manage_memory_tool(("notes",), store=store).invoke({"content": "Tea."})  # type: ignore[arg-type]
        assert not hasattr(store, "search")
