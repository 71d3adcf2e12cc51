"""The row index of a path: what raw chromadb writes is seen at once, and it is safe to delete."""

import os
import random
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import chromadb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.following import by_meaning, by_words
from store.kit import SmallEmbedding

from langchain_recall import RecallRetriever
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import row_index, scoped_rows

SMALL = SmallEmbedding(16)
ANN, BOB = Scope(user_id="ann"), Scope(user_id="bob")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[chromadb.ClientAPI]:
    opened = chromadb.PersistentClient(str(tmp_path))
    yield opened
    opened.close()


def root_of(path: Path) -> Path:
    [state] = path.glob(".recall/*/rows.sqlite")
    return state.parent


@pytest.mark.parametrize("made_by", ["us", "somebody else"])
def test_what_raw_chromadb_stores_and_deletes_is_seen_by_the_next_question_and_all_when_opened_anew(
    client: chromadb.ClientAPI, made_by: str
) -> None:
    vector = SMALL.embed_query
    if made_by == "us":
        with RecallStore(client, "ours", embedding=SMALL) as store:
            store.add([Memory(id=f"m{n}", content=f"tea word{n}", scope=ANN) for n in range(30)])
    else:
        raw = client.create_collection("ours", configuration={"hnsw": {"space": "cosine"}})
        texts = [f"tea word{n}" for n in range(30)]
        raw.add(
            ids=[f"m{n}" for n in range(30)],
            documents=texts,
            embeddings=[vector(text) for text in texts],
            metadatas=[{"user_id": "ann"}] * 30,
        )
    raw = client.get_collection("ours", embedding_function=None)
    with RecallStore(client, "ours", embedding=SMALL) as store:
        assert by_words(store, "word3") == ["m3"]
        assert by_meaning(store, "tea word3", 1, scope=ANN) == ["m3"]

        raw.delete(ids=["m4"])
        raw.upsert(ids=["new"], documents=["juice"], embeddings=[vector("juice")])
        assert [by_words(store, each) for each in ("word4", "juice")] == [[], ["new"]]
        assert "m4" not in by_meaning(store, "tea word4", 31)
        raw.update(ids=["m3"], documents=["milk"], embeddings=[vector("milk")])
    # In place, without a time of writing, and the number of rows stays the same.
    with RecallStore(client, "ours", embedding=SMALL) as store:
        assert [by_words(store, each) for each in ("word3", "milk")] == [[], ["m3"]]
        assert by_meaning(store, "milk", 1, scope=ANN) == ["m3"]
    raw.update(ids=["m3"], metadatas=[{"user_id": "bob"}])
    with RecallStore(client, "ours", embedding=SMALL) as store:
        assert by_words(store, "milk", scope=ANN) == []
        assert by_words(store, "milk", scope=BOB) == ["m3"]
        assert "m3" not in by_meaning(store, "milk", 30, scope=ANN)


def _change(store: RecallStore, raw: Any, change: str, texts: dict[str, str]) -> None:
    if change == "delete":
        store.delete([*texts])
    elif change == "raw delete":
        raw.delete(ids=[*texts])
    elif change.startswith("raw"):
        vectors = [SMALL.embed_query(text) for text in texts.values()]
        raw.upsert(ids=[*texts], documents=[*texts.values()], embeddings=vectors)
    else:
        store.add([Memory(id=row_id, content=text) for row_id, text in texts.items()])


@settings(max_examples=10, deadline=None)
@given(dice=st.randoms(use_true_random=False))
def test_the_index_equals_the_collection_whoever_writes(
    dice: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("path")
    there: dict[str, str] = {}
    number = 0
    for _ in range(3):  # opened anew: it goes on where it was
        with chromadb.PersistentClient(str(path)) as client:
            store = RecallStore(client, "ours", embedding=SMALL)
            store.add([Memory(id="first", content="tea first")])
            there["first"] = "tea first"
            raw = client.get_collection("ours", embedding_function=None)
            for _ in range(dice.randrange(6)):
                some = dice.sample(sorted(there), min(len(there), dice.randrange(1, 4)))
                change = dice.choice(["add", "raw add", "delete", "raw delete", "replace", "raw"])
                number += 1
                if not some and change != "add":
                    continue
                if change in ("add", "raw add"):
                    some = [f"m{number}x{n}" for n in range(dice.randrange(1, 4))]
                texts = {row_id: f"tea {row_id} turn{number}" for row_id in some}
                _change(store, raw, change, texts)
                if change.endswith("delete"):
                    there = {x: text for x, text in there.items() if x not in some}
                else:
                    there |= texts
                if dice.random() < 0.5:
                    assert sorted(by_words(store, "tea", 100)) == sorted(there)
            for row_id, text in there.items():
                assert by_words(store, text.split()[1])[:1] == [row_id]
            assert sorted(by_meaning(store, "tea", 100)) == sorted(there)
            store.close()
    shutil.rmtree(path)


def test_many_new_versions_of_rows_do_not_make_it_grow(tmp_path: Path) -> None:
    def size() -> int:
        return sum(each.stat().st_size for each in root_of(tmp_path).iterdir())

    sizes = []
    for opening in range(3):
        with RecallStore(tmp_path, embedding=SMALL) as store:
            for turn in range(opening * 20, opening * 20 + 20):
                new = [Memory(id=f"m{n}", content=f"tea turn{turn} word{n}") for n in range(10)]
                store.add(new)
                assert by_words(store, f"turn{turn} word3", 1) == ["m3"]
        sizes.append(size())
    assert sizes[2] < 1.2 * sizes[0]
    with RecallStore(tmp_path, embedding=SMALL) as store:
        assert len(by_words(store, "tea", 100)) == 10
        assert by_meaning(store, "tea turn59 word3", 1) == ["m3"]


@pytest.mark.skipif(os.name == "nt", reason="folders have no mode there")
def test_what_a_store_makes_is_for_its_user_alone(tmp_path: Path, server_port: int) -> None:
    before = os.umask(0o022)
    try:
        with RecallStore(tmp_path / "a" / "memories", embedding=SMALL) as store:
            store.add(["tea"])
            by_words(store, "tea")
        (tmp_path / "theirs").mkdir()
        with chromadb.PersistentClient(str(tmp_path / "theirs")) as client:
            client.create_collection("memories", embedding_function=None)
        with RecallStore(tmp_path / "theirs", embedding=SMALL) as store:
            by_meaning(store, "tea")
        client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
        name = f"mode-{tmp_path.name}"
        with RecallStore(
            client, name, embedding=SMALL, create=True, index_dir=tmp_path / "rows"
        ) as store:
            store.add(["tea"])
            by_words(store, "tea")
        client.delete_collection(name)
    finally:
        os.umask(before)
    ours = ["a/memories", "a/memories/.recall", "theirs/.recall", "rows"]
    assert {each: oct((tmp_path / each).stat().st_mode & 0o777) for each in ours} == dict.fromkeys(
        ours, "0o700"
    )
    assert (tmp_path / "theirs").stat().st_mode & 0o777 == 0o755  # it was there before


def test_a_closed_store_leaves_no_thread_and_no_file_open(tmp_path: Path) -> None:
    files = Path("/proc/self/fd")
    with RecallStore(tmp_path, embedding=SMALL) as store:
        store.add(["tea", "coffee"])
        assert by_words(store, "tea")
    running = [each.name for each in threading.enumerate() if each.name.startswith("recall-")]
    assert [name for name in running if name.endswith("rows")] == []
    if files.exists():
        until = time.monotonic() + 20  # Chroma lets go of its database in a thread of its own
        while (left := _open_in(files, tmp_path)) and time.monotonic() < until:
            time.sleep(0.05)
        assert left == []


def _open_in(files: Path, folder: Path) -> list[Path]:
    """What this process has open in a folder."""
    opened = []
    for each in files.iterdir():
        with suppress(OSError):  # closed meanwhile
            opened.append(each.readlink())
    return [each for each in opened if str(each).startswith(f"{folder}/")]


def test_while_many_rows_are_read_a_question_is_answered_by_meaning_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecallStore(tmp_path, embedding=SMALL) as store:
        store.add([Memory(id=f"m{n}", content=f"tea word{n}") for n in range(50)])
    shutil.rmtree(tmp_path / ".recall")
    monkeypatch.setattr(row_index, "WAITED_FOR", 10)
    go_on = threading.Event()
    take = row_index.RowIndex.take

    def held(*given: Any) -> None:
        assert go_on.wait(30)
        take(*given)

    monkeypatch.setattr(row_index.RowIndex, "take", held)
    with RecallStore(tmp_path, embedding=SMALL) as store:
        retriever = RecallRetriever(store=store, k=3)
        first = retriever.invoke("tea word7")
        assert first[0].id == "m7"
        assert all("words" in each.metadata["recall_degraded"] for each in first)
        store.add([Memory(id="new", content="tea milk"), Memory(id="m3", content="tea")])
        go_on.set()
        assert by_words(store, "milk") == ["new"]  # it needs all words, and waits for them
        assert by_words(store, "word3") == []  # what was written meanwhile is newer
        found = retriever.invoke("tea word7")
        assert found[0].id == "m7"
        assert "recall_degraded" not in found[0].metadata


def test_on_a_full_disk_the_row_index_goes_on_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def add(store: RecallStore, start: int) -> None:
        store.add([Memory(id=f"m{n}", content=f"tea word{n}") for n in range(start, start + 200)])

    with RecallStore(tmp_path, embedding=SMALL) as store:
        add(store, 0)
        assert by_words(store, "word7") == ["m7"]
        [shared] = [rows for key, rows in scoped_rows._open.items() if key[0] == str(tmp_path)]
        with shared.using(Scope()) as index:
            index.table.data._writer.execute("PRAGMA max_page_count = 1")  # it may not grow
        add(store, 200)
        for name in ("7", "207"):
            assert by_words(store, f"word{name}") == [f"m{name}"]
        store.delete(["m7"])
        assert len(by_words(store, "tea", 500)) == 399
    assert "kept in memory" in caplog.text
    with RecallStore(tmp_path, embedding=SMALL) as store:
        assert [by_words(store, f"word{name}") for name in ("7", "207")] == [[], ["m207"]]
