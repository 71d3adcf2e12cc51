"""What a look at a collection costs, and who waits for it."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import chromadb
import pytest
from store.following import SMALL, by_meaning, by_words, fill, held, raw, watched
from store.kit import contents

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import follower


def test_what_a_late_clock_wrote_is_seen(
    two: tuple[RecallStore, RecallStore],
    server_port: int,
    no_pause: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The minute is read at each look, however long it took to read the last time.
    monkeypatch.setattr(follower, "RARELY", 0)
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
    monkeypatch.setattr(follower, "RARELY", 0)
    assert by_words(ours, "word3") == ["m3"]
    earlier = int(1000 * time.time()) - 30_000
    collection = raw(theirs, server_port)
    collection.update(ids=[f"m{n}" for n in range(500)], metadatas=[{"written_at": earlier}] * 500)
    monkeypatch.setattr(follower, "RARELY", 1_000_000)
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


def test_while_one_question_looks_others_write_and_nothing_of_it_is_lost(
    server_port: int, collection_name: str, no_pause: None, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_private_collection_is_not_asked(monkeypatch: pytest.MonkeyPatch, no_pause: None) -> None:
    with RecallStore(embedding=SMALL) as store:
        store.add(["tea", "coffee"])
        with monkeypatch.context() as patched:
            for name in ("get", "count"):
                patched.setattr(chromadb.Collection, name, None)
            assert contents(store.find([Search("tea", 5, method="keyword")])[0]) == ["tea"]


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[tuple[chromadb.ClientAPI, RecallStore]]:
    """A store of ann's memories in a folder, and a client of the same folder."""
    client = chromadb.PersistentClient(str(tmp_path))
    with RecallStore(client, "ours", embedding=SMALL) as store:
        yield client, store


def test_another_collection_of_the_folder_makes_little_work(
    beside: tuple[chromadb.ClientAPI, RecallStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, store = beside
    store.add([Memory(id="first", content="milk")])
    by_words(store, "milk")
    read: list[dict[str, Any]] = []
    with watched(monkeypatch, lambda asked, _: read.append(asked)):
        with RecallStore(client, "more", embedding=SMALL) as more:
            more.add(["tea"])
        read.clear()
        assert by_words(store, "milk") == ["first"]  # ours tell each other what they write
        assert not read
    others = client.create_collection("others", embedding_function=None)
    ann = Scope(user_id="ann")
    for name in ("a", "b", "c"):
        store.add([Memory(id=name, content=f"tea {name}", scope=ann)])
        fill(others, [f"{name}{n}" for n in range(20)])
    store.delete(["b"])
    fill(others, ["z"])
    with watched(monkeypatch, lambda asked, _: read.append(asked)):
        assert by_words(store, "tea") == ["a", "c"]
        assert by_meaning(store, "tea c", scope=ann)[0] == "c"
    assert [asked["include"] for asked in read] == [[]]  # the ids of the last rows, once
    # A change of somebody else is not missed between writes to both collections.
    ours = client.get_collection("ours", embedding_function=None)
    ours.delete(ids=["a"])
    fill(others, ["y"])
    store.add([Memory(id="d", content="tea d", scope=ann)])
    fill(others, ["x"])
    assert by_words(store, "tea") == ["c", "d"]
    fill(ours, ["e"])
    store.delete(["c"])
    fill(others, ["w"])
    assert by_words(store, "tea") == ["d", "e"]
