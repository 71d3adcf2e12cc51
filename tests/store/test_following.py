"""What other clients store and delete is seen a second later, and what a look for it costs."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import chromadb
import pytest
from store.kit import contents
from store.places import SMALL, by_meaning, by_words, client_in, fill, held, raw, watched

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import follower

ANN = Scope(user_id="ann")


# -- within a second ------------------------------------------------------------------------------


def test_over_a_server_all_is_seen_a_second_later(
    two: tuple[RecallStore, RecallStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    monkeypatch.setattr(follower, "COUNTED_AT_ONCE", 50)
    theirs.add(Memory(id=f"m{n}", content=f"tea word{n}", scope=ANN) for n in range(100))
    assert by_words(ours, "word77") == ["m77"]

    theirs.delete(["m77", "m40"])
    time.sleep(follower.POLL_S)  # this one waits, as a user does; the others look at once
    monkeypatch.setattr(follower, "POLL_S", 0.0)
    for name in ("77", "40"):
        assert by_words(ours, f"word{name}") == []
        assert f"m{name}" not in by_meaning(ours, f"tea word{name}", scope=ANN)

    theirs.add([Memory(id="m77", content="coffee", scope=ANN), Memory(id="new", content="milk")])
    theirs.delete(["m78"])
    assert [by_words(ours, each) for each in ("coffee", "milk", "word78")] == [["m77"], ["new"], []]
    assert by_meaning(ours, "coffee", scope=ANN)[0] == "m77"

    theirs.add([Memory(id="m5", content="juice")])  # ann's no more
    assert by_words(ours, "juice") == ["m5"]
    assert by_words(ours, "word5 juice", scope=ANN) == []


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


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("seed", range(int(os.environ.get("RECALL_SEQUENCES", "4"))))
@pytest.mark.parametrize("place", ["path", "server"])
def test_the_rows_of_a_scope_equal_the_collection_whoever_writes(
    place: str, seed: int, request: pytest.FixtureRequest, tmp_path: Path, collection_name: str
) -> None:
    """Also when it is opened anew: it goes on where it was."""
    # What raw chromadb replaces in place is seen on a server alone, and with a time of writing.
    replaces = "theirs" if place == "server" else "raw"
    dice, there = Random(seed), {"first": ("ann", "tea first")}
    client = client_in(place, request, tmp_path)
    opened = partial(RecallStore, client, collection_name, embedding=SMALL, create=True)
    with opened() as store:
        store.add([{"id": "first", "content": "tea first", "user_id": "ann"}])
    raw = client.get_collection(collection_name, embedding_function=None)
    for turn in range(3):
        with opened() as store:
            for number in range(turn * 10, turn * 10 + 10):
                kind = dice.choice(["ours", "our delete", "raw", "delete", replaces])
                some = [f"m{dice.randrange(12)}" for _ in range(dice.randrange(1, 4))]
                some = sorted({*some}) if kind != "raw" else [f"raw{number}"]
                owner = dice.choice(["ann", "bob"])
                texts = {row_id: f"tea {row_id} turn{number}" for row_id in some}
                if kind == "our delete":
                    store.delete(some)
                elif kind == "delete":
                    raw.delete(ids=some)
                if kind == "ours":
                    rows = [{"id": x, "content": y, "user_id": owner} for x, y in texts.items()]
                    store.add(rows)
                elif not kind.endswith("delete"):
                    times = {"written_at": int(1000 * time.time()) + number}
                    metadata = {"user_id": owner, **(times if kind == "theirs" else {})}
                    vectors = SMALL.embed_documents([*texts.values()])
                    metadatas = [metadata] * len(some)
                    raw.upsert(some, vectors, metadatas, [*texts.values()])
                there = {x: row for x, row in there.items() if x not in some}
                if not kind.endswith("delete"):
                    there |= {x: (owner, text) for x, text in texts.items()}
                for scope in (ANN, Scope()) if dice.random() < 0.5 else ():
                    mine = {x: y for x, (z, y) in there.items() if scope.user_id in (None, z)}
                    assert sorted(by_words(store, "tea", 100, scope=scope)) == sorted(mine)
                    assert sorted(by_meaning(store, "tea", 100, scope=scope)) == sorted(mine)
                    for x in {*some} & {*mine}:
                        assert x in by_words(store, mine[x].split()[-1], 100, scope=scope)
    client.delete_collection(collection_name)


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


def test_another_collection_of_the_folder_makes_little_work_and_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, read = Scope(user_id="ann"), list[dict[str, Any]]()
    client = chromadb.PersistentClient(str(tmp_path))
    with RecallStore(client, "ours", embedding=SMALL) as store:
        others = client.create_collection("others", embedding_function=None)
        for name in ("a", "b", "c"):
            store.add([Memory(id=name, content=f"tea {name}", scope=ann)])
            fill(others, [f"{name}{n}" for n in range(20)])
        with watched(monkeypatch, lambda asked, _: read.append(asked)):
            assert by_words(store, "tea") == ["a", "b", "c"]
            assert by_meaning(store, "tea c", scope=ann)[0] == "c"
        assert [asked["include"] for asked in read] == [[]]  # the ids of the last rows, once
        ours = client.get_collection("ours", embedding_function=None)
        ours.delete(ids=["a"])
        fill(others, ["y"])
        store.add([Memory(id="d", content="tea d", scope=ann)])
        fill(others, ["x"])
        assert by_words(store, "tea") == ["b", "c", "d"]
        fill(ours, ["e"])
        store.delete(["c"])
        fill(others, ["w"])
        assert by_words(store, "tea") == ["b", "d", "e"]
