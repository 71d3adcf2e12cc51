"""RecallGraphStore against LangGraph's own store: the same operations, the same answers."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, langchain
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from tables import table

from langchain_recall import RecallGraphStore, RecallStore

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
