"""RecallGraphStore: the answers of LangGraph's own store, its items, and langmem's tools on it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, langchain
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from langmem import create_manage_memory_tool, create_search_memory_tool
from tables import table

from langchain_recall import RecallGraphStore, RecallRetriever, RecallStore, ScopeError
from recall_retrievers.core.errors import FilterError, MemoryFormatError

ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("users", "ann"), "tea", {"content": "Ann likes green tea.", "stars": 3, "kind": "taste"}),
    (("users", "ann"), "dentist", {"content": "The dentist is on Elm Street.", "kind": "place"}),
    (("users", "ann", "work"), "boss", {"content": "Her boss is Eva.", "stars": 5}),
    (("users", "bob"), "tea", {"content": "Bob drinks tea.", "stars": 4.5, "kind": "taste"}),
    (("users", "bob"), "nested", {"who": {"name": "Bob", "age": 41}, "tags": ["a", "b"]}),
    (("notes",), "", {"content": "键 可以是空的", "done": True, "by": None}),
]

FILTERS: list[dict[str, Any]] = [
    {"kind": "taste"},
    {"stars": {"$gt": 3}, "kind": "taste"},
    {"kind": {"$ne": "taste"}},
    {"kind": {"$eq": "place"}},
    {"who": {"name": "Bob"}},
    {"who": {"age": {"$gte": 41, "$lt": 42}}},
    {"tags": ["a", "b"]},
    {"tags": ["a"]},
    {"done": 1},
    {"by": None},
]

LISTINGS: list[dict[str, Any]] = [
    {},
    {"prefix": ("users",)},
    {"prefix": ("users", "*", "work")},
    {"prefix": ("*", "ann")},
    {"suffix": ("bob",)},
    {"suffix": ("ann", "*")},
    {"prefix": ("users",), "suffix": ("work",)},
    {"max_depth": 1},
    {"prefix": ("users",), "max_depth": 2},
    {"limit": 2, "offset": 1},
    {"prefix": ("nobody",)},
]


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[InMemoryStore, RecallGraphStore]]:
    """LangGraph's store and ours, with the same items and the same embedding."""
    theirs = InMemoryStore(
        index={"dims": 256, "embed": WordsEmbedding().embed_documents, "fields": ["content"]}
    )
    with RecallStore(embedding=WordsEmbedding()) as memories:
        ours = RecallGraphStore(memories, fields=["content"])
        for store in (theirs, ours):
            store.batch([PutOp(*item) for item in ITEMS])
        yield theirs, ours


def seen(items: Any) -> Any:
    """What is compared of items; the order of a listing is each store's own."""
    return sorted((item.namespace, item.key, str(item.value)) for item in items)


@table("filter", FILTERS)
@pytest.mark.parametrize("prefix", [(), ("users",), ("users", "ann"), ("user",)])
@pytest.mark.parametrize("query", [None, "Who likes tea?"])
def test_a_filter_admits_what_it_admits_in_langgraphs_store(
    pair: Any, filter: dict[str, Any], prefix: tuple[str, ...], query: str | None
) -> None:
    theirs, ours = pair
    if any("$gt" in str(each) for each in filter.values()):
        prefix = ("users",)  # where LangGraph's own store does not raise on a missing key
        theirs = InMemoryStore()
        theirs.batch([PutOp(*item) for item in ITEMS if filter.keys() <= item[2].keys()])
        query = None

    found = ours.search(prefix, filter=filter, query=query)

    assert seen(found) == seen(theirs.search(prefix, filter=filter, query=query))


@table(
    ("value", "filter"),
    [
        ({f"f{n}": n for n in range(12)}, {"f11": 11}),
        ({"a name that is longer than twenty": "x"}, {"a name that is longer than twenty": "x"}),
        ({"big": 10**400, "kind": "a"}, {"kind": "a"}),
        ({"text": "long " * 100}, {"text": "long " * 100}),
        ({"on": True, "n": 2, "m": 3}, {"on": 1, "n": {"$gte": 2, "$lt": 2.5}, "m": {"$ne": 2}}),
        ({"who": {"age": 41}}, {"who": {"age": {"$gt": 40}}}),
    ],
)
@pytest.mark.parametrize("query", [None, "x long"])
def test_a_filter_finds_an_item_whatever_its_value_is(
    shared: RecallStore, value: dict[str, Any], filter: dict[str, Any], query: str | None
) -> None:
    items, root = RecallGraphStore(shared), uuid4().hex
    items.put((root,), "other", {"text": "long " * 99, "kind": "b", "f11": 1, "on": 0, "n": 3})
    items.put((root,), "wanted", value)

    assert [item.key for item in items.search((root,), filter=filter, query=query)] == ["wanted"]


@table("listing", LISTINGS)
def test_namespaces_are_listed_as_in_langgraphs_store(pair: Any, listing: dict[str, Any]) -> None:
    theirs, ours = pair

    assert ours.list_namespaces(**listing) == theirs.list_namespaces(**listing)


@langchain
def test_a_batch_answers_in_the_order_of_its_operations(pair: Any, face: Face) -> None:
    ops = [
        GetOp(("users", "ann"), "tea"),
        SearchOp(("users",), {"kind": "place"}),
        GetOp(("users",), "nobody"),
        ListNamespacesOp((MatchCondition("prefix", ("notes",)),)),
        PutOp(("users", "ann"), "dentist", ITEMS[1][2]),
        SearchOp(("users", "bob"), query="tea", limit=1),
    ]

    def answers(store: Any) -> list[Any]:
        results = face.call(store, "batch", ops)
        listed = [each if isinstance(each, list) else [each] for each in results]
        return [[getattr(part, "value", part) for part in each] for each in listed]

    theirs, ours = pair
    assert answers(ours) == answers(theirs)


@langchain
def test_of_several_operations_on_an_item_the_last_one_counts(pair: Any, face: Face) -> None:
    place = (f"batch {face}",)
    ops = [
        *(PutOp(place, "twice", {"n": n}) for n in (1, 2)),
        *(PutOp(place, "gone", value) for value in ({"n": 1}, None)),
        *(PutOp(place, "back", value) for value in (None, {"n": 3})),
    ]

    def left(store: Any) -> Any:
        face.call(store, "batch", ops)
        return seen(store.search(place))

    theirs, ours = pair
    assert left(ours) == left(theirs) != []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "", "ü", 'q"\n']),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=5,
)
VALUES = st.dictionaries(st.sampled_from(["kind", "stars", "x"]), JSON, max_size=3)
NAMESPACES = st.lists(st.sampled_from(["a", "b", "*", "a/b"]), max_size=2).map(tuple)
KEYS = st.sampled_from(["1", "2", "a..b"])
OPS = st.one_of(
    st.tuples(st.just("put"), NAMESPACES, KEYS, VALUES),
    st.tuples(st.just("get"), NAMESPACES, KEYS),
    st.tuples(st.just("delete"), NAMESPACES, KEYS),
    st.tuples(st.just("search"), NAMESPACES, VALUES),
    st.tuples(
        st.just("list"), NAMESPACES, st.sampled_from(["prefix", "suffix"]), st.integers(1, 3)
    ),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[RecallStore]:
    """One collection for all examples of a property: each has a namespace of its own."""
    with RecallStore(embedding=WordsEmbedding(8)) as store:
        yield store


@settings(max_examples=25)
@given(ops=st.lists(OPS, min_size=3, max_size=12))
def test_any_operations_have_the_answers_of_langgraphs_store(shared: RecallStore, ops: Any) -> None:
    root = uuid4().hex
    theirs, ours = InMemoryStore(), RecallGraphStore(shared)

    def answer(store: Any, op: str, namespace: Any, *rest: Any) -> Any:
        place = (root, *namespace)
        if op == "put":
            return store.put(place, *rest)
        if op == "get":
            found = store.get(place, *rest)
            return found and (found.namespace, found.key, found.value)
        if op == "delete":
            return store.delete(place, *rest)
        if op == "search":
            return seen(store.search(place, filter=rest[0], limit=100))
        kind, depth = rest
        asked = {"prefix": place} if kind == "prefix" else {"prefix": (root,), "suffix": namespace}
        return store.list_namespaces(**asked, max_depth=depth)

    for op in ops:
        for namespace in [each for each, items in theirs._data.items() if not items]:
            del theirs._data[namespace]  # it lists what was emptied, or only looked at
        assert answer(ours, *op) == answer(theirs, *op), op


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
    items, deep = RecallGraphStore(store), {"x": 1}
    for _ in range(5_000):
        deep = {"x": deep}
    with pytest.raises(TypeError, match="the value of an item must be JSON"):
        items.put(("n",), "1", {"at": datetime.now(UTC)})
    with pytest.raises(MemoryFormatError, match="the value of item '1' is nested too deep"):
        items.put(("n",), "1", deep)
    with pytest.raises(FilterError, match="200 conditions"):
        items.search(("n",), filter={f"k{n}": n for n in range(201)})


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
