"""The row index of a path: raw chromadb's writes are seen at once, and it is safe to delete."""

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from store.kit import SmallEmbedding
from store.places import by_meaning, by_words

from langchain_recall import RecallRetriever
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.local_model import Embedded, unit
from recall_retrievers.store.rows import row_index, scoped_rows, words
from recall_retrievers.store.rows.columns import Wanted
from recall_retrievers.store.rows.table import Table

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
def test_what_a_store_makes_is_for_its_user_alone(
    tmp_path: Path, server_port: int, collection_name: str
) -> None:
    server = chromadb.HttpClient(host="127.0.0.1", port=server_port)
    theirs, rows = tmp_path / "theirs", tmp_path / "rows"
    before = os.umask(0o022)
    try:
        theirs.mkdir()
        for source, more in ((tmp_path / "a" / "ours", None), (theirs, None), (server, rows)):
            with RecallStore(
                source, collection_name, embedding=SMALL, create=True, index_dir=more
            ) as store:
                store.add(["tea"])
    finally:
        os.umask(before)
    server.delete_collection(collection_name)
    ours = ["a/ours", "a/ours/.recall", "theirs/.recall", "rows"]
    assert {oct((tmp_path / each).stat().st_mode & 0o777) for each in ours} == {"0o700"}
    assert theirs.stat().st_mode & 0o777 == 0o755  # it was there before


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
        with rows_of(tmp_path).using(Scope()) as index:
            index.table.data._writer.execute("PRAGMA max_page_count = 1")  # it may not grow
        add(store, 200)
        for name in ("7", "207"):
            assert by_words(store, f"word{name}") == [f"m{name}"]
        store.delete(["m7"])
        assert len(by_words(store, "tea", 500)) == 399
    assert "kept in memory" in caplog.text
    with RecallStore(tmp_path, embedding=SMALL) as store:
        assert [by_words(store, f"word{name}") for name in ("7", "207")] == [[], ["m207"]]


def test_a_change_that_fails_in_the_middle_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Table(lambda _: Candidate(content="tea"), tmp_path)
    rows.put([("a", "tea", {})], [Candidate(content="tea")])
    monkeypatch.setattr(words, "put", lambda *_: (_ for _ in ()).throw(OSError("no room")))
    for change in (lambda: rows.put([("b", "tea", {})], [None]), lambda: rows.drop(["a"])):
        with pytest.raises(OSError, match="no room"):
            change()
    monkeypatch.undo()
    rows.close()
    again = Table(lambda _: Candidate(content="tea"), tmp_path)
    assert again.ids() == ["a"]
    assert len(again.by_words("tea", 5, *again.select([(Wanted(Scope()), None)]))[0]) == 1


def test_the_nearest_by_sketches_are_those_of_plain_cosines() -> None:
    """However near to each other all are, and however many came since sketches were made."""
    rng = np.random.default_rng(7)
    topics = 2 * rng.standard_normal((300, 64))[rng.integers(0, 300, 6_000)]
    rows = unit((rng.standard_normal((6_000, 64)) + topics + 4).astype(np.float32))
    questions = unit(rows[::100] + unit(rng.standard_normal((60, 64), dtype=np.float32)) / 8)
    table, there, found, wanted = Table(lambda _: None), 0, 0, 0
    for end in (2_000, 3_500, 6_000):
        new = [(str(n), None, None) for n in range(there, end)]
        table.put(new, [None] * len(new), Embedded(rows[there:end]))
        there, asked = end, questions[: end // 100]
        for question, cosines in zip(asked, asked @ rows[:end].T, strict=True):
            best, similarities = table.nearest(table.living(), question, 10, 400)
            assert similarities == pytest.approx(cosines[best], abs=1e-5)
            found += np.isin(np.argsort(-cosines)[:10], best).sum()
            wanted += 10
    assert found >= 0.99 * wanted


def test_opening_reads_no_row_and_changes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that looks changed is read from end to end when the index is opened again."""
    with RecallStore(tmp_path, embedding=SMALL) as store:
        store.add([Memory(id=f"m{n}", content=f"tea word{n}") for n in range(120)])
    folder = root_of(tmp_path)
    before = {each: each.stat() for each in folder.iterdir() if each.name != "closed.mark"}
    monkeypatch.delattr(row_index.RowIndex, "take")
    with RecallStore(tmp_path, embedding=SMALL) as store:
        assert by_words(store, "word7") == ["m7"]
    for each, old in before.items():
        assert (each.stat().st_mtime_ns, each.stat().st_size) == (old.st_mtime_ns, old.st_size)


def rows_of(folder: Path) -> scoped_rows.ScopedRows:
    [rows] = [rows for key, rows in scoped_rows._open.items() if key[0] == str(folder)]
    return rows


def test_what_is_closed_is_not_mapped_again(tmp_path: Path) -> None:
    with RecallStore(tmp_path) as store:
        store.add(["Tea at four."])
        with rows_of(tmp_path).using(Scope()) as index:
            table = index.table  # as a thread holds it that searches
    with pytest.raises(StoreClosedError):
        table.nearest(table.living(), np.zeros(384, np.float32), 1, 1)
