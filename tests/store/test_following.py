"""What other clients store and delete is seen by the next question a second later, at any size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import Any

import chromadb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kit import SmallEmbedding, contents, ids

from recall_stages.core.memory import Memory
from recall_stages.core.scope import Scope
from recall_stages.core.stage import Search
from recall_stages.store import RecallStore
from recall_stages.store.rows import follower, scope_follower
from recall_stages.store.writing import row_writer

MANY = 5_500  # more than are counted before each question
SMALL = SmallEmbedding(8)


@pytest.fixture(params=["embedded", "server"])
def client(request: pytest.FixtureRequest) -> chromadb.ClientAPI:
    if request.param == "embedded":
        return chromadb.EphemeralClient()
    return chromadb.HttpClient(host="127.0.0.1", port=request.getfixturevalue("server_port"))


@pytest.fixture
def collection(client: chromadb.ClientAPI, collection_name: str) -> Iterator[Any]:
    """Somebody else's collection."""
    yield client.create_collection(collection_name, embedding_function=None)
    client.delete_collection(collection_name)


@pytest.fixture
def two(
    server_port: int, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[RecallStore, RecallStore]]:
    """Two stores on one collection of a server, which do not pass on what they write.

    Those of two processes cannot either.
    """
    monkeypatch.setattr(row_writer, "indexes_of", lambda *_: [])
    client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
    with (
        RecallStore(client, collection_name, embedding=SMALL) as ours,
        RecallStore(client, collection_name, embedding=SMALL) as theirs,
    ):
        yield ours, theirs
    client.delete_collection(collection_name)


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question looks, as if a second had passed since the last."""
    monkeypatch.setattr(follower, "POLL_S", 0.0)


def fill(collection: Any, names: Sequence[str]) -> None:
    """Rows of somebody else's, with made vectors; each is found by its name."""
    for start in range(0, len(names), 5000):
        part = list(names[start : start + 5000])
        collection.add(
            ids=part,
            documents=[f"tea {name}" for name in part],
            embeddings=np.array([SMALL.embed_query(name) for name in part], dtype=np.float32),
        )


def by_words(store: RecallStore, text: str, limit: int = 5, **search: Any) -> list[str]:
    return ids(store.find([Search(text, limit, method="keyword", **search)])[0])


def by_meaning(store: RecallStore, text: str, **search: Any) -> list[str]:
    return ids(store.find([Search(text, 5, **search)])[0])


def raw(store: RecallStore, port: int) -> Any:
    client = chromadb.HttpClient(host="127.0.0.1", port=port)
    return client.get_collection(store.name, embedding_function=None)


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch, see: Callable[[dict[str, Any], Any], None]) -> Any:
    """Everything that is read from a collection is seen as well."""
    get = chromadb.Collection.get

    def seen(self: Any, **asked: Any) -> Any:
        page = get(self, **asked)
        see(asked, page)
        return page

    with monkeypatch.context() as patched:
        patched.setattr(chromadb.Collection, "get", seen)
        yield


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


def test_after_a_slow_look_there_is_no_long_rest(
    two: tuple[RecallStore, RecallStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    theirs.add([Memory(id="a", content="tea"), Memory(id="b", content="coffee")])
    monkeypatch.setattr(follower, "COUNTED_AT_ONCE", 0, raising=False)
    with watched(monkeypatch, lambda *_: time.sleep(0.4)):
        assert by_words(ours, "tea") == ["a"]
        theirs.add([Memory(id="b", content="milk")])
        time.sleep(follower.POLL_S)
        assert by_words(ours, "coffee") == []  # a slow look
        theirs.add([Memory(id="a", content="juice")])
        time.sleep(follower.POLL_S)
        assert by_words(ours, "tea") == []


# -- collections of others ------------------------------------------------------------------------


def test_of_few_rows_what_is_added_and_deleted_is_seen_at_once(collection: Any) -> None:
    fill(collection, ["word1", "word2"])
    with RecallStore(collection, embedding=SMALL) as store:
        assert by_words(store, "tea") == ["word1", "word2"]
        fill(collection, ["new"])
        assert by_words(store, "new") == ["new"]
        collection.delete(ids=["word1"])
        assert by_words(store, "tea") == ["new", "word2"]


def test_one_row_swapped_for_another_is_seen(
    collection: Any, no_pause: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "NOW_AND_THEN", 1_000_000)
    fill(collection, [f"word{n}" for n in range(MANY)])
    with RecallStore(collection, embedding=SMALL) as store:
        assert by_words(store, "word3") == ["word3"]

        collection.delete(ids=["word3"])
        fill(collection, ["new"])
        assert [by_words(store, each) for each in ("word3", "new")] == [[], ["new"]]
        assert by_meaning(store, "new")[0] == "new"

        fill(collection, ["newer", "newest"])
        assert by_words(store, "newest") == ["newest"]

        # One that is deleted and stored again comes last, so its new text is seen as well.
        collection.delete(ids=["word9"])
        collection.add(ids=["word9"], documents=["milk"], embeddings=[SMALL.embed_query("milk")])
        assert [by_words(store, each) for each in ("word9", "milk")] == [[], ["word9"]]
        assert len(by_words(store, "tea", limit=2 * MANY)) == MANY + 1
        read: list[int] = []
        with watched(monkeypatch, lambda _, page: read.append(len(page["ids"]))):
            by_words(store, "milk")
        assert sum(read) < 1000  # where nothing has changed the last ids tell


def test_a_collection_filled_anew_is_compared_as_a_whole_now_and_then(
    collection: Any, no_pause: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "NOW_AND_THEN", 0)
    names = [f"word{n}" for n in range(600)]
    fill(collection, names)
    with RecallStore(collection, embedding=SMALL) as store:
        assert by_words(store, "word3") == ["word3"]
        collection.delete(ids=names)
        fill(collection, ["new" if name == "word3" else name for name in names])
        assert [by_words(store, each) for each in ("word3", "new")] == [[], ["new"]]


_changes = st.lists(
    st.tuples(
        st.sampled_from(["add", "delete", "swap", "again", "update"]),
        st.integers(0, 30),
        st.integers(1, 5),
    ),
    max_size=12,
)


@settings(max_examples=25)
@given(_changes)
def test_the_mirror_equals_the_collection_whatever_others_do(
    changes: list[tuple[str, int, int]],
) -> None:
    with pytest.MonkeyPatch.context() as patched, chromadb.EphemeralClient() as client:
        for name, value in (("POLL_S", 0.0), ("TAIL", 3), ("COUNTED_AT_ONCE", 0)):
            patched.setattr(follower, name, value)
        name = f"changing-{time.monotonic_ns()}"
        collection = client.create_collection(name, embedding_function=None)
        there = [f"word{n}" for n in range(8)]
        fill(collection, there)
        with RecallStore(collection, embedding=SMALL) as store:
            for number, (change, first, many) in enumerate(changes):
                old = there[first : first + many]
                new = [f"new{number}x{n}" for n in range(many)]
                if change in ("delete", "swap", "again") and old:
                    collection.delete(ids=old)
                    there = [each for each in there if each not in old]
                stored = {"add": new, "swap": new, "again": old}.get(change, [])
                if stored:
                    fill(collection, stored)
                    there += stored
                if change == "update" and old:
                    collection.update(ids=old, metadatas=[{"stars": number}] * len(old))
                assert sorted(by_words(store, "tea", limit=100)) == sorted(there)
                assert all(by_words(store, each) == [each] for each in stored)
        client.delete_collection(name)


# -- what a look costs, and who waits for it ------------------------------------------------------


def test_what_a_late_clock_wrote_is_seen(
    two: tuple[RecallStore, RecallStore],
    server_port: int,
    no_pause: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "NOW_AND_THEN", 1_000_000)
    ours, theirs = two
    theirs.add([Memory(id="a", content="tea"), Memory(id="b", content="bread")])
    assert by_words(ours, "tea") == ["a"]
    raw(theirs, server_port).update(
        ids=["a"],
        documents=["milk"],
        embeddings=[SMALL.embed_query("milk")],
        metadatas=[{"written_at": int(1000 * time.time()) - 50_000}],
    )
    assert [by_words(ours, each) for each in ("tea", "milk")] == [[], ["a"]]
    raw(theirs, server_port).add(
        ids=["c"],
        documents=["juice"],
        embeddings=[SMALL.embed_query("juice")],
        metadatas=[{"written_at": int(1000 * time.time()) - 3_600_000}],
    )
    assert by_words(ours, "juice") == ["c"]


def test_a_minutes_rows_are_not_read_at_each_look(
    two: tuple[RecallStore, RecallStore],
    server_port: int,
    no_pause: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = two
    theirs.add(Memory(id=f"m{n}", content=f"tea word{n}") for n in range(500))
    # The minute is read at the next look, however long it took to read the first time.
    monkeypatch.setattr(scope_follower, "RARELY", 0)
    assert by_words(ours, "word3") == ["m3"]
    earlier = int(1000 * time.time()) - 30_000
    collection = raw(theirs, server_port)
    collection.update(ids=[f"m{n}" for n in range(500)], metadatas=[{"written_at": earlier}] * 500)
    monkeypatch.setattr(scope_follower, "RARELY", 1_000_000)
    read: list[int] = []
    with watched(monkeypatch, lambda _, page: read.append(len(page["ids"]))):
        by_words(ours, "word3")
        assert sum(read) >= 500
        read.clear()
        theirs.add([Memory(id="m3", content="milk")])
        assert by_words(ours, "milk") == ["m3"]
        assert sum(read) < 50
    collection.update(  # which Chroma took 1.5 seconds to store
        ids=["m4"],
        documents=["juice"],
        embeddings=[SMALL.embed_query("juice")],
        metadatas=[{"written_at": int(1000 * time.time()) - 1_500}],
    )
    assert by_words(ours, "juice") == ["m4"]


def test_until_it_is_known_which_rows_are_gone_none_of_them_is_returned(
    two: tuple[RecallStore, RecallStore], no_pause: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    theirs.add(Memory(id=f"m{n}", content=f"tea word{n}") for n in range(20))
    monkeypatch.setattr(follower, "RARELY", 1_000_000, raising=False)
    assert by_words(ours, "word3") == ["m3"]
    limits: list[int] = []
    with watched(monkeypatch, lambda asked, page: limits.append(asked.get("limit") or 0)):
        for n in range(10):
            theirs.delete([f"m{n}"])
            assert by_words(ours, f"word{n}") == []
            assert f"m{n}" not in by_meaning(ours, f"tea word{n}")
            assert len(by_words(ours, "tea", limit=20)) == 19 - n
    assert sum(limit > 100_000 for limit in limits) <= 1  # all ids were listed
    theirs.add([Memory(id="m3", content="tea word3")])
    assert by_words(ours, "word3") == ["m3"]


@contextmanager
def held(
    monkeypatch: pytest.MonkeyPatch, include: list[str]
) -> Iterator[tuple[Callable[[], object], Event]]:
    """The first page of this kind is read and held back: wait for its reading, then let it go."""
    read, go_on = Event(), Event()

    def hold(asked: dict[str, Any], _: object) -> None:
        if asked.get("include") == include and not read.is_set():
            read.set()
            assert go_on.wait(60)

    with watched(monkeypatch, hold):
        try:
            yield lambda: read.wait(30), go_on
        finally:
            go_on.set()


def test_while_one_question_looks_others_write_and_nothing_of_it_is_lost(
    server_port: int, collection_name: str, no_pause: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All ids are listed as soon as some are gone, however long the first listing took.
    monkeypatch.setattr(follower, "RARELY", 0)
    client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
    with RecallStore(client, collection_name, embedding=SMALL) as store, ThreadPoolExecutor() as do:
        store.add([Memory(id=each, content=f"tea {each}") for each in ("a1", "b2", "c3")])
        assert by_words(store, "b2") == ["b2"]
        raw(store, server_port).delete(ids=["a1"])
        with held(monkeypatch, []) as (being_read, go_on):
            asking = do.submit(by_words, store, "b2")
            assert being_read()
            assert do.submit(store.add, [Memory(id="d4", content="tea d4")]).result(30) == ["d4"]
            do.submit(store.delete, ["c3"]).result(30)
            go_on.set()
            assert asking.result(60) == ["b2"]
        monkeypatch.setattr(follower, "POLL_S", 60.0)  # what was listed is looked at no more
        monkeypatch.setattr(follower, "COUNTED_AT_ONCE", 0, raising=False)
        assert sorted(by_words(store, "tea")) == ["b2", "d4"]
    client.delete_collection(collection_name)


def test_a_question_by_meaning_does_not_wait_for_the_words(
    server_port: int, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
    with RecallStore(client, collection_name, embedding=SMALL) as store:
        store.add([Memory(id=each, content=f"tea {each}") for each in ("a1", "b2")])
    with RecallStore(client, collection_name, embedding=SMALL) as store, ThreadPoolExecutor() as do:
        with held(monkeypatch, ["documents", "metadatas"]) as (being_read, go_on):
            asking = do.submit(by_words, store, "b2")
            assert being_read()
            by_now = do.submit(by_meaning, store, "tea b2")
            assert by_now.result(30)[0] == "b2"
            store.add([Memory(id="a1", content="milk")])
            go_on.set()
            assert asking.result(60) == ["b2"]
        # What was written while the rows were read is newer than what was read.
        assert [by_words(store, each) for each in ("a1", "milk")] == [[], ["a1"]]
    client.delete_collection(collection_name)


def test_a_private_collection_is_not_asked(monkeypatch: pytest.MonkeyPatch, no_pause: None) -> None:
    with RecallStore(embedding=SMALL) as store:
        store.add(["tea", "coffee"])
        with monkeypatch.context() as patched:
            for name in ("get", "count"):
                patched.setattr(chromadb.Collection, name, None)
            assert contents(store.find([Search("tea", 5, method="keyword")])[0]) == ["tea"]
