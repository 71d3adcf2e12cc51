"""A damaged path is noticed before Chroma's engine reads it, named, and repaired."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chroma_server import ChromaServer
from store.elsewhere import server
from store.killed import new_store
from store.kit import Counting, SmallEmbedding, best

from recall_retrievers.core.errors import (
    EmbeddingMismatchError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)
from recall_retrievers.store import RecallStore, doctor

ROWS = 130
SAVED_EACH = 50  # so 100 rows stand in the index; Chroma's log has the rest
LOST = 98  # vectors that only the index has


def text(number: int) -> str:
    return f"memory number{number} of the dentist"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A path whose index Chroma has saved, closed well."""
    path = tmp_path_factory.mktemp("whole") / "memories"
    new_store(path, SAVED_EACH)
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        for start in range(0, ROWS, 10):
            numbers = range(start, start + 10)
            store.add({"id": f"m{x}", "content": text(x), "author": "Ann"} for x in numbers)
        store.delete(["m3", "m104"])
    return path


@pytest.fixture(autouse=True)
def in_this_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is asked in this process, which is quicker, where it does not end the process."""
    if not request.node.get_closest_marker("own_process"):
        monkeypatch.setattr(doctor, "_frozen", True)


own_process = pytest.mark.own_process


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "my memories ü"))


@pytest.fixture
def without_rows(path: Path) -> Path:
    """It has no row index, which has all vectors."""
    for rows in path.glob(".recall/*/rows.sqlite"):
        shutil.rmtree(rows.parent)
    return path


def index_of(path: Path) -> Path:
    [header] = path.glob("*/header.bin")
    return header.parent


def cut_off(name: str, size: int) -> Callable[[Path], None]:
    return lambda index: os.truncate(index / name, size)


def garbage_rows(index: Path) -> None:
    """It ends the process that reads it."""
    (index / "data_level0.bin").write_bytes(os.urandom((index / "data_level0.bin").stat().st_size))


without_names, header_cut_off = cut_off("index_metadata.pickle", 0), cut_off("header.bin", 70)
DAMAGE: dict[str, Callable[[Path], object]] = {
    "without folder": shutil.rmtree,
    "garbage rows": garbage_rows,
    "header cut off": header_cut_off,
    "links of terabytes": cut_off("link_lists.bin", 4 << 40),
}


@contextmanager
def raw(path: Path) -> Iterator[Any]:
    """The collection, by Chroma's own client."""
    with chromadb.PersistentClient(str(path)) as client:
        yield client.get_collection("memories", embedding_function=None)


def all_is_there(path: Path) -> bool:
    ids = {f"m{x}" for x in range(ROWS)} - {"m3", "m104"}
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        there = {each.id: each.content for each in store.memories()}
        found = there.keys() == ids and all(
            best(store, text(x), method=method)[0].id == f"m{x}"
            for x in (0, 50, 99, 100, 129)
            for method in ("semantic", "keyword")
        )
    with raw(path) as rows:
        vectors = SmallEmbedding().embed_documents([f"Ann: {text}" for text in there.values()])
        nearest = rows.query(query_embeddings=vectors, n_results=1, include=[])["ids"]
    return found and nearest == [[x] for x in there]


@own_process
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_noticed_and_repaired(path: Path, damage: Callable[[Path], object]) -> None:
    damage(index_of(path))

    with pytest.raises(StoreDamagedError, match=r"texts of all memories are.*recall repair"):
        RecallStore(path, embedding=SmallEmbedding())
    embedding = Counting()
    [repaired] = RecallStore.repair(path, embedding=embedding)

    assert (repaired.recovered, repaired.embedded, embedding.embedded) == (128, 0, 0)
    assert all_is_there(path)
    assert not (path / ".recall" / "damaged").exists()


def test_what_no_row_index_has_is_embedded_again(without_rows: Path) -> None:
    path = without_rows
    index = index_of(path)
    without_names(index)
    [checked] = RecallStore.check(path)
    assert not checked.whole
    assert "recall repair" in str(checked)

    before = {each: each.read_bytes() for each in index.iterdir()}
    with pytest.raises(EmbeddingMismatchError, match=rf"{LOST} vectors.*'small'.*'other'"):
        RecallStore.repair(path, embedding=SmallEmbedding(model_name="other"))
    assert {each: each.read_bytes() for each in index.iterdir()} == before
    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())

    assert (repaired.rows, repaired.embedded) == (128, LOST)
    assert all_is_there(path)


def zeros(data: bytes) -> bytes:
    return bytes(len(data))


def of_other_rows(data: bytes) -> bytes:
    return data[4 * 64 :] + data[: 4 * 64]


def pages_swapped(data: bytes) -> bytes:
    return data[8192:12288] + data[4096:8192] + data[:4096] + data[12288:]


def tear(file: Path, damage: Callable[[bytes], bytes]) -> None:
    """Damage a file that keeps its time, as a power cut does."""
    stat = file.stat()
    file.write_bytes(damage(file.read_bytes()))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize(("damage", "killed"), [(zeros, True), (of_other_rows, False)])
def test_vectors_that_a_power_cut_took_are_read_from_chroma_and_never_repaired_with(
    path: Path, tmp_path: Path, damage: Callable[[bytes], bytes], killed: bool
) -> None:
    for vectors in path.glob(".recall/*/vectors"):
        tear(vectors, damage)
        if killed:
            vectors.with_name("closed.json").unlink(missing_ok=True)
    [checked] = RecallStore.check(path)
    assert "row index" in str(checked)
    again = Path(shutil.copytree(path, tmp_path / "again"))
    assert all_is_there(path)
    without_names(index_of(again))

    [repaired] = RecallStore.repair(again, embedding=SmallEmbedding())

    assert repaired.embedded == LOST
    assert all_is_there(again)


def test_bytes_that_changed_their_place_are_noticed(path: Path) -> None:
    tear(index_of(path) / "data_level0.bin", pages_swapped)
    with pytest.raises(StoreDamagedError, match=r"data_level0.bin has other bytes"):
        RecallStore(path, embedding=SmallEmbedding())
    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())
    assert "other bytes" in str(repaired)
    for rows in path.glob(".recall/*/rows.sqlite"):
        tear(rows, pages_swapped)
    assert all_is_there(path)


def test_a_check_compares_vectors_after_an_unclean_end_of_ours(path: Path) -> None:
    with raw(path) as rows:  # that is how Chroma saves what a power cut leaves of a page
        milk = SmallEmbedding().embed_query("milk")
        rows.update(ids=["m5"], embeddings=[milk])
        for n in range(SAVED_EACH):
            rows.update(ids=["m6"], metadatas=[{"n": n}])
    killed = Path(shutil.copytree(path, path.parent / "killed"))
    RecallStore(path, embedding=SmallEmbedding()).close()  # others may have written that
    for note in killed.glob(".recall/*/closed.json"):
        note.unlink()

    assert "1 of 128 vectors are not those" in str(RecallStore.check(killed)[0])
    assert RecallStore.repair(killed)[0].embedded == 0
    assert all_is_there(killed)


def test_equal_vectors_that_others_have_stored_in_place_of_ours_are_no_fault(path: Path) -> None:
    """Chroma's graph has no way to some of many equal vectors."""
    with raw(path) as rows:
        ids = rows.get(include=[])["ids"]
        milk = SmallEmbedding().embed_query("milk")
        rows.update(ids=ids, documents=["milk"] * len(ids), embeddings=[milk] * len(ids))
    for note in path.glob(".recall/*/closed.json"):
        note.unlink()

    [checked] = RecallStore.check(path)
    assert checked.whole, checked


@own_process
def test_a_path_that_was_closed_well_starts_no_process(
    tmp_path: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    for turn in range(2):
        with RecallStore(path, embedding=SmallEmbedding()) as store:
            store.add([text(x + 100 * turn) for x in range(ROWS, ROWS + 60)])  # Chroma saves again
        with RecallStore(tmp_path / "new", f"new{turn}", embedding=SmallEmbedding()) as store:
            store.add([text(1)])
    header_cut_off(index_of(path))
    with pytest.raises(StoreError, match=r"not checked: Python does not start"):
        RecallStore(path, embedding=SmallEmbedding())


def test_an_index_that_was_torn_while_it_was_open_is_not_read_at_the_close(path: Path) -> None:
    """Of terabytes, that would take days. The next one who opens the path is told."""
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        assert best(store, text(0))
        DAMAGE["links of terabytes"](index_of(path))

    with pytest.raises(StoreDamagedError, match="far too large"):
        RecallStore(path, embedding=SmallEmbedding())


@own_process
def test_a_torn_index_cannot_fill_the_disk(path: Path) -> None:
    """Chroma saves some of them without an end, and who asked may be killed meanwhile."""
    saves = f"open({str(path / 'huge')!r}, 'wb').write(bytes(1 << 29)) and []"
    lines = f"doctor._answers = lambda *_: {saves}; doctor.answer()"
    asked = [sys.executable, "-c", f"from recall_retrievers.store import doctor; {lines}"]

    done = subprocess.run([*asked, json.dumps([60, str(path), False, []])], check=False)

    assert done.returncode == -signal.SIGXFSZ
    assert (path / "huge").stat().st_size < 1 << 29


@own_process
def test_a_process_that_hangs_is_an_answer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = path.parent / "python"
    python.write_text(
        '#!/bin/sh\necho \'["7", "notes", 0, ""]\'\nexec sleep 600\n', encoding="utf-8"
    )
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(doctor, "_LEAST_S", 0)
    monkeypatch.setattr(doctor, "_BYTES_A_SECOND", (path / "chroma.sqlite3").stat().st_size // 3)

    assert "not done in 3 s" in str(RecallStore.check(path)[0])


@pytest.mark.parametrize("metadata", [{"k": [*range(6000)]}, {f"k{n}": n for n in range(6000)}])
def test_a_memory_that_chroma_cannot_apply_is_taken_out_of_its_log(
    path: Path, metadata: Any
) -> None:
    new = {"documents": ["tea"], "embeddings": [SmallEmbedding().embed_query("tea")]}
    for row_id, values in (("too large", metadata), ("waits", {"n": 1})):
        with raw(path) as rows, suppress(chromadb.errors.ChromaError):
            rows.add(ids=[row_id], metadatas=[values], **new)

    [checked] = RecallStore.check(path)
    assert "cannot store 'too large'" in str(checked)
    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())

    assert repaired.taken_out == ("too large",)
    assert "taken out of Chroma's log, as it cannot store it: 'too large'" in str(repaired)
    assert RecallStore.check(path)[0].whole
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        assert len(store.get(["m0", "waits", "too large"])) == 2
        store.add([{"id": "next", "content": "coffee"}])
        assert best(store, "tea", method="keyword")[0].id == "waits"


def test_a_row_that_only_the_index_still_has_is_a_fault(path: Path) -> None:
    with closing(sqlite3.connect(path / "chroma.sqlite3")) as database, database:
        database.execute("DELETE FROM embeddings WHERE embedding_id = 'm50'")

    [checked] = RecallStore.check(path)
    assert "1 rows that were deleted" in str(checked)
    RecallStore.repair(path, embedding=SmallEmbedding())
    [checked] = RecallStore.check(path)
    assert checked.whole


def test_a_vector_that_the_row_index_has_of_another_text_is_made_again(path: Path) -> None:
    with raw(path) as rows:
        new = SmallEmbedding().embed_query("milk")
        rows.update(ids=["m5"], documents=["milk"], embeddings=[new])
        for n in range(SAVED_EACH):  # so that the log does not have it any more
            rows.update(ids=["m6"], metadatas=[{"n": n}])
        rows.upsert(ids=["m7"], embeddings=[SmallEmbedding().embed_query("tea")])  # the log has it
    without_names(index_of(path))

    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())

    assert repaired.embedded == 1
    with raw(path) as rows:
        asked = SmallEmbedding().embed_documents(["Ann: milk", f"Ann: {text(6)}", "tea"])
        assert rows.query(query_embeddings=asked, n_results=1)["ids"] == [["m5"], ["m6"], ["m7"]]


@pytest.mark.parametrize("left", [None, b"", b"no database at all" * 10])
def test_a_path_that_held_memories_and_now_has_none_says_so(path: Path, left: bytes | None) -> None:
    (path / "chroma.sqlite3").unlink()
    if left is not None:
        (path / "chroma.sqlite3").write_bytes(left)

    for opening in (RecallStore, RecallStore.repair):
        with pytest.raises(StoreDamagedError, match="from a backup"):
            opening(path, embedding=SmallEmbedding())


@pytest.mark.parametrize("whole_until", [1, 40])  # pages
def test_a_damaged_database_is_named(path: Path, whole_until: int) -> None:
    database = path / "chroma.sqlite3"
    whole = database.read_bytes()
    assert len(whole) > 50 * 4096
    database.write_bytes(whole[: whole_until * 4096] + os.urandom(len(whole) - whole_until * 4096))

    with (
        pytest.raises(StoreDamagedError, match=r"chroma\.sqlite3.*backup.*recall check"),
        RecallStore(path, embedding=SmallEmbedding()) as store,
    ):
        [*store.memories(), store.add([text(1)])]
    [checked] = RecallStore.check(path)
    assert (checked.name, checked.whole) == ("chroma.sqlite3", False)


class _Deadly(SmallEmbedding):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_documents(texts)


def _repair_and_die(path: Path) -> None:
    RecallStore.repair(path, embedding=_Deadly())


@own_process
def test_other_collections_stay_as_they_are_and_a_repair_that_was_killed_is_done_again(
    without_rows: Path,
) -> None:
    path, index = without_rows, index_of(without_rows)
    vectors = [[float(x), 1.0] for x in range(5)]
    with chromadb.PersistentClient(str(path)) as client:
        settings = {"hnsw": {"space": "l2", "sync_threshold": 2}}
        others = client.create_collection("others", configuration=settings, embedding_function=None)
        others.add(ids=list("abcde"), embeddings=vectors, documents=list("abcde"))
    garbage_rows(index)
    with RecallStore(path, "new", embedding=SmallEmbedding()) as store:  # that vouches for nothing
        store.add([text(1)])

    process = server.Process(target=_repair_and_die, args=(path,))
    process.start()
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    with pytest.raises(StoreDamagedError, match="recall repair"):
        RecallStore(path, embedding=SmallEmbedding())
    repaired = {each.name: each for each in RecallStore.repair(path, embedding=SmallEmbedding())}

    assert (repaired["memories"].embedded, repaired["others"].fault) == (LOST, None)
    assert all_is_there(path)
    with chromadb.PersistentClient(str(path)) as client:
        found = client.get_collection("others").get(include=["embeddings"])
    assert found["embeddings"].tolist() == vectors


@own_process
def test_a_client_that_is_handed_in_reads_nothing_damaged(path: Path) -> None:
    garbage_rows(index_of(path))
    with (
        chromadb.PersistentClient(os.path.realpath(path)) as client,
        pytest.raises(StoreDamagedError, match="recall repair"),
    ):
        RecallStore(client, embedding=SmallEmbedding())


def test_a_path_that_is_open_or_none_is_not_repaired(path: Path, tmp_path: Path) -> None:
    with (
        RecallStore(path, embedding=SmallEmbedding()),
        pytest.raises(StoreLockedError, match="close its stores"),
    ):
        RecallStore.repair(path)
    with pytest.raises(StoreError, match="there is no folder"):
        RecallStore.repair(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


@own_process
def test_what_a_server_has_lost_is_stored_by_a_load_that_is_done_again(path: Path) -> None:
    (index_of(path) / "index_metadata.pickle").unlink()  # Chroma takes it for a new index
    server = ChromaServer(path)
    embedding = Counting()
    rows = [{"id": f"m{x}", "content": text(x), "author": "Ann"} for x in range(40)]
    try:
        with RecallStore(server.client(), embedding=embedding) as store:
            store.add(rows)
            assert best(store, text(7))[0].id == "m7"
            embedding.embedded = 0
            store.add(rows)
    finally:
        server.stop()

    assert embedding.embedded == 0


def test_vectors_that_are_not_scaled_keep_their_length(tmp_path: Path) -> None:
    class Long(SmallEmbedding):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[3 * x for x in vector] for vector in super().embed_documents(texts)]

    path = tmp_path / "memories"
    client = chromadb.PersistentClient(str(path))
    settings = {"hnsw": {"space": "l2", "sync_threshold": 20}}
    client.create_collection("memories", configuration=settings, embedding_function=None)
    client.close()
    with RecallStore(path, embedding=Long()) as store:  # it becomes one of ours
        store.add({"id": f"m{x}", "content": text(x)} for x in range(20))
    without_names(index_of(path))

    RecallStore.repair(path, embedding=Long())

    with raw(path) as rows:
        read = np.asarray(rows.get(include=["embeddings"])["embeddings"])
    assert np.linalg.norm(read, axis=1) == pytest.approx(3 * np.ones(20), abs=1e-4)
