"""RecallGraphStore: its items, and agents and langmem's tools on it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, langchain
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.store.base import PutOp
from langmem import create_manage_memory_tool, create_search_memory_tool

from langchain_recall import RecallGraphStore, RecallRetriever, RecallStore, ScopeError


@pytest.fixture
def store(words: WordsEmbedding) -> Iterator[RecallStore]:
    with RecallStore(embedding=words) as store:
        yield store


def test_pages_are_newest_first_and_repeat_nothing(store: RecallStore) -> None:
    items = RecallGraphStore(store)
    for number in range(5):
        items.put(("n",), str(number), {"content": f"note {number}"})
    items.put(("n",), "1", {"content": "note 1, changed"})

    pages = [items.search(("n",), limit=2, offset=offset) for offset in (0, 2, 4)]

    assert [[item.key for item in page] for page in pages] == [["1", "4"], ["3", "2"], ["0"]]
    changed = pages[0][0]
    assert changed.created_at < pages[0][1].created_at < changed.updated_at


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2024, 3, 5, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_a_question_finds_by_the_time_that_it_names(words: WordsEmbedding) -> None:
    clock = Clock()
    with RecallStore(embedding=words, clock=clock) as store:
        items = RecallGraphStore(store, timezone="UTC", time_mode="require")
        items.put(("ann",), "old", {"content": "The dentist filled a tooth."})
        clock.now += timedelta(days=2)
        items.put(("ann",), "new", {"content": "The dentist called."})
        clock.now += timedelta(days=1)

        found = items.search(("ann",), query="What did the dentist do last Tuesday?")

    assert [item.key for item in found] == ["old"]


def test_items_live_as_long_as_they_are_read(words: WordsEmbedding) -> None:
    clock = Clock()
    with RecallStore(embedding=words, clock=clock) as store:
        items = RecallGraphStore(store, ttl={"default_ttl": 60, "refresh_on_read": True})
        for key in ("read", "found", "left", "looked at"):
            items.put(("n",), key, {"content": f"tea, {key}"})
        items.put(("n",), "lasting", {"content": "tea, lasting"}, ttl=None)

        clock.now += timedelta(minutes=50)
        assert items.get(("n",), "read") is not None
        assert items.get(("n",), "looked at", refresh_ttl=False) is not None
        assert [item.key for item in items.search(("n",), query="found", limit=1)] == ["found"]
        clock.now += timedelta(minutes=20)

        assert {item.key for item in items.search(("n",), query="tea", refresh_ttl=False)} == {
            "read", "found", "lasting",
        }  # fmt: skip
        assert items.get(("n",), "left") is None
        assert store.purge() == 2
        clock.now += timedelta(minutes=50)
        assert [item.key for item in items.search(("n",))] == ["lasting"]


def test_a_background_sweep_is_refused(store: RecallStore) -> None:
    with pytest.raises(ValueError, match=r"call purge\(\)"):
        RecallGraphStore(store, ttl={"sweep_interval_minutes": 5})


def test_a_filter_that_admits_very_many_leaves_enough(store: RecallStore) -> None:
    items = RecallGraphStore(store)
    texts = ["tea time", "time for tea", *(f"tea and cake number {n}" for n in range(1_100))]
    items.batch([PutOp(("n",), str(n), {"content": x, "n": n}) for n, x in enumerate(texts)])

    [best] = items.search(("n",), query="tea time", limit=1)
    found = items.search(("n",), query="tea time", filter={"n": {"$ne": 0}}, limit=1)

    assert best.value["n"] == 0  # which the filter does not admit
    assert [(item.value["n"], item.score is not None) for item in found] == [(1, True)]


def test_what_is_not_indexed_comes_after_what_a_question_finds(store: RecallStore) -> None:
    items = RecallGraphStore(store)
    items.put(("n",), "hidden", {"content": "green tea"}, index=False)
    items.put(("n",), "other", {"content": "green tea", "about": "coffee"}, index=["about"])
    items.put(("n",), "plain", {"content": "green tea"})

    found = items.search(("n",), query="green tea")
    retrieved = RecallRetriever(store=store, k=3).invoke("green tea")

    assert [item.key for item in found] == ["plain", "other", "hidden"]
    assert [item.score is None for item in found] == [False, False, True]
    assert [document.page_content for document in retrieved] == ["green tea"]


def test_a_template_makes_the_scope_of_a_user(words: WordsEmbedding) -> None:
    with RecallStore(embedding=words, require_scope=("user_id",)) as store:
        items = RecallGraphStore(store, namespace=("memories", "{user_id}"))
        items.put(("memories", "ann"), "tea", {"content": "Ann likes tea."})
        items.put(("memories", "bob"), "tea", {"content": "Bob likes tea."})
        of_bob = RecallRetriever(store=store, scope={"user_id": "bob"}).invoke("Who likes tea?")

        assert [document.page_content for document in of_bob] == ["Bob likes tea."]
        assert [item.key for item in items.search(("memories", "ann"), query="tea")] == ["tea"]
        assert items.list_namespaces(prefix=("memories", "ann")) == [("memories", "ann")]
        with pytest.raises(ScopeError, match="must name user_id"):
            items.search(("memories",))
        with pytest.raises(ScopeError, match="must name user_id"):
            items.put(("elsewhere", "ann"), "tea", {"content": "tea"})


def test_views_of_two_users_keep_items_of_one_name_apart(store: RecallStore) -> None:
    ann, bob = (RecallGraphStore(store.for_scope(user_id=name)) for name in ("ann", "bob"))
    again = RecallGraphStore(store, scope={"user_id": "ann"})
    for items, text in ((ann, "Ann likes tea."), (bob, "Bob likes tea.")):
        items.put(("notes",), "1", {"content": text})

    assert ann.get(("notes",), "1") == again.get(("notes",), "1") != bob.get(("notes",), "1")
    assert [item.value["content"] for item in bob.search((), query="tea")] == ["Bob likes tea."]
    bob.delete(("notes",), "1")
    assert ann.list_namespaces() == [("notes",)]
    assert bob.list_namespaces() == []


def test_a_value_that_is_no_json_is_an_error(store: RecallStore) -> None:
    with pytest.raises(TypeError, match="the value of an item must be JSON"):
        RecallGraphStore(store).put(("n",), "1", {"at": datetime.now(UTC)})


NAMESPACE = ("memories", "{user_id}")


class ToolCaller(GenericFakeChatModel):
    def bind_tools(self, tools: Any, **kwargs: Any) -> "ToolCaller":
        return self


@pytest.fixture
def agents_store(words: WordsEmbedding) -> Iterator[RecallStore]:
    with RecallStore(embedding=words, require_scope=("user_id",)) as agents_store:
        yield agents_store


def run(face: Face, agent: Any, user: str) -> list[Any]:
    config = {"configurable": {"user_id": user}}
    return face.call(agent, "invoke", {"messages": [("user", "Hello.")]}, config)["messages"]


def calls(*asked: tuple[str, dict[str, Any]]) -> ToolCaller:
    """A model that calls these tools, one after the other, and then says that it is done."""
    replies = [
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": str(n)}])
        for n, (name, args) in enumerate(asked)
    ]
    return ToolCaller(messages=iter([*replies, AIMessage("Done.")]))


@langchain
def test_langmems_tools_store_find_change_and_forget(agents_store: RecallStore, face: Face) -> None:
    items = RecallGraphStore(agents_store, namespace=NAMESPACE)
    tools = [create_manage_memory_tool(NAMESPACE), create_search_memory_tool(NAMESPACE)]

    def agent(*asked: tuple[str, dict[str, Any]]) -> Any:
        return create_agent(calls(*asked), tools, store=items)

    tea = {"content": "Ann likes green tea.", "action": "create"}
    asked = ("search_memory", {"query": "Who likes tea?"})
    messages = run(face, agent(("manage_memory", tea), asked), "ann")
    [found] = json.loads(messages[4].content)
    of_bob = run(face, agent(asked), "bob")
    changed = {"content": "Ann likes coffee.", "action": "update", "id": found["key"]}
    run(face, agent(("manage_memory", changed)), "ann")
    retriever = RecallRetriever(store=agents_store, scope={"user_id": "ann"})

    assert found["value"] == {"content": "Ann likes green tea."}
    assert json.loads(of_bob[2].content) == []
    assert [document.page_content for document in retriever.invoke("What does Ann like?")] == [
        "Ann likes coffee."
    ]

    run(face, agent(("manage_memory", {"action": "delete", "id": found["key"]})), "ann")
    assert agents_store.count(scope={"user_id": "ann"}) == 0


def test_a_recall_store_as_the_store_of_a_tool_is_an_error_that_names_ours(
    words: WordsEmbedding,
) -> None:
    named = r"no store of LangGraph; pass RecallGraphStore\(store\)"
    with RecallStore(embedding=words) as agents_store:
        with pytest.raises(AttributeError, match=named):
            create_manage_memory_tool(("notes",), store=agents_store).invoke({"content": "Tea."})  # type: ignore[arg-type]
        assert not hasattr(agents_store, "search")
