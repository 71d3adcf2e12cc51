"""Any other store: its settings, what it is never asked for, and what is said where it cannot."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from faces.adapters import Face, both, once
from faces.conftest import NOW
from faces.other_stores import (
    ANN,
    Fixed,
    FixedIndex,
    documents_of,
    nodes_of,
    open_store,
    rows,
)
from tables import table

from recall_retrievers.core.errors import (
    ForeignCollectionError,
    SettingsError,
    StoreError,
)

pytestmark = pytest.mark.filterwarnings("ignore:builtin type .* has no __module__")  # FAISS's own

Open = Callable[..., Any]


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
        ({"source": "a store"}, "source"),
        ({"push_down": "sql"}, 'push_down must be "auto", "qdrant", .* got \'sql\''),
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
