"""`update` and `purge`: what changes, what stays, what is embedded, and whose memories."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from store.following import held
from store.kit import NOON, Counting, SmallEmbedding, best, ids
from tables import table

from recall_retrievers.core.errors import (
    MissingMemoryError,
    SettingsError,
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


def test_on_every_kind_of_store_a_field_changes_and_the_rest_stays(
    store: RecallStore, small: Counting
) -> None:
    store.add([TEA])
    [before] = store.get(["tea"])
    now_embedded = small.embedded
    changed = store.update("tea", metadata={"cups": 3, "tags": None, "place": "home"}, quality=None)
    assert changed.metadata == {"cups": 3, "place": "home"}
    assert small.embedded == now_embedded
    again = store.update("tea", memory_type="profile", expires_at="2200-01-01T00:00:00Z")
    assert small.embedded == now_embedded
    expected = before.model_copy(
        update={
            "metadata": {"cups": 3, "place": "home"},
            "quality": None,
            "memory_type": "profile",
            "expires_at": datetime(2200, 1, 1, tzinfo=UTC),
        }
    )
    assert store.get(["tea"]) == [expected] == [again]
    for method in ("semantic", "keyword"):
        [hit] = best(store, "tea", method=method, filter={"cups": 3})  # type: ignore[arg-type]
        assert hit.memory.memory() == expected
    assert store.update("tea", expires_at=None).expires_at is None


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
        ({"text": None}, "text must be a text"),
        ({"timestamp": "soon"}, "timestamp must be an int, float, ISO 8601 string or datetime"),
        ({"timestamp": None}, "timestamp must be a moment"),
        ({"expires_at": "soon"}, "expires_at must be an int, float, ISO 8601 string or datetime"),
        ({"quality": 2}, "quality must be at most 1"),
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
