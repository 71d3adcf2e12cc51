"""What makes Chroma's engine crash or lose rows is found in its files; what is whole passes."""

import pickle
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import chromadb
import numpy as np
import pytest
from numpy.typing import NDArray

from recall_retrievers.store.doctor.index_files import (
    DamagedIndexError,
    Layout,
    check_files,
    readable_vectors,
)

LAYOUT = Layout(dimension=16, neighbours=16, normalised=True)


def index(path: Path, seed: int, saved_each: int = 40) -> tuple[Path, set[str]]:
    """An index after many adds, replacements and deletions, and the ids that it was saved with."""
    chosen, vectors = random.Random(seed), np.random.default_rng(seed)
    client = chromadb.PersistentClient(str(path))
    settings = {"hnsw": {"space": "cosine", "sync_threshold": saved_each}}
    rows = client.create_collection("rows", configuration=settings, embedding_function=None)
    live: list[str] = []
    for turn in range(40):
        kind = chosen.choice(["add", "add", "replace", "delete", "again"])
        some = chosen.sample(live, min(len(live), 6))
        if kind == "add" or not some:
            some = [f"{turn}-{number}" for number in range(15)]
            live += some
        if kind in {"delete", "again"}:
            rows.delete(ids=some)
        if kind == "delete":
            live = [row_id for row_id in live if row_id not in some]
        else:
            rows.upsert(ids=some, embeddings=vectors.normal(size=(len(some), 16)))
    # What is saved is what was there at the last save: enough of nothing brings one about.
    for _ in range(saved_each):
        rows.update(ids=live[:1], metadatas=[{"seen": 1}])
    client.close()
    [names] = path.glob("*/index_metadata.pickle")
    return names.parent, set(live)


@pytest.mark.parametrize("seed", range(3))
def test_what_chroma_has_saved_is_whole(tmp_path: Path, seed: int) -> None:
    folder, live = index(tmp_path, seed, saved_each=[3, 20, 40][seed])

    assert check_files(folder, LAYOUT) == live
    found = [row_id for ids, _ in readable_vectors(folder, LAYOUT) for row_id in ids]
    assert sorted(found) == sorted(live)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index(tmp_path_factory.mktemp("saved"), seed=0)[0]


def written(name: str, at: int, value: bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[at : at + len(value)] = value
        (folder / name).write_bytes(data)

    return write


def in_a_row(field: str, value: float, at: int | None = None) -> Callable[[Path], None]:
    """Change a row that is not deleted."""

    def change(folder: Path) -> None:
        rows = np.fromfile(folder / "data_level0.bin", dtype=LAYOUT.row)
        row = np.flatnonzero(rows["deleted"] == 0)[1]
        if at is None:
            rows[field][row] = value
        else:
            rows[field][row, at] = value
        rows.tofile(folder / "data_level0.bin")

    return change


def renamed(folder: Path) -> None:
    names = pickle.loads((folder / "index_metadata.pickle").read_bytes())
    label, row_id = next(iter(names["label_to_id"].items()))
    names["label_to_id"][label] = row_id + "?"
    (folder / "index_metadata.pickle").write_bytes(pickle.dumps(names))


def one_name_less(folder: Path) -> None:
    names = pickle.loads((folder / "index_metadata.pickle").read_bytes())
    del names["id_to_label"][names["label_to_id"].popitem()[1]]
    (folder / "index_metadata.pickle").write_bytes(pickle.dumps(names))


def upper_links(place: int, value: int) -> Callable[[Path], None]:
    """Change a number in the first list of links above the lowest level."""

    def change(folder: Path) -> None:
        data = bytearray((folder / "link_lists.bin").read_bytes())
        at = 0
        while not int.from_bytes(data[at : at + 4], "little"):
            at += 4
        struct.pack_into("<I", data, at + 4 + 4 * place, value)
        (folder / "link_lists.bin").write_bytes(data)

    return change


DAMAGE = {
    "no version": written("header.bin", 0, b"\x00"),
    "fewer rows": written("header.bin", 20, b"\x05"),
    "another size of a row": written("header.bin", 28, b"\x01\x02"),
    "another top level": written("header.bin", 52, b"\x09"),
    "an entry that is not there": written("header.bin", 56, b"\xff\xff"),
    "more links than there is room for": in_a_row("links", 255),
    "a link to a row that is not there": in_a_row("linked", 60_000, at=0),
    "a row of another label": in_a_row("label", 60_000),
    "a vector that is no number": in_a_row("vector", float("nan"), at=3),
    "a vector of another length": in_a_row("vector", 4.0, at=3),
    "a row that is deleted here and not there": in_a_row("deleted", 1),
    "names that contradict each other": renamed,
    "a name less": one_name_less,
    "more upper links than there is room for": upper_links(0, 99),
    "an upper link to a row that is not there": upper_links(1, 60_000),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_would_lead_the_engine_astray_is_found(
    saved: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    folder = Path(shutil.copytree(saved, tmp_path / "index"))
    damage(folder)

    with pytest.raises(DamagedIndexError):
        check_files(folder, LAYOUT)


def vectors_in(folder: Path) -> dict[str, NDArray[np.float32]]:
    parts = readable_vectors(folder, LAYOUT)
    return {row_id: vector for part in parts for row_id, vector in zip(*part, strict=True)}


def test_a_vector_that_is_torn_is_not_read(saved: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(saved, tmp_path / "index"))
    whole = vectors_in(folder)
    rows = np.fromfile(folder / "data_level0.bin", dtype=LAYOUT.row)
    torn = np.flatnonzero(rows["deleted"] == 0)[:3]
    rows["vector"][torn, 8:] = 7
    rows.tofile(folder / "data_level0.bin")

    left = vectors_in(folder)

    assert len(left) == len(whole) - 3
    assert all(np.array_equal(vector, whole[row_id]) for row_id, vector in left.items())
