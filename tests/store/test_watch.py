"""Who else wrote to a path is told by the time of Chroma's database, also where that is coarse."""

import os
import time
from pathlib import Path

import chromadb
import pytest
from store.places import SMALL, by_words, fill

from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import follower


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


def test_a_note_of_another_time_is_not_believed(tmp_path: Path) -> None:
    with RecallStore(tmp_path, embedding=SMALL) as store:
        store.add([{"id": "old", "content": "tea"}])
    [mark] = tmp_path.glob(".recall/*/closed.mark")
    kept = mark.read_text(encoding="utf-8")
    with chromadb.PersistentClient(str(tmp_path)) as client:
        client.get_collection("memories", embedding_function=None).update(
            ids=["old"], documents=["milk"], embeddings=[SMALL.embed_query("milk")]
        )
    assert mark.read_text(encoding="utf-8") == kept
    with RecallStore(tmp_path, embedding=SMALL) as store:
        assert [by_words(store, each) for each in ("tea", "milk")] == [[], ["old"]]
