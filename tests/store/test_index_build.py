"""The row index is built once: a build that was killed goes on, and opening reads no file anew."""

import shutil
from pathlib import Path
from typing import Any

import chromadb
import pytest
from store.following import by_meaning, by_words
from store.kit import SmallEmbedding
from store.test_index_on_disk import root_of

from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import follower, row_index

SMALL = SmallEmbedding(16)
ROWS = 120


def fill(path: Path) -> None:
    with RecallStore(path, embedding=SMALL) as store:
        store.add([Memory(id=f"m{n}", content=f"tea word{n}") for n in range(ROWS)])


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the rows that are read from Chroma, ten at a time."""
    monkeypatch.setattr(follower, "_PAGE", 10)
    ids: list[str] = []
    take = row_index.RowIndex.take

    def noted(rows: row_index.RowIndex, page: Any, changed: Any) -> None:
        ids.extend(page["ids"])
        take(rows, page, changed)

    monkeypatch.setattr(row_index.RowIndex, "take", noted)
    return ids


def test_a_build_that_was_killed_goes_on_where_it_was(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, killed = tmp_path / "memories", tmp_path / "killed"
    fill(path)
    shutil.rmtree(path / ".recall")
    take = row_index.RowIndex.take

    def copied(rows: row_index.RowIndex, page: Any, changed: Any) -> None:
        take(rows, page, changed)
        if len(read) == ROWS // 2:
            shutil.copytree(path / ".recall", killed)

    with monkeypatch.context() as here:
        here.setattr(row_index.RowIndex, "take", copied)
        with RecallStore(path, embedding=SMALL) as store:
            assert by_words(store, "word7") == ["m7"]
    assert len(read) == ROWS

    shutil.rmtree(path / ".recall")
    killed.rename(path / ".recall")
    read.clear()
    with chromadb.PersistentClient(str(path)) as client:
        raw = client.get_collection("memories", embedding_function=None)
        raw.delete(ids=["m1"])
        raw.update(ids=["m2"], documents=["milk"], embeddings=[SMALL.embed_query("milk")])
    with RecallStore(path, embedding=SMALL) as store:
        found = [by_words(store, each) for each in ("word1", "word2", "word3", "word119", "milk")]
        assert found == [[], [], ["m3"], ["m119"], ["m2"]]
        assert len(by_words(store, "tea", ROWS)) == ROWS - 2
        assert len(by_meaning(store, "tea", ROWS)) == ROWS - 1
    assert len(read) < ROWS - 5


def test_a_database_that_was_put_back_is_read_anew(tmp_path: Path) -> None:
    path, backup, kept = tmp_path / "memories", tmp_path / "backup", tmp_path / "kept"
    fill(path)
    shutil.copytree(path, backup, ignore=shutil.ignore_patterns(".recall"))
    with RecallStore(path, embedding=SMALL) as store:
        store.add([Memory(id=f"m{n}", content=f"milk word{n}") for n in range(ROWS)])
        assert len(by_words(store, "milk", ROWS)) == ROWS
    (path / ".recall").rename(kept)
    shutil.rmtree(path)
    backup.rename(path)
    kept.rename(path / ".recall")
    with RecallStore(path, embedding=SMALL) as store:
        assert by_words(store, "milk") == []
        assert len(by_words(store, "tea", ROWS)) == ROWS


def test_opening_reads_no_row_and_changes_no_file(tmp_path: Path, read: list[str]) -> None:
    """A file that looks changed is read from end to end when the index is opened again."""
    fill(tmp_path)
    folder = root_of(tmp_path)
    before = {each: each.stat() for each in folder.iterdir() if each.name != "closed.mark"}
    with RecallStore(tmp_path, embedding=SMALL) as store:
        assert by_words(store, "word7") == ["m7"]
    assert read == []
    for each, old in before.items():
        assert (each.stat().st_mtime_ns, each.stat().st_size) == (old.st_mtime_ns, old.st_size)
