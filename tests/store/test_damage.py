"""A damaged path is noticed before Chroma's engine reads it, named, and repaired."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chroma_server import ChromaServer
from store.elsewhere import opens_elsewhere
from store.killed import new_store
from store.kit import Counting, SmallEmbedding, best

from recall_retrievers.core.errors import (
    EmbeddingMismatchError,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)
from recall_retrievers.store import RecallStore
from recall_retrievers.store.doctor import repair

ROWS = 130
SAVED_EACH = 50  # so 100 rows stand in the index; Chroma's log has the rest
LOST = 99  # vectors that only the index has: one of its rows was deleted


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


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    """A copy of it without a row index, which has all vectors."""
    copy = Path(shutil.copytree(whole, tmp_path / "my memories ü"))
    for rows in copy.glob(".recall/*/rows.sqlite"):
        shutil.rmtree(rows.parent)
    return copy


def index_of(path: Path) -> Path:
    [header] = path.glob("*/header.bin")
    return header.parent


def rows_of(path: Path) -> Path:
    """The folder of the row index that has rows."""
    return max(path.glob(".recall/*/rows.sqlite"), key=lambda each: each.stat().st_size).parent


def without_names(index: Path) -> None:
    (index / "index_metadata.pickle").unlink()


def code_for_names(index: Path) -> None:
    (index / "index_metadata.pickle").write_bytes(b"cos\nabort\n(tR.")  # pickled: os.abort()


def header_ahead(index: Path) -> None:
    """As a kill leaves it that came before the rows were written: it counts rows to come."""
    header = bytearray((index / "header.bin").read_bytes())
    header[20:28] = (120).to_bytes(8, "little")
    (index / "header.bin").write_bytes(header)


def garbage_rows(index: Path) -> None:
    (index / "data_level0.bin").write_bytes(os.urandom((index / "data_level0.bin").stat().st_size))


def cut_off(name: str, size: int) -> Callable[[Path], None]:
    return lambda index: os.truncate(index / name, size)


header_cut_off, links_cut_off = cut_off("header.bin", 40), cut_off("link_lists.bin", 100)
lengths_cut_off = cut_off("length.bin", 40)
# Each damage, and how many vectors are lost.
DAMAGE: dict[str, tuple[Callable[[Path], object], int]] = {
    "without folder": (shutil.rmtree, LOST),
    "without names": (without_names, LOST),
    "names cut off": (cut_off("index_metadata.pickle", 500), LOST),
    "code for names": (code_for_names, LOST),
    "garbage rows": (garbage_rows, LOST),
    "header cut off": (header_cut_off, 0),
    "header ahead": (header_ahead, 0),
    "links cut off": (links_cut_off, 0),
    "links of terabytes": (cut_off("link_lists.bin", 4 << 40), 0),
    "lengths cut off": (lengths_cut_off, 0),
}


@contextmanager
def raw(path: Path) -> Iterator[Any]:
    """The collection, by Chroma's own client."""
    with chromadb.PersistentClient(str(path)) as client:
        yield client.get_collection("memories", embedding_function=None)


def all_is_there(path: Path, embedding: SmallEmbedding) -> bool:
    with RecallStore(path, embedding=embedding) as store:
        ids = {f"m{x}" for x in range(ROWS)} - {"m3", "m104"}
        return {each.id for each in store.memories()} == ids and all(
            best(store, text(x), method=method)[0].id == f"m{x}"
            for x in (0, 50, 99, 100, 129)
            for method in ("semantic", "keyword")
        )


@pytest.mark.parametrize(("damage", "lost"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_noticed_and_repaired(
    path: Path, damage: Callable[[Path], object], lost: int
) -> None:
    damage(index_of(path))

    for _ in range(2):  # the first one, which closes the path, does not vouch for its files
        with pytest.raises(StoreDamagedError, match=r"128 rows are intact.*recall repair"):
            RecallStore(path, embedding=SmallEmbedding())
    [checked] = RecallStore.check(path)
    assert not checked.whole
    assert "recall repair" in str(checked)

    embedding = Counting()
    [repaired] = RecallStore.repair(path, embedding=embedding)

    assert embedding.embedded == repaired.embedded == lost
    assert repaired.recovered == 128 - repaired.embedded
    assert all_is_there(path, SmallEmbedding())
    assert not list((path / ".recall").glob("repair/*"))  # nothing is left of the work
    assert not list((path / ".recall").glob("damaged/*"))


def zeros(data: bytes) -> bytes:
    return bytes(len(data))


def cut(data: bytes) -> bytes:
    return data[: 20 * 4 * 64]


def of_other_rows(data: bytes) -> bytes:
    return data[4 * 64 :] + data[: 4 * 64]


def pages_swapped(data: bytes) -> bytes:
    return data[8192:12288] + data[4096:8192] + data[:4096] + data[12288:]


def tear(file: Path, damage: Callable[[bytes], bytes]) -> None:
    """Damage a file that keeps its time, as a power cut does."""
    stat = file.stat()
    file.write_bytes(damage(file.read_bytes()))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.parametrize("damage", [zeros, cut, of_other_rows])
@pytest.mark.parametrize("killed", [True, False], ids=["killed", "closed"])
def test_vectors_that_a_power_cut_took_are_read_from_chroma_and_never_repaired_with(
    whole: Path, tmp_path: Path, damage: Callable[[bytes], bytes], killed: bool
) -> None:
    path = Path(shutil.copytree(whole, tmp_path / "memories"))
    for vectors in path.glob(".recall/*/vectors"):
        tear(vectors, damage)
        if killed:
            vectors.with_name("closed.json").unlink(missing_ok=True)
    [checked] = RecallStore.check(path)
    assert "row index" in str(checked)
    again = Path(shutil.copytree(path, tmp_path / "again"))
    without_names(index_of(again))
    assert all_is_there(path, SmallEmbedding())

    [repaired] = RecallStore.repair(again, embedding=SmallEmbedding())

    assert repaired.embedded >= (LOST if damage is not cut else LOST - 20)
    with raw(again) as rows:
        found = np.asarray(rows.get(include=["embeddings"])["embeddings"])
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(128), abs=1e-4)
    assert all_is_there(again, SmallEmbedding())


def test_bytes_that_changed_their_place_are_noticed(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(whole, tmp_path / "memories"))
    tear(index_of(path) / "data_level0.bin", pages_swapped)
    with pytest.raises(StoreDamagedError, match=r"data_level0.bin has other bytes"):
        RecallStore(path, embedding=SmallEmbedding())
    RecallStore.repair(path, embedding=SmallEmbedding())
    tear(rows_of(path) / "rows.sqlite", pages_swapped)
    assert all_is_there(path, SmallEmbedding())


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
    assert not checked.whole
    RecallStore.repair(path, embedding=SmallEmbedding())
    [checked] = RecallStore.check(path)
    assert checked.whole


def test_the_vectors_of_the_row_index_are_not_made_again(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(whole, tmp_path / "memories"))
    with raw(path) as rows:  # the row index has not followed that
        milk = SmallEmbedding().embed_query("milk")
        rows.update(ids=["m5"], documents=[text(5)], embeddings=[milk])
    without_names(index_of(path))

    embedding = Counting()
    [repaired] = RecallStore.repair(path, embedding=embedding)

    assert (repaired.embedded, repaired.recovered) == (0, 128)
    assert all_is_there(path, SmallEmbedding())
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        assert best(store, "milk")[0].id == "m5"


def test_a_vector_that_the_row_index_has_of_an_earlier_time_is_made_again(
    whole: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copytree(whole, tmp_path / "memories"))
    with raw(path) as rows:
        new = SmallEmbedding().embed_query("milk")
        rows.update(ids=["m5"], documents=["milk"], embeddings=[new])
        for n in range(SAVED_EACH):  # so that the log does not have it any more
            rows.update(ids=["m6"], metadatas=[{"n": n}])
    without_names(index_of(path))

    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())

    assert repaired.embedded == 2
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        assert best(store, "milk")[0].id == "m5"
        assert best(store, text(6))[0].id == "m6"


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
    header_cut_off(index_of(path))

    RecallStore.repair(path, embedding=Long())

    with raw(path) as rows:
        read = np.asarray(rows.get(include=["embeddings"])["embeddings"])
    assert np.linalg.norm(read, axis=1) == pytest.approx(3 * np.ones(20), abs=1e-4)


def test_a_large_index_is_saved_to_its_last_row(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, rows in (("_SAVED", 40), ("_BATCH", 20)):
        monkeypatch.setattr(repair, name, rows)
    header_cut_off(index_of(path))

    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())

    assert repaired.embedded == 0
    assert all_is_there(path, SmallEmbedding())


def test_a_row_index_that_is_newer_than_the_database_is_not_believed(
    whole: Path, path: Path, tmp_path: Path
) -> None:
    later = Path(shutil.copytree(whole, tmp_path / "later"))
    with RecallStore(later, embedding=SmallEmbedding()) as store:
        store.add([{"id": "m5", "content": "milk"}])
    shutil.copytree(later / ".recall", path / ".recall", dirs_exist_ok=True)
    for as_it_was in path.glob(".recall/*-*-*-*-*-*"):  # before the collection was one of ours
        shutil.rmtree(as_it_was)
    without_names(index_of(path))

    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())

    assert repaired.embedded == LOST
    assert all_is_there(path, SmallEmbedding())


def test_a_path_that_is_whole_is_left_as_it_is(path: Path) -> None:
    before = {each: each.read_bytes() for each in index_of(path).iterdir()}
    left_over = path / ".recall" / "damaged" / index_of(path).name  # of a repair killed at its end
    left_over.mkdir(parents=True)

    [repaired] = RecallStore.repair(path)

    assert str(repaired) == "memories: 128 memories, nothing to repair"
    assert not left_over.exists()
    assert {each: each.read_bytes() for each in index_of(path).iterdir()} == before


def test_a_copy_and_a_path_that_was_never_closed_are_whole(path: Path, tmp_path: Path) -> None:
    store = RecallStore(path, embedding=SmallEmbedding())
    store.add([text(x) for x in range(ROWS, ROWS + 60)])  # Chroma saves again
    copied = Path(shutil.copytree(path, tmp_path / "copy", copy_function=shutil.copyfile))
    store.close()

    assert opens_elsewhere(copied) == "188"


@pytest.mark.parametrize("left", [None, b"", b"no database at all" * 10])
def test_a_path_that_held_memories_and_now_has_none_says_so(path: Path, left: bytes | None) -> None:
    (path / "chroma.sqlite3").unlink()
    if left is not None:
        (path / "chroma.sqlite3").write_bytes(left)

    for opening in (RecallStore, RecallStore.repair):
        with pytest.raises(StoreDamagedError, match=r"held memories.*from a backup"):
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
        [*store.memories()]
    [checked] = RecallStore.check(path)
    assert (checked.name, checked.whole) == ("chroma.sqlite3", False)


def header_of_another_version(path: Path, _: pytest.MonkeyPatch) -> None:
    header = bytearray((index_of(path) / "header.bin").read_bytes())
    header[:4] = (2).to_bytes(4, "little")
    (index_of(path) / "header.bin").write_bytes(header)


def longer_header(path: Path, changed: pytest.MonkeyPatch) -> None:
    header_of_another_version(path, changed)
    with (index_of(path) / "header.bin").open("ab") as file:
        file.write(bytes(8))


def names_in_another_file(path: Path, _: pytest.MonkeyPatch) -> None:
    names = index_of(path) / "index_metadata.pickle"
    names.rename(names.with_suffix(".bin"))


def newer_chroma(path: Path, changed: pytest.MonkeyPatch) -> None:
    changed.setattr(chromadb, "__version__", "1.10.0")
    lengths_cut_off(index_of(path))


OTHER = [header_of_another_version, longer_header, names_in_another_file, newer_chroma]


@pytest.mark.parametrize("change", OTHER)
def test_a_layout_of_another_chroma_is_left_alone(
    path: Path,
    change: Callable[[Path, pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    change(path, monkeypatch)

    with RecallStore(path, embedding=SmallEmbedding()) as store:
        assert store.name == "memories"
    warned = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert len([each for each in warned if "is not checked" in each]) == 1
    assert "dentist" not in caplog.text
    [checked] = RecallStore.check(path)
    assert (checked.rows, checked.whole) == (128, True)
    assert "not checked" in str(checked)


def test_other_tables_of_another_chroma_are_left_alone(path: Path) -> None:
    with sqlite3.connect(path / "chroma.sqlite3") as database:
        [row] = database.execute("SELECT type, collection FROM segments WHERE scope = 'VECTOR'")
        database.execute("INSERT INTO segments VALUES ('new', ?, 'RECORD', ?)", row)
    lengths_cut_off(index_of(path))

    [checked] = RecallStore.check(path)
    assert checked.whole
    assert "RECORD" in str(checked)
    with pytest.raises(StoreError, match="left as it is"):
        RecallStore.repair(path)


def test_an_index_that_was_not_opened_is_not_vouched_for(path: Path) -> None:
    index = index_of(path)
    with RecallStore(path, "others", embedding=SmallEmbedding()) as others:
        others.add([text(1)])
        links_cut_off(index)
        with pytest.raises(StoreDamagedError, match="recall repair"):
            RecallStore(path, embedding=SmallEmbedding())
    with pytest.raises(StoreDamagedError, match="recall repair"):
        RecallStore(path, embedding=SmallEmbedding())


def test_a_repair_that_was_killed_between_its_two_renames_is_done_again(path: Path) -> None:
    index = index_of(path)
    header_cut_off(index)
    aside = path / ".recall" / "damaged" / index.name
    aside.parent.mkdir(parents=True, exist_ok=True)
    index.rename(aside)
    (path / ".recall" / "repair").mkdir()

    embedding = Counting()
    RecallStore.repair(path, embedding=embedding)

    assert embedding.embedded == 0
    assert all_is_there(path, SmallEmbedding())


def test_an_index_of_no_rows_is_repaired_too(path: Path) -> None:
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        store.delete([each.id for each in store.memories()])
    header_cut_off(index_of(path))

    [repaired] = RecallStore.repair(path, embedding=SmallEmbedding())

    assert (repaired.rows, repaired.recovered, repaired.embedded) == (0, 0, 0)
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        store.add([{"id": "new", "content": text(1)}])
        assert best(store, text(1))[0].id == "new"


def test_a_first_save_that_was_torn_is_repaired(tmp_path: Path) -> None:
    """Chroma has not noted yet that there is an index, and its log has all rows."""
    path = tmp_path / "memories"
    new_store(path, 1_000)
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        store.add({"id": f"m{x}", "content": text(x)} for x in range(50))
    names = index_of(path) / "index_metadata.pickle"
    names.write_bytes(b"\x80")

    [repaired] = RecallStore.repair(path, embedding=Counting())

    assert (repaired.recovered, repaired.embedded) == (50, 0)
    vectors = SmallEmbedding().embed_documents([text(x) for x in range(50)])
    with raw(path) as rows:
        found = rows.query(query_embeddings=vectors, n_results=1, include=[])["ids"]
    assert found == [[f"m{x}"] for x in range(50)]


def test_other_collections_of_the_path_stay_as_they_are(path: Path) -> None:
    vectors = [[float(x), 1.0] for x in range(5)]
    client = chromadb.PersistentClient(str(path))
    others = client.create_collection(
        "others", configuration={"hnsw": {"space": "l2", "sync_threshold": 2}}
    )
    others.add(ids=list("abcde"), embeddings=vectors, documents=list("abcde"))
    mine = client.get_collection("memories", embedding_function=None).id
    client.close()
    damaged = [each for each in path.glob("*/header.bin") if each.stat().st_size]
    assert len(damaged) == 2
    for header in damaged:
        os.truncate(header, 10)

    repaired = {each.name: each for each in RecallStore.repair(path, embedding=SmallEmbedding())}

    assert repaired["others"].recovered == 5
    client = chromadb.PersistentClient(str(path))
    found = client.get_collection("others").get(include=["embeddings"])
    assert dict(zip(found["ids"], found["embeddings"].tolist(), strict=True)) == dict(
        zip("abcde", vectors, strict=True)
    )
    assert client.get_collection("memories", embedding_function=None).id == mine
    client.close()


def test_what_a_server_has_lost_is_stored_by_a_load_that_is_done_again(path: Path) -> None:
    without_names(index_of(path))
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


def test_a_client_that_is_handed_in_reads_nothing_damaged(path: Path) -> None:
    garbage_rows(index_of(path))
    client = chromadb.PersistentClient(os.path.realpath(path))
    try:
        with pytest.raises(StoreDamagedError, match="recall repair"):
            RecallStore(client, embedding=SmallEmbedding())
    finally:
        client.close()


def test_vectors_are_not_made_by_another_model(path: Path) -> None:
    without_names(index_of(path))

    with pytest.raises(EmbeddingMismatchError, match=rf"{LOST} vectors.*'small'.*'other'"):
        RecallStore.repair(path, embedding=SmallEmbedding(model_name="other"))

    assert RecallStore.repair(path, embedding=SmallEmbedding())[0].embedded == LOST


def test_an_open_path_is_not_repaired(path: Path) -> None:
    with (
        RecallStore(path, embedding=SmallEmbedding()),
        pytest.raises(StoreLockedError, match="close its stores"),
    ):
        RecallStore.repair(path)


def test_there_must_be_something_to_repair(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no folder"):
        RecallStore.repair(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
