"""Any other store: one table of cases, its own search by words, its settings, what it cannot."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from faces.adapters import Face, both, once
from faces.cases import CASES as SHARED
from faces.cases import Case
from faces.conftest import NOW
from faces.other_stores import (
    ANN,
    KINDS,
    Fixed,
    FixedIndex,
    LangChainWords,
    Row,
    crowd,
    documents_of,
    nodes_of,
    open_store,
    possible,
    rows,
)
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from tables import table

from recall_retrievers.core.errors import (
    ForeignCollectionError,
    SettingsError,
    StoreError,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:builtin type .* has no __module__"),  # FAISS's own
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
]

Open = Callable[..., Any]


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def filled(postgres: Callable[[], int]) -> Callable[[str, Face], Any]:
    """Each kind of store is filled once for a framework; no case writes to it."""
    stores: dict[tuple[str, str], Any] = {}

    def store(kind: str, face: Face) -> Any:
        possible(kind, face)
        if (kind, face.package) not in stores:
            stores[kind, face.package] = open_store(kind, face, rows(), postgres)
        return stores[kind, face.package]

    return store


IDS = {text: memory_id for memory_id, text, _ in rows()}  # not every store hands ids out
ALIKE = {
    "a required time excludes",
    "the event time matches as the recorded time does",
    "a range handed in is taken instead of the words",
    "the scope of the retriever",
    "the scope of the call",
    "a call narrows the scope",
    "a filter",
    "a filter on the recorded time takes a date",
    "nothing in scope",
}
STREET = {"filter": {"#document": {"$contains": "Elm Street"}}}
CASES = [
    *(case for case in SHARED if case.name in ALIKE),
    Case("the nearest comes first", "Green tea in the morning", ["tea"], {"k": 1}),
    Case(
        "a named time is preferred",
        "the dentist in February",
        ["moved"],
        {"k": 1, "filter": {"memory_type": {"$ne": "insight"}}},
    ),
    Case("a named time does not exclude", "Green tea in February", ["tea"], {"k": 1}),
    Case("a filter on the text", "dentist", ["moved"], STREET),
]


@table("case", CASES, ids=lambda case: case.name)
def test_the_right_memories_come_back(
    filled: Callable[[str, Face], Any], kind: str, face: Face, case: Case
) -> None:
    settings = {"timestamp": NOW, "timezone": "UTC", **case.settings}
    retriever = face.RecallRetriever(store=filled(kind, face), **settings)

    found = [IDS[each.content] for each in face.ask(retriever, case.question, **case.options)]

    assert found[:1] == case.expected[:1]
    assert sorted(found) == sorted(case.expected)


@once
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


@once
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


@once
def test_the_searches_of_a_question_share_one_of_the_store(opened: Open, face: Face) -> None:
    source = opened()
    retriever = face.RecallRetriever(store=source, timestamp=NOW, **ANN)

    assert face.ask(retriever, "the filling last Tuesday", filter={"topic": "health"})
    assert len(source.embedding.queries) == 1


@once
def test_words_weigh_among_what_was_found_by_meaning(opened: Open, face: Face) -> None:
    near = [f"{'the ' * number}dentist of the town" for number in range(1, 9)]
    told = [*near, "the dentist of the town, the one in Quux and no other, and the big house there"]
    store = opened("in memory", [{"id": str(n), "content": text} for n, text in enumerate(told)])
    asked = "the dentist of the town in Quux"

    [hybrid] = face.ask(face.RecallRetriever(store=store, k=1, fetch_k=4), asked)
    [by_meaning] = face.ask(face.RecallRetriever(store=store, k=1, method="semantic"), asked)

    assert hybrid.id == "8"
    assert by_meaning.id != "8"


@both
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


@both
@pytest.mark.parametrize("kind", ["faiss", "pgvector", "qdrant"])
def test_what_must_hold_is_looked_for_behind_all_that_is_nearer(
    opened: Open, face: Face, kind: str
) -> None:
    opened_store = opened(kind, crowd(250))
    source = getattr(opened_store, "source", opened_store)  # a pgvector comes with its similarity
    whole, part = face.AnyStore(source=source), face.AnyStore(source=source, fetch_limit=220)

    for must in (
        ANN,
        {"filter": {"user_id": {"$ne": "bob"}}},
        {"time_range": ("2024-03-05", "2024-03-06"), "time_mode": "require"},
    ):
        far, near = (
            face.ask(face.RecallRetriever(store=store, timestamp=NOW, **must), "the dentist")
            for store in (whole, part)
        )
        assert [each.content.split()[0] for each in far] == ["He"]
        assert near == []  # the bound that was set


@once
def test_a_store_that_was_not_looked_through_wholly_says_so(face: Face, opened: Open) -> None:
    near = {"id": "near", "content": "the dentist", "scope": {"user_id": "ann"}}
    store = face.AnyStore(source=opened("in memory", [near, *crowd(20)]), fetch_limit=8)

    def ask(user: str) -> list[Any]:
        retriever = face.RecallRetriever(store=store, k=2, fetch_k=1, scope={"user_id": user})
        return face.ask(retriever, "the dentist", method="semantic")

    few, enough = ask("ann"), ask("bob")

    assert [each.id for each in few] == ["near"]
    assert few[0].metadata["recall_looked_through"] == 8
    assert (
        "only the first 8 memories of the store were looked through"
        in (few[0].metadata["recall_degraded"])
    )
    assert len(enough) == 2
    assert all("recall_looked_through" not in each.metadata for each in enough)


@both
def test_a_function_lets_the_store_search_deeper_and_never_wider(face: Face, opened: Open) -> None:
    seen = []

    def of(user: str) -> dict[str, Any]:
        if face.is_langchain:
            return {"filter": lambda document: document.metadata["user_id"] == user}
        return {"filters": MetadataFilters(filters=[MetadataFilter(key="user_id", value=user)])}

    def push_down(search: Any) -> dict[str, Any]:
        seen.append(search)
        return of("ann")

    store = face.AnyStore(
        source=opened("in memory", crowd(120)), push_down=push_down, fetch_limit=60
    )
    week = (datetime(2024, 3, 4, tzinfo=UTC), datetime(2024, 3, 11, tzinfo=UTC))
    settings = {"time_range": week, "time_mode": "require", "filter": {"user_id": {"$ne": "eve"}}}
    retriever = face.RecallRetriever(store=store, **settings)

    [ann] = face.ask(retriever, "the dentist", scope={"user_id": "ann"})
    bobs = face.ask(retriever, "the dentist", scope={"user_id": "bob"})

    assert ann.id == "ann"
    assert "recall_looked_through" not in ann.metadata
    assert bobs == []
    assert (seen[0].scope.user_id, seen[0].filter) == ("ann", settings["filter"])
    assert [(each.start, each.end) for each in seen[0].within] == [week]


@once
def test_a_store_that_refuses_so_many_says_what_bounds_them(face: Face) -> None:
    class Bounded(InMemoryVectorStore):
        def similarity_search_with_score(self, query: str, k: int = 4, **more: Any) -> Any:
            if k > 100:
                raise ValueError("top_k must be at most 100")
            return super().similarity_search_with_score(query, k, **more)

    source = Bounded(LangChainWords())
    source.add_documents(documents_of(rows()))
    bounded = face.AnyStore(source=source, fetch_limit=100)

    with pytest.raises(ValueError, match="top_k") as raised:
        face.ask(face.RecallRetriever(store=source), "Carla")

    assert "AnyStore(fetch_limit=...)" in raised.value.__notes__[0]
    assert face.ask(face.RecallRetriever(store=bounded), "Carla")


@both
def test_a_retriever_with_a_limit_of_its_own_says_so(face: Face, memories: list[Row]) -> None:
    source = (
        Fixed(documents=documents_of(memories))
        if face.is_langchain
        else (FixedIndex(nodes_of(memories)))
    )
    retriever = face.RecallRetriever(store=source, scope={"user_id": "bob"}, k=2)

    [bob] = face.ask(retriever, "dentist")

    assert bob.metadata["recall_looked_through"] == 6


@pytest.fixture
def memories() -> list[Row]:
    return rows()


@both
def test_the_own_search_by_words_is_used(face: Face, opened: Open, memories: list[Row]) -> None:
    by_words = [each for each in memories if each[0] in ("wedding", "bob")]
    fixed: Any = FixedIndex(nodes_of(by_words))
    if face.is_langchain:
        fixed = Fixed(documents=documents_of(by_words))
    stored = open_store("in memory", face, by_words, lambda: 0)
    for keyword in (fixed, stored):
        store = face.AnyStore(source=opened(), keyword=keyword)
        by_word = face.RecallRetriever(store=store, method="keyword")

        hybrid = face.ask(face.RecallRetriever(store=store), "Carla")
        words = face.ask(by_word, "Carla")
        mine = face.ask(by_word, "Carla", scope={"user_id": "ann"})

        assert "recall_degraded" not in hybrid[0].metadata
        found = {each.id for each in hybrid if "recall_keyword" in each.metadata}
        assert found == {each.id for each in words} == {"wedding", "bob"}
        assert [each.id for each in mine] == ["wedding"]


def test_a_function_may_be_the_search_by_words(
    face: Face, opened: Open, memories: list[Row]
) -> None:
    seen = []

    def search_words(search: Any) -> list[Any]:
        seen.append(search)
        [tea] = [each for each in memories if each[0] == "tea"]
        if face.is_langchain:
            return [(documents_of([tea])[0], 7.5)]
        return [NodeWithScore(node=nodes_of([tea])[0], score=7.5)]

    async def later(search: Any) -> list[Any]:
        return search_words(search)

    for function in (search_words, later) if face.is_async else (search_words,):
        store = face.AnyStore(source=opened(), keyword=function)
        retriever = face.RecallRetriever(store=store, method="keyword", fetch_k=9)
        [found] = face.ask(retriever, "tea", scope={"user_id": "ann"})
        assert found.metadata["recall_keyword"] == 7.5
        assert (seen[-1].text, seen[-1].scope.user_id) == ("tea", "ann")
        assert seen[-1].limit >= 9

    if not face.is_async:
        store = face.AnyStore(source=opened(), keyword=later)
        with pytest.raises(StoreError, match="keyword is an async function"):
            face.ask(face.RecallRetriever(store=store, method="keyword"), "tea")


@once
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


@both
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


@once
def test_documents_without_an_id_are_told_apart(face: Face) -> None:
    documents = documents_of(rows())
    bare = Fixed(documents=[each.model_copy(update={"id": None}) for each in documents])

    found = face.ask(face.RecallRetriever(store=bare, k=6), "anything")

    assert len({each.content for each in found}) == 6


@once
def test_it_is_searched_and_never_written(opened: Open, face: Face) -> None:
    retriever = face.RecallRetriever(store=opened())

    with pytest.raises(ForeignCollectionError, match="searched, never written"):
        retriever.store.add([])


@both
def test_memories_are_looked_up_by_id_where_the_store_can(opened: Open, face: Face) -> None:
    store = face.AnyStore(source=opened())
    unable = face.AnyStore(source=opened("vector retriever"))

    assert [each.content for each in store.get(["tea", "gone"])] == [rows()[3][1]]
    with pytest.raises(StoreError, match="by id"):
        unable.get(["tea"])


@once
def test_reflections_keep_their_weight_where_the_store_cannot_look_up_their_sources(
    opened: Open, face: Face
) -> None:
    reflection = {
        "id": "r",
        "content": "Ann drinks tea.",
        "memory_type": "reflection",
        "metadata": {"source_ids": ["gone"], "source_digests": ["0"]},
    }
    stages = [face.StaleReflections()]
    able, unable = (
        face.RecallRetriever(store=opened(kind, [reflection]), stages=stages)
        for kind in ("in memory", "vector retriever")
    )

    [stale] = face.ask(able, "Ann drinks tea.")
    [kept] = face.ask(unable, "Ann drinks tea.")

    assert (stale.score, kept.score) == (pytest.approx(0.5), pytest.approx(1.0))
    assert "looks up nothing by id" in kept.metadata["recall_degraded"]


@once
@table(
    ("wrong", "says"),
    [
        ({"fetch_limit": 0}, "fetch_limit must be at least 1; got 0"),
        ({"fetchlimit": 9}, "did you mean 'fetch_limit'"),
        ({"fields": {"user": "owner"}}, "no argument 'user'"),
        ({"push_down": "sql"}, "push_down must be a function; got 'sql'"),
    ],
    ids=str,
)
def test_wrong_settings_are_named(
    opened: Open, face: Face, wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(SettingsError, match=says):
        face.AnyStore(**{"source": opened(), **wrong})


@once
def test_a_retriever_takes_nothing_pushed_down(opened: Open, face: Face) -> None:
    with pytest.raises(SettingsError, match="push_down is for the search of a vector store"):
        face.AnyStore(source=opened("vector retriever"), push_down=lambda search: {})
