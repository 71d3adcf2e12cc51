"""A memory that has expired is found by nobody, in no way, on any kind of store."""

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import chromadb
import pytest
from store.kit import NOON, SmallEmbedding, best, ids
from tables import table

from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

HOUR = timedelta(hours=1)
ANN = {"user_id": "ann"}
METHODS: tuple[Literal["semantic", "keyword"], ...] = ("semantic", "keyword")


def tea(name: str, hours: float | None = None, **fields: Any) -> dict[str, Any]:
    """A memory of tea that expires so many hours after noon."""
    expires_at = None if hours is None else NOON + hours * HOUR
    return {"id": name, "content": f"tea {name}", "expires_at": expires_at, "scope": ANN, **fields}


TEAS = [tea("stays"), tea("short", 1), tea("long", 48), tea("gone", -1)]


def found(store: RecallStore, **search: Any) -> list[list[str]]:
    """What is found by each method, with a scope and without."""
    return [
        sorted(ids(best(store, "tea", 10, method=method, **search, **scope)))
        for method in METHODS
        for scope in ({}, {"scope": Memory(content="x", scope=ANN).scope})
    ]


def test_a_question_counts_from_its_own_moment(store: RecallStore) -> None:
    store.add(TEAS)  # by the clock, all but one have long expired
    assert found(store) == [["stays"]] * 4
    assert found(store, moment=NOON + HOUR) == [["long", "stays"]] * 4
    assert found(store, moment=NOON - 2 * HOUR) == [["gone", "long", "short", "stays"]] * 4


def test_expired_memories_make_room_for_others(small: SmallEmbedding) -> None:
    """Hundreds of expired ones are nearer to the question than the one that is left."""
    with RecallStore(embedding=small, clock=lambda: NOON) as store:
        store.add(tea(f"{n:03}", -1, content="tea") for n in range(600))
        store.add([tea("left", content="a cup of tea is left")])
        for method in METHODS:
            assert ids(best(store, "tea", 1, method=method)) == ["left"]
        store.delete([f"{n:03}" for n in range(600)])
        assert found(store) == [["left"]] * 4


@pytest.mark.parametrize("value", ["2024-03-05T13:00:00+00:00", "March 5, 2024", 1709643600])
def test_in_a_collection_of_others_the_key_is_named(
    chroma: chromadb.ClientAPI, collection: Any, small: SmallEmbedding, value: Any
) -> None:
    collection.add(
        ids=["milk", "salt"],
        documents=["tea with milk", "tea with salt"],
        embeddings=small.embed_documents(["tea with milk", "tea with salt"]),
        metadatas=[{"best_before": value}, {"best_before": "soon"}],
    )
    fields = {"expires_at": "best_before"}
    with RecallStore(chroma, collection.name, embedding=small, fields=fields) as store:
        for moment, there in [
            (NOON - 48 * HOUR, ["milk", "salt"]),
            (NOON + 48 * HOUR, ["salt"]),
        ]:
            for method in METHODS:
                hits = store.find([Search("tea", 5, method=method, moment=moment)])[0]
                assert sorted(ids(hits)) == there
        assert ids([*store.memories()]) == ["salt"]


@table(
    ("value", "message"),
    [
        ("soon", "expires_at must be an int, float, ISO 8601 string or datetime; got 'soon'"),
        (True, "expires_at must be an int, float, ISO 8601 string or datetime; got True"),
        (timedelta(days=1), "expires_at must be an int, float, ISO 8601 string or datetime; got "),
        (1e300, "expires_at must lie between the years 1 and 9999; got the number beyond 1e20"),
    ],
)
def test_what_is_no_moment_is_an_error(value: Any, message: str) -> None:
    with pytest.raises(SettingsError) as error:
        Memory(content="tea", expires_at=value)
    assert message in str(error.value)


def test_it_can_be_filtered_like_any_time(small: SmallEmbedding) -> None:
    with RecallStore(embedding=small, clock=lambda: NOON) as store:
        store.add(TEAS)
        soon = {"expires_at": {"$lt": datetime(2024, 3, 6, tzinfo=UTC)}}
        assert ids(best(store, "tea", 5, filter=soon)) == ["short"]
