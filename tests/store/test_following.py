"""What other clients store and delete is seen by the next question a second later, at any size."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import chromadb
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from store.following import MANY, SMALL, by_meaning, by_words, fill, raw
from store.kit import SmallEmbedding
from store.places import client_in

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.collection import Collection
from recall_retrievers.store.chroma.errors import guarded
from recall_retrievers.store.chroma.fields import OWN_FIELDS
from recall_retrievers.store.chroma.place import FORMAT, MARK
from recall_retrievers.store.embedding.embedder import BoundedEmbedding, as_embedder
from recall_retrievers.store.embedding.token_vectors import Embedded
from recall_retrievers.store.rows import follower
from recall_retrievers.store.rows.row_index import RowIndex


@pytest.fixture(params=["memory", "server"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> chromadb.ClientAPI:
    return client_in(request.param, request, tmp_path)


@pytest.fixture
def collection(client: chromadb.ClientAPI, collection_name: str) -> Iterator[Any]:
    """Somebody else's collection."""
    yield client.create_collection(collection_name, embedding_function=None)
    client.delete_collection(collection_name)


# -- within a second ------------------------------------------------------------------------------


def test_over_a_server_all_is_seen_a_second_later(
    two: tuple[RecallStore, RecallStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    ann = Scope(user_id="ann")
    theirs.add(Memory(id=f"m{n}", content=f"tea word{n}", scope=ann) for n in range(MANY))
    assert by_words(ours, "word77") == ["m77"]

    theirs.delete(["m77", "m4000"])
    time.sleep(follower.POLL_S)  # this one waits, as a user does; the others look at once
    monkeypatch.setattr(follower, "POLL_S", 0.0)
    for name in ("77", "4000"):
        assert by_words(ours, f"word{name}") == []
        assert f"m{name}" not in by_meaning(ours, f"tea word{name}", scope=ann)

    theirs.add([Memory(id="m77", content="coffee", scope=ann), Memory(id="new", content="milk")])
    theirs.delete(["m78"])
    assert [by_words(ours, each) for each in ("coffee", "milk", "word78")] == [["m77"], ["new"], []]
    assert by_meaning(ours, "coffee", scope=ann)[0] == "m77"

    theirs.add([Memory(id="m5", content="juice")])  # ann's no more
    assert by_words(ours, "juice") == ["m5"]
    assert by_words(ours, "word5 juice", scope=ann) == []


def test_what_raw_chromadb_deletes_and_stores_again_is_found_by_its_new_words(
    two: tuple[RecallStore, RecallStore], server_port: int, no_pause: None
) -> None:
    ours, theirs = two
    theirs.add([Memory(id=each, content=f"tea {each}") for each in ("word1", "word2", "word3")])
    assert by_words(ours, "word1") == ["word1"]

    collection = raw(theirs, server_port)
    collection.delete(ids=["word1"])
    collection.add(
        ids=["word1"], documents=["milk"], embeddings=[SMALL.embed_query("milk")], metadatas=[None]
    )

    assert [by_words(ours, each) for each in ("milk", "word1")] == [["word1"], []]


# -- collections of others ------------------------------------------------------------------------


def test_of_few_rows_what_is_added_and_deleted_is_seen_at_once(collection: Any) -> None:
    fill(collection, ["word1", "word2"])
    with RecallStore(collection, embedding=SMALL) as store:
        assert by_words(store, "tea") == ["word1", "word2"]
        fill(collection, ["new"])
        assert by_words(store, "new") == ["new"]
        collection.delete(ids=["word1"])
        assert by_words(store, "tea") == ["new", "word2"]


# -- what is read of a server ---------------------------------------------------------------------

_writes = st.lists(
    st.tuples(
        st.sampled_from(["theirs", "theirs", "raw", "delete", "ours", "our delete"]),
        st.integers(0, 30),  # the first row; a row that is there is replaced
        st.integers(1, 4),  # how many
        st.sampled_from(["ann", "bob"]),
        st.booleans(),  # whether a question comes afterwards
    ),
    max_size=14,
)


ANN = Scope(user_id="ann")
FOUR = ("theirs", 0, 4, "ann", True)


@settings(max_examples=50)
# What we have stored or deleted hides what others have deleted, if only the last row is compared.
@example([FOUR, ("ours", 7, 1, "ann", False), ("delete", 7, 1, "ann", True)], ANN)
@example([FOUR, ("our delete", 0, 1, "ann", False), ("delete", 1, 1, "ann", True)], ANN)
@example([FOUR, ("our delete", 0, 1, "ann", False), ("raw", 0, 1, "ann", True)], ANN)
@given(_writes, st.sampled_from([ANN, Scope()]))
def test_the_rows_of_a_scope_equal_the_collection_whoever_writes(
    writes: list[tuple[str, int, int, str, bool]], scope: Scope
) -> None:
    with pytest.MonkeyPatch.context() as patched, chromadb.EphemeralClient() as client:
        patched.setattr(follower, "POLL_S", 0.0)
        patched.setattr(follower, "COUNTED_AT_ONCE", 0)
        name = f"scoped-{time.monotonic_ns()}"
        model = BoundedEmbedding(as_embedder(SmallEmbedding()), None)
        collection: Any = client.create_collection(
            name,
            metadata={MARK: FORMAT, "embedding_model": model.model_name},
            embedding_function=None,
        )
        index = Collection(guarded(collection, Event()), model, OWN_FIELDS)
        rows = RowIndex(index, follower.Follower(index, scope, shared=True), None)
        rows.prepare(build=True, patient=True)
        there: dict[str, tuple[str, str]] = {}
        for number, (kind, first, many, owner, asked) in enumerate(writes):
            ids = [f"m{first + n}" for n in range(many)]
            if kind == "raw":  # it has no time of writing, so what it replaces is not seen
                ids = [f"raw{number}x{n}" for n in range(many)]
            metadata = {"user_id": owner, "written_at": int(1000 * time.time()) + number}
            texts = [f"tea {row_id} turn{number}" for row_id in ids]
            vectors = np.ones((len(ids), 8), dtype=np.float32)
            if kind.endswith("delete"):
                collection.delete(ids=ids)
                there = {x: row for x, row in there.items() if x not in ids}
            else:
                if kind == "raw":
                    del metadata["written_at"]
                metadatas = [metadata] * len(ids)
                collection.upsert(ids=ids, documents=texts, embeddings=vectors, metadatas=metadatas)
                there |= {x: (owner, text) for x, text in zip(ids, texts, strict=True)}
            if kind == "our delete":
                rows.drop(ids)
            if kind == "ours" and scope.user_id in (None, owner):
                own = [(x, text, metadata) for x, text in zip(ids, texts, strict=True)]
                rows.put(own, [index.candidate(row) for row in own], Embedded(vectors))
            elif kind == "ours":
                rows.drop(ids)
            if asked or number == len(writes) - 1:
                rows.prepare(build=True, patient=True)
                places = rows.table.slots_of(known := sorted(rows.table.ids()))
                found = [memory.content for memory in rows.table.memories(places.tolist(), None)]
                wanted = {x: row for x, row in there.items() if scope.user_id in (None, row[0])}
                assert dict(zip(known, found, strict=True)) == {
                    x: y for x, (_, y) in wanted.items()
                }
        rows.close()
        client.delete_collection(name)
