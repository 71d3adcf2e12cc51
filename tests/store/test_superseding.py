"""One memory takes the place of another, on every kind of store; nothing is lost on the way."""

import sys
from datetime import timedelta
from typing import Any

import chromadb
import pytest
from store.kit import NOON, SmallEmbedding, best, ids
from tables import table

from recall_retrievers.core.errors import (
    MissingMemoryError,
    ScopeError,
    SettingsError,
    SupersededError,
)
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore

DAY = timedelta(days=1)
ANN = {"user_id": "ann"}


def tea(name: str, day: int, **fields: Any) -> dict[str, Any]:
    return {"id": name, "content": f"tea {name}", "created_at": NOON + day * DAY, **fields}


def chain(store: RecallStore) -> None:
    """Three memories of Ann: green, then black, then white; and one of Bob."""
    store.add([tea("green", 0, scope=ANN), tea("bobs", 0, user_id="bob")])
    store.supersede("green", tea("black", 2))
    store.supersede("black", tea("white", 4))


def test_a_call_that_was_killed_can_be_repeated(
    in_memory: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory.add([tea("green", 0)])
    with monkeypatch.context() as broken:
        broken.setattr(chromadb.Collection, "upsert", lambda *_, **__: sys.exit())
        with pytest.raises(SystemExit):
            in_memory.supersede("green", "tea black")
    assert ids([*in_memory.memories()]) == ["green"]
    black = in_memory.supersede("green", "tea black")
    assert in_memory.supersede("green", "tea black") == black
    [first] = in_memory.memories()
    assert (first.id, in_memory.get(["green"])[0].superseded_at) == (black, first.created_at)


@pytest.mark.parametrize("first", ["rival", "black"])
def test_of_two_programs_that_supersede_one_memory_one_gets_an_error(
    monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Both have read it as current; the rival writes just before or just after."""
    client, upsert = chromadb.EphemeralClient(), chromadb.Collection.upsert

    def upserted(collection: chromadb.Collection, **rows: Any) -> None:
        if "black" not in rows["ids"]:
            return upsert(collection, **rows)
        new, old = rows["metadatas"]
        marked = {**old, "superseded_by": "rival"}
        rival = {**rows, "ids": ["rival", "green"], "metadatas": [new, marked]}
        for each in (rival, rows) if first == "rival" else (rows, rival):
            upsert(collection, **each)
        return None

    monkeypatch.setattr(chromadb.Collection, "upsert", upserted)
    with RecallStore(client, first, embedding=SmallEmbedding(), create=True) as store:
        store.add([tea("green", 0)])
        if first == "rival":
            with pytest.raises(SupersededError, match="supersede 'rival' instead"):
                store.supersede("green", tea("black", 3))
            assert ids(store.get(["green", "rival", "black"])) == ["green", "rival"]
        else:
            store.supersede("green", tea("black", 3))  # it is the rival that takes its own back
            assert ids(store.get(["green", "black"])) == ["green", "black"]
        assert store.get(["green"])[0].superseded_by == "rival"


def test_what_is_superseded_already_when_it_is_written_is_an_error() -> None:
    client = chromadb.EphemeralClient()

    class Beside(SmallEmbedding):
        """While our text is embedded, another program is quicker."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            if texts == ["tea black"]:
                raw = client.get_collection("beside", embedding_function=None)
                marks = {"superseded_by": "white", "superseded_at": 1_709_900_000_000}
                raw.update(ids=["green"], metadatas=[{**marks, "may_expire": True}])
            return super().embed_documents(texts)

    with RecallStore(client, "beside", embedding=Beside(), create=True) as store:
        store.add([tea("green", 0), tea("white", 1)])
        with pytest.raises(SupersededError, match="supersede 'white' instead"):
            store.supersede("green", tea("black", 3))
        assert ids(store.get(["green", "black"])) == ["green"]


@table(
    ("old", "new", "error", "said"),
    [
        ("green", "tea", SettingsError, "'green' is superseded; supersede 'white' instead"),
        ("white", tea("white", 5), SettingsError, "'white' cannot supersede itself"),
        ("pink", "tea", MissingMemoryError, "there is no memory 'pink'"),
        ("gone", "tea", MissingMemoryError, "there is no memory 'gone'"),
        (
            "white",
            {"content": "tea", "user_id": "bob"},
            ScopeError,
            "cannot supersede one of {'user_id': 'ann'}",
        ),
        ("white", {"content": "tea", "session_id": "s"}, ScopeError, "leave its scope out"),
        ("white", tea("bobs", 5), ScopeError, "'bobs' is there already, outside the scope"),
        ("white", {"content": " "}, ValueError, "content must hold some text"),
    ],
)
def test_what_cannot_be(small: SmallEmbedding, old: str, new: Any, error: Any, said: str) -> None:
    with RecallStore(embedding=small, clock=lambda: NOON + 9 * DAY) as store:
        chain(store)
        store.add([tea("gone", 0, expires_at=NOON + DAY)])
        before = [*store.memories(include_superseded=True)]
        with pytest.raises(error, match=said):
            store.supersede(old, new)
        with pytest.raises(MissingMemoryError):
            store.for_scope(user_id="bob").supersede("white", "tea")
        with pytest.raises(MissingMemoryError):
            store.supersede("white", "tea", scope={"user_id": "bob"})
        assert [*store.memories(include_superseded=True)] == before


def test_heirs_that_are_deleted_together_leave_no_link(in_memory: RecallStore) -> None:
    chain(in_memory)
    assert in_memory.for_scope(user_id="ann").delete(["black", "white"]) == 2
    assert in_memory.get(["green"])[0].superseded_by == ""


@pytest.mark.parametrize("end", ["superseded", "recorded later", "expired"])
def test_what_does_not_count_makes_room_on_a_server(
    cloud: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding, end: str
) -> None:
    """It would fill the rows that a call returns, so the server is told to leave it out."""
    then: dict[str, Any] = {"moment": NOON + 2 * DAY, "scope": Memory(content="x", scope=ANN).scope}
    fields: dict[str, Any] = {"superseded_at": NOON} if end == "superseded" else {}
    if end == "expired":
        fields, then = {"expires_at": NOON}, {**then, "include_superseded": True}
    if end == "recorded later":
        then["as_it_stood"] = True
    with RecallStore(cloud, collection_name, embedding=small, create=True) as store:
        late = 3 if end == "recorded later" else 0
        store.add(tea(f"{n:03}", late, content="tea", scope=ANN, **fields) for n in range(320))
        left = {"superseded_at": NOON} if end == "expired" else {}
        store.add(
            tea(f"left{n}", 0, content="a cup of tea is left", scope=ANN, **left)
            for n in range(120)  # vectors: more than the first question of a scope reads
        )
        for method in ("semantic", "keyword"):
            hits = best(store, "tea left", 500, method=method, **then)
            assert sorted(ids(hits)) == sorted(f"left{n}" for n in range(120))
    cloud.delete_collection(collection_name)


def test_a_collection_of_others_has_only_recorded_times(
    chroma: chromadb.ClientAPI, collection: Any, small: SmallEmbedding
) -> None:
    texts = ["tea with milk", "tea with salt"]
    collection.add(
        ids=["milk", "salt"],
        documents=texts,
        embeddings=small.embed_documents(texts),
        metadatas=[
            {"created_at": NOON.timestamp(), "superseded_by": "x", "superseded_at": 0},
            {"created_at": (NOON + DAY).timestamp()},
        ],
    )
    with RecallStore(chroma, collection.name, embedding=small) as store:
        assert sorted(ids(best(store, "tea", 9))) == ["milk", "salt"]
        assert store.get(["milk"])[0].metadata["superseded_by"] == "x"
        assert ids([*store.memories(as_of=NOON)]) == ["milk"]
        assert store.count(as_of=NOON) == 1
        then = {"moment": NOON, "as_it_stood": True}
        assert ids(best(store, "tea", 9, **then)) == ["milk"]
