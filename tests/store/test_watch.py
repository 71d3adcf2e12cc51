"""Who else wrote to a path is told by the time of Chroma's database, also where that is coarse."""

import os
import time
from pathlib import Path

import chromadb
import pytest
from store.places import SMALL, by_words, fill

from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import follower, row_index


def test_two_writes_of_one_moment_are_seen_a_second_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "POLL_S", 0.3)
    file = tmp_path / "chroma.sqlite3"
    with chromadb.PersistentClient(str(tmp_path)) as client:
        ours = client.create_collection("ours", embedding_function=None)
        with RecallStore(client, "ours", embedding=SMALL) as store:
            fill(ours, ["first"])
            assert by_words(store, "first") == ["first"]
            moment = file.stat().st_mtime_ns
            ours.delete(ids=["first"])
            os.utime(file, ns=(moment, moment))  # as on a file system that counts in seconds
            assert by_words(store, "first") == ["first"]
            time.sleep(0.4)
            assert by_words(store, "first") == []


def test_the_texts_of_many_are_compared_beside_the_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_index, "_COMPARED_AT_ONCE", 0)
    with RecallStore(tmp_path, embedding=SMALL) as store:
        store.add([{"id": "old", "content": "tea"}])
    with chromadb.PersistentClient(str(tmp_path)) as client:
        raw = client.get_collection("memories", embedding_function=None)
        raw.update(ids=["old"], documents=["milk"], embeddings=[SMALL.embed_query("milk")])
    monkeypatch.setattr(row_index, "_QUIET_S", 60.0)
    with RecallStore(tmp_path, embedding=SMALL) as store:  # it ends before they are compared
        started = time.monotonic()
        assert by_words(store, "tea") == ["old"]
    assert time.monotonic() - started < 30
    monkeypatch.setattr(row_index, "_QUIET_S", 0.2)
    with RecallStore(tmp_path, embedding=SMALL) as store:
        assert by_words(store, "tea") == ["old"]
        until = time.monotonic() + 30
        while by_words(store, "milk") != ["old"] and time.monotonic() < until:
            time.sleep(0.05)
        assert [by_words(store, each) for each in ("tea", "milk")] == [[], ["old"]]
