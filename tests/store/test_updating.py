"""A memory changed, superseded or purged: what stays, what is embedded, and whose it is."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from typing import Any

import chromadb
import pytest
from store.kit import NOON, Counting, SmallEmbedding, best, ids
from store.places import held
from tables import table

from recall_retrievers.core.errors import (
    MissingMemoryError,
    ScopeError,
    SettingsError,
    SupersededError,
)
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

ANN, BOB = {"user_id": "ann"}, {"user_id": "bob"}
TEA: dict[str, Any] = {
    "id": "tea",
    "content": "Ann drank tea yesterday.",
    "created_at": "2024-03-05T12:00:00Z",
    "memory_type": "event",
    "author": "Ann",
    "scope": ANN,
    "metadata": {"cups": 2, "tags": ["hot", "green"]},
    "quality": 0.5,
}


@pytest.fixture
def small() -> Counting:
    return Counting()


@pytest.fixture
def notes(small: Counting) -> Iterator[RecallStore]:
    with RecallStore(embedding=small, clock=lambda: NOON) as store:
        store.add([TEA, {"id": "rum", "content": "Bob drinks rum.", "scope": BOB}])
        yield store


def day_of(memory: Memory) -> list[int]:
    return [event.start.day for event in memory.events if event.start]


def test_a_field_changes_and_the_rest_stays(notes: RecallStore, small: Counting) -> None:
    [before], embedded = notes.get(["tea"]), small.embedded
    new = {"quality": None, "memory_type": "profile", "expires_at": "2200-01-01T00:00:00Z"}
    changed = notes.update("tea", metadata={"cups": 3, "tags": None, "place": "home"}, **new)

    expires_at, metadata = datetime(2200, 1, 1, tzinfo=UTC), {"cups": 3, "place": "home"}
    expected = {**new, "metadata": metadata, "expires_at": expires_at}
    assert notes.get(["tea"]) == [changed] == [before.model_copy(update=expected)]
    assert small.embedded == embedded
    for method in ("semantic", "keyword"):
        [hit] = best(notes, "tea", method=method, filter={"cups": 3})
        assert hit.memory.memory() == changed
    assert notes.update("tea", expires_at=None).expires_at is None


def test_a_new_text_is_embedded_and_its_times_are_read(notes: RecallStore, small: Counting) -> None:
    before = small.embedded
    assert day_of(notes.get(["tea"])[0]) == [4]
    changed = notes.update("tea", text="Ann ate bread on 2 March 2024.")
    assert small.embedded == before + 1
    assert day_of(changed) == [2]
    assert ids(best(notes, "bread", method="keyword")) == ["tea"]
    assert not best(notes, "tea", method="keyword")
    [hit] = best(notes, "Ann ate bread on 2 March 2024.")
    assert (hit.id, round(hit.score, 3)) == ("tea", 1.0)
    moved = notes.update("tea", text="Ann walked yesterday.", timestamp="2024-03-01T12:00:00Z")
    assert (moved.created_at, day_of(moved)) == (datetime(2024, 3, 1, 12, tzinfo=UTC), [29])


def test_a_new_time_moves_the_events_without_embedding(notes: RecallStore, small: Counting) -> None:
    before = small.embedded
    assert day_of(notes.update("tea", timestamp="2024-03-10T12:00:00Z")) == [9]
    own = TimeRange(NOON, NOON + timedelta(hours=1), "minute")
    assert notes.update("tea", timestamp=NOON, events=[own]).events == (own,)
    assert notes.update("tea", author="Eva").events == (own,)
    assert small.embedded == before + 1  # the name of the author is a part of what is embedded


def test_an_id_that_is_not_there_is_an_error(notes: RecallStore) -> None:
    notes.update("tea", expires_at=NOON + timedelta(hours=1), scope=ANN)
    notes.update("rum", expires_at=NOON)
    for unknown, scope in (("milk", None), ("tea", BOB), ("rum", BOB), ("rum", None)):
        with pytest.raises(MissingMemoryError, match=f"there is no memory '{unknown}' to update"):
            notes.update(unknown, text="Changed.", scope=scope)
    assert notes.get(["tea"])[0].content == TEA["content"]
    with RecallStore() as empty, pytest.raises(MissingMemoryError):
        empty.update("tea", text="Changed.")


@table(
    ("changes", "message"),
    [
        ({"content": "Tea."}, "here it is text"),
        ({"created_at": 1}, "here it is timestamp"),
        ({"user_id": "eva"}, "the owner of a memory cannot be changed"),
        ({"text": " "}, "text must hold some text"),
        ({"timestamp": "soon"}, "timestamp must be an int, float, ISO 8601 string or datetime"),
        ({"expires_at": "soon"}, "expires_at must be an int, float, ISO 8601 string or datetime"),
        ({"metadata": {"recall_x": 1}}, "metadata 'recall_x' has a name in which results say"),
        ({"metadata": {"cups": {}}}, "metadata 'cups' must be text, a number"),
    ],
)
def test_a_change_that_cannot_be_is_an_error(changes: dict[str, Any], message: str) -> None:
    with RecallStore(embedding=SmallEmbedding()) as store:
        store.add([TEA])
        with pytest.raises(SettingsError) as error:
            store.update("tea", **changes)
        assert message in str(error.value)


@pytest.mark.parametrize("gone", ["delete", "purge"])
def test_what_is_deleted_during_a_change_is_not_stored_again(
    notes: RecallStore, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    [note] = notes.add([{"content": "a parcel comes", "expires_at": NOON + timedelta(days=400)}])
    away = {
        "delete": lambda: notes.delete([note]),
        "purge": lambda: notes.purge(timestamp=NOON + timedelta(days=500)),
    }
    with ThreadPoolExecutor(2) as threads, held(monkeypatch, ["embeddings"]) as (read, go_on):
        change = threads.submit(notes.update, note, metadata={"heavy": True})
        read()
        deleted = threads.submit(away[gone])
        wait([deleted], timeout=0.3)  # it could be done by now if nothing kept it
        go_on.set()
        change.result()

        assert deleted.result() == 1
    assert notes.get([note]) == []


def test_what_somebody_else_deletes_during_a_change_is_an_error_and_stays_gone(
    notes: RecallStore, chroma: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = chroma.get_collection(notes.name, embedding_function=None)
    with ThreadPoolExecutor(1) as threads, held(monkeypatch, ["embeddings"]) as (read, go_on):
        change = threads.submit(notes.update, "tea", metadata={"heavy": True})
        read()
        raw.delete(ids=["tea"])
        go_on.set()
        with pytest.raises(MissingMemoryError):
            change.result()
    assert raw.get(ids=["tea"])["ids"] == []


def test_what_somebody_else_changes_meanwhile_stays(
    notes: RecallStore, chroma: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = chroma.get_collection(notes.name, embedding_function=None)
    with ThreadPoolExecutor(1) as threads, held(monkeypatch, ["embeddings"]) as (read, go_on):
        change = threads.submit(notes.update, "tea", memory_type="profile", metadata={"place": "x"})
        read()
        raw.update(ids=["tea"], metadatas=[{"cups": 5}])
        go_on.set()
        change.result()
    [tea] = notes.get(["tea"])
    assert (tea.memory_type, tea.metadata["place"], tea.metadata["cups"]) == ("profile", "x", 5)


DAY = timedelta(days=1)


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
