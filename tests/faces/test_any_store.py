"""Other stores than ours in its place: one table of cases for all of them, in both faces."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from faces import postgres as server
from faces.adapters import FACES, Face
from faces.conftest import NOW
from faces.other_stores import (
    KINDS,
    Fixed,
    FixedIndex,
    documents_of,
    nodes_of,
    open_store,
    rows,
)
from pydantic import ValidationError

from recall_stages.errors import ForeignCollectionError, QueryError, StoreError

pytestmark = pytest.mark.filterwarnings("ignore:builtin type .* has no __module__")  # FAISS's own

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Callable[[], int]]:
    """The port of a PostgreSQL with pgvector; it starts for the first that asks."""
    with ExitStack() as running:
        ports: list[int] = []

        def port() -> int:
            programs = server.binaries()
            if programs is None:
                pytest.skip("no PostgreSQL with pgvector: neither Debian's packages nor the wheel")
            if not ports:
                ports.append(running.enter_context(server.running(programs)))
            return ports[0]

        yield port


@pytest.fixture
def opened(face: Face, postgres: Callable[[], int]) -> Open:
    def fill(kind: str = "in memory", memories: Sequence[Any] | None = None) -> Any:
        return open_store(kind, face, rows() if memories is None else rows(memories), postgres)

    return fill


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def filled(postgres: Callable[[], int]) -> Callable[[str, Face], Any]:
    """Each kind of store is filled once for a framework; no case writes to it."""
    stores: dict[tuple[str, str], Any] = {}

    def store(kind: str, face: Face) -> Any:
        if (kind, face.package) not in stores:
            stores[kind, face.package] = open_store(kind, face, rows(), postgres)
        return stores[kind, face.package]

    return store


@dataclass(frozen=True)
class Case:
    """A question, what is set, and which memories come back; the first of them comes first."""

    name: str
    question: str
    expected: list[str]
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


IDS = {text: memory_id for memory_id, text, _ in rows()}  # not every store hands ids out
ANN = {"scope": {"user_id": "ann"}}
CASES = [
    Case("the nearest comes first", "Green tea in the morning", ["tea"], {"k": 1}),
    Case("the scope of the retriever", "dentist", ["bob"], {"scope": {"user_id": "bob"}}),
    Case("the scope of the call", "dentist", ["bob"], options={"scope": {"user_id": "bob"}}),
    Case("nothing in scope", "dentist", [], {"scope": {"user_id": "nobody"}}),
    Case("a call narrows the scope", "dentist", ["fear"], ANN, {"scope": {"agent_id": "helper"}}),
    Case(
        "a required time excludes",
        "the filling in my tooth last Tuesday",
        ["filling", "tea"],
        {**ANN, "time_mode": "require"},
    ),
    Case(
        "the event time matches as the recorded time does",
        "the wedding last Saturday",
        ["wedding"],
        {"time_mode": "require"},
    ),
    Case(
        "a range handed in",
        "the dentist",
        ["moved"],
        {"time_mode": "require", "time_range": ("2024-02-01", "2024-02-02")},
    ),
    Case(
        "a named time is preferred",
        "the dentist in February",
        ["moved"],
        {"k": 1, "filter": {"memory_type": {"$ne": "insight"}}},
    ),
    Case("a named time does not exclude", "Green tea in February", ["tea"], {"k": 1}),
    Case(
        "a filter",
        "the dentist moved",
        ["moved", "filling"],
        {"filter": {"topic": "health", "stars": {"$gte": 3}}},
    ),
    Case(
        "a filter on the recorded time takes a date",
        "dentist",
        ["fear"],
        {"filter": {"created_at": {"$lt": "2024-01-01T00:00:00Z"}}},
    ),
    Case(
        "a filter on the text",
        "dentist",
        ["moved"],
        {"filter": {"#document": {"$contains": "Elm Street"}}},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_right_memories_come_back(
    filled: Callable[[str, Face], Any], kind: str, face: Face, case: Case
) -> None:
    settings = {"timestamp": NOW, "timezone": "UTC", **case.settings}
    retriever = face.RecallRetriever(store=filled(kind, face), **settings)

    found = [IDS[each.content] for each in face.ask(retriever, case.question, **case.options)]

    assert found[:1] == case.expected[:1]
    assert sorted(found) == sorted(case.expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_store_gives_the_same_memories_in_both_faces(
    filled: Callable[[str, Face], Any], case: Case
) -> None:
    settings = {"timestamp": NOW, "timezone": "UTC", **case.settings}
    answers = [
        [
            each.id
            for each in face.ask(
                face.RecallRetriever(store=filled("in memory", face), **settings),
                case.question,
                **case.options,
            )
        ]
        for face in FACES
    ]

    assert all(answer == answers[0] for answer in answers)


def test_results_keep_what_they_were_and_say_how_their_score_came_about(
    opened: Open, face: Face
) -> None:
    store = opened()
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=6)

    once = face.ask(retriever, "the filling last Tuesday")
    again = face.ask(retriever, "the filling last Tuesday")

    filling = next(each for each in once if each.id == "filling")
    assert filling.metadata["topic"] == "health"
    assert filling.metadata["recall_time_words"] == "last Tuesday"
    assert 0 < filling.metadata["recall_similarity"] <= 1
    assert once == again  # what the store keeps has not been written on
    assert "in words" not in str(face.explain_text(once))


def test_a_store_without_words_says_so_in_the_trace(opened: Open, face: Face) -> None:
    store = opened()
    hybrid = face.ask(face.RecallRetriever(store=store), "dentist")
    semantic = face.ask(face.RecallRetriever(store=store, method="semantic"), "dentist")

    said = "Retrieve: the store cannot be searched for words: they weigh only among what was found"
    assert all(each.metadata["recall_degraded"].startswith(said) for each in hybrid)
    assert all(each.metadata["recall_keyword_pool"] == 6 for each in hybrid)
    assert "recall_degraded" not in semantic[0].metadata
    with pytest.raises(StoreError, match="cannot be searched for words"):
        face.ask(face.RecallRetriever(store=store, method="keyword"), "dentist")


def test_words_weigh_among_what_was_found_by_meaning(opened: Open, face: Face) -> None:
    near = [f"{'the ' * number}dentist of the town" for number in range(1, 9)]
    told = [*near, "the dentist of the town, the one in Quux and no other, and the big house there"]
    store = opened("in memory", [{"id": str(n), "content": text} for n, text in enumerate(told)])
    asked = "the dentist of the town in Quux"

    [hybrid] = face.ask(face.RecallRetriever(store=store, k=1, fetch_k=4), asked)
    [by_meaning] = face.ask(face.RecallRetriever(store=store, k=1, method="semantic"), asked)

    assert hybrid.id == "8"
    assert by_meaning.id != "8"


def test_distances_are_ranks_and_can_be_made_similarities(opened: Open, face: Face) -> None:
    store = opened("faiss")
    asked = "Green tea is what Ann drinks in the morning."
    ranked = face.ask(face.RecallRetriever(store=store), asked)
    known = face.AnyStore(source=store, similarity=lambda squared: 1 - squared / 2)
    similar = face.ask(face.RecallRetriever(store=known, threshold_score=0.9), asked)

    assert 0 < ranked[0].metadata["recall_nearness"] <= 1
    assert "recall_similarity" not in ranked[0].metadata
    assert [IDS[each.content] for each in similar] == ["tea"]
    assert similar[0].metadata["recall_similarity"] == pytest.approx(1, abs=1e-4)
    with pytest.raises(StoreError, match="threshold_score compares similarities"):
        face.ask(face.RecallRetriever(store=store, threshold_score=0.9), asked)


def crowd(others: int) -> list[dict[str, Any]]:
    """One memory of Ann's behind many of others that are nearer to the question."""
    theirs = [
        {
            "id": f"bob{number}",
            "content": f"the dentist {number}",
            "created_at": "2024-02-01T09:00:00Z",
            "scope": {"user_id": "bob"},
        }
        for number in range(others)
    ]
    mine = {
        "id": "ann",
        "content": "He filled a tooth of mine, the dentist on Elm Street.",
        "created_at": "2024-03-05T09:00:00Z",
        "scope": {"user_id": "ann"},
    }
    return [*theirs, mine]


@pytest.mark.parametrize(
    "settings",
    [ANN, {"filter": {"user_id": "ann"}}, {"time_range": ("2024-03-05", "2024-03-06")}],
    ids=["scope", "filter", "time"],
)
def test_what_must_hold_is_looked_for_behind_all_that_is_nearer(
    opened: Open, face: Face, settings: dict[str, Any]
) -> None:
    source = opened("in memory", crowd(120))
    whole, part = (face.AnyStore(source=source, fetch_limit=limit) for limit in (1000, 100))
    settings = {"time_mode": "require", "timestamp": NOW, **settings}

    far = face.ask(face.RecallRetriever(store=whole, **settings), "the dentist")
    near = face.ask(face.RecallRetriever(store=part, **settings), "the dentist")

    assert [each.id for each in far] == ["ann"]
    assert near == []  # the bound that was set


def test_a_scope_may_be_pushed_down_and_is_checked_all_the_same(opened: Open, face: Face) -> None:
    from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

    def rightly(scope: Any) -> dict[str, Any]:
        if face.is_langchain:
            return {"filter": lambda document: document.metadata["user_id"] == scope.user_id}
        return {"filters": MetadataFilters(filters=[MetadataFilter(key="user_id", value="ann")])}

    def wrongly(scope: Any) -> dict[str, Any]:
        return {}

    source = opened("in memory", crowd(120))
    for push_down in (rightly, wrongly):
        store = face.AnyStore(source=source, fetch_limit=60, push_down=push_down)
        found = face.ask(face.RecallRetriever(store=store, **ANN), "the dentist")
        assert [each.id for each in found] == (["ann"] if push_down is rightly else [])


def test_other_names_are_mapped(opened: Open, face: Face) -> None:
    stored = [
        (
            "1",
            "see text",
            {"note": "Tea at four.", "owner": "ann", "date": 1709632800, "kind": "x"},
        ),
        ("2", "see text", {"note": "No tea.", "owner": "bob", "user_id": "ann"}),
    ]
    source = open_store("in memory", face, stored, lambda: 0)
    fields = {"content": "note", "user_id": "owner", "created_at": "date", "memory_type": "kind"}
    store = face.AnyStore(source=source, fields=fields)
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", **ANN)

    found = face.ask(retriever, "see the tea last Tuesday")
    kept = face.ask(
        retriever, "see the tea", filter={"date": {"$gte": datetime(2024, 3, 5, tzinfo=UTC)}}
    )
    none = face.ask(
        retriever, "see the tea", filter={"date": {"$gte": datetime(2024, 3, 6, tzinfo=UTC)}}
    )

    assert [each.content for each in found] == ["Tea at four."]
    assert found[0].metadata["recall_time_match"] == "recorded"
    assert (found[0].metadata["owner"], found[0].metadata["memory_type"]) == ("ann", "x")
    assert [each.id for each in kept] == ["1"]
    assert none == []


def test_a_retriever_is_asked_as_it_is(face: Face) -> None:
    stored = rows()
    given: Any = (
        Fixed(documents=sorted(documents_of(stored), key=lambda each: str(each.id)))
        if face.is_langchain
        else FixedIndex(nodes_of(stored))
    )
    retriever = face.RecallRetriever(store=given, timestamp=NOW, timezone="UTC", **ANN)

    found = face.ask(retriever, "anything")
    by_time = face.ask(retriever, "anything last Tuesday", time_mode="require")

    assert {each.id for each in found} == {"fear", "filling", "moved", "tea", "wedding"}
    assert {each.id for each in by_time} == {"filling", "tea"}
    near = {each.id: each.metadata["recall_nearness"] for each in found}
    assert (near["fear"], near["filling"]) == (61 / 62, 61 / 63)  # Bob's is the first


def test_memories_without_an_id_are_told_apart(face: Face) -> None:
    documents = documents_of(rows())
    if not face.is_langchain:
        pytest.skip("a node always has an id")
    bare = Fixed(documents=[each.model_copy(update={"id": None}) for each in documents])

    found = face.ask(face.RecallRetriever(store=bare, k=6), "anything")

    assert len({each.content for each in found}) == 6


def test_it_is_searched_and_never_written(opened: Open, face: Face) -> None:
    retriever = face.RecallRetriever(store=opened())

    with pytest.raises(ForeignCollectionError, match="searched, never written"):
        retriever.store.add([])


def test_memories_are_looked_up_by_id_where_the_store_can(opened: Open, face: Face) -> None:
    store = face.AnyStore(source=opened())
    unable = face.AnyStore(source=opened("vector retriever"))

    assert [each.content for each in store.get(["tea", "gone"])] == [rows()[3][1]]
    with pytest.raises(StoreError, match="by id"):
        unable.get(["tea"])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"fetch_limit": 0}, "greater than or equal to 1"),
        ({"fetchlimit": 9}, "did you mean 'fetch_limit'"),
        ({"fields": {"user": "owner"}}, "no argument 'user'"),
        ({"source": "a store"}, "source"),
    ],
    ids=str,
)
def test_wrong_settings_are_named(
    opened: Open, face: Face, wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValidationError, match=says):
        face.AnyStore(**{"source": opened(), **wrong})


def test_a_retriever_takes_nothing_pushed_down(opened: Open, face: Face) -> None:
    with pytest.raises(ValidationError, match="push_down is for the search of a vector store"):
        face.AnyStore(source=opened("vector retriever"), push_down=lambda scope: {})


def test_a_filter_that_cannot_match_is_an_error(opened: Open, face: Face) -> None:
    with pytest.raises((ValidationError, QueryError), match="condition is one of"):
        face.RecallRetriever(store=opened(), filter={"a": {"$like": "x"}})
