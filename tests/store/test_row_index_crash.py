"""No file is believed when it should not be: `make test` damages a few, `make test-kills` many.

Damaged files keep their time, and their size where the damage lets them. Another process looks at
them: if it crashes, the test fails.
"""

import os
import random
import shutil
from functools import partial
from pathlib import Path

import chromadb
import pytest
from store.elsewhere import said_by
from store.killed import add, embedding, look, new_store, text_of, wrongly_found

from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

KILLS = int(os.environ.get("RECALL_KILLS", "3"))
ROWS = 40

Texts = dict[str, str]


seen = partial(said_by, look)


def truncated(file: Path, chosen: random.Random) -> None:
    os.truncate(file, chosen.randrange(max(1, file.stat().st_size)))


def deleted(file: Path, *_: object) -> None:
    file.unlink()


def bits_flipped(file: Path, chosen: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(3 if data else 0):
        data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
    file.write_bytes(data)


def zeros(file: Path, chosen: random.Random) -> None:
    data = bytearray(file.read_bytes())
    start = chosen.randrange(max(1, len(data)))
    data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    file.write_bytes(data)


DAMAGE = [bits_flipped, zeros, truncated, deleted]


def index_of(path: Path) -> Path:
    """The folder of the row index of the one collection of a path."""
    client = chromadb.PersistentClient(str(path))
    collection = client.get_collection("memories", embedding_function=None).id
    client.close()
    return path / ".recall" / str(collection)


def files_of(index: Path) -> list[Path]:
    return sorted(each for each in index.rglob("*") if each.is_file())


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Texts, set[str]]:
    """A path that was closed well, its index of an earlier time, and what it must hold."""
    path = tmp_path_factory.mktemp("index") / "memories"
    new_store(path, 50)
    texts = {f"m{x}": text_of(f"m{x}", 0) for x in range(ROWS)}
    newer = {f"m{x}": text_of(f"m{x}", 1) for x in range(ROWS // 2, ROWS + 20)}
    gone = {f"m{x}" for x in range(0, ROWS, 7)}
    with RecallStore(path, embedding=embedding()) as store:
        add(store, texts)
        store.find([Search("said1", 5, method="keyword")])
    older = path.parent / "older"
    shutil.copytree(index_of(path), older)
    with RecallStore(path, embedding=embedding()) as store:
        add(store, newer)
        store.delete(sorted(gone))
        wanted = {x: text for x, text in (texts | newer).items() if x not in gone}
        assert not list(wrongly_found(store, wanted, gone))
    return path, older, wanted, gone


@pytest.mark.slow
def test_a_file_that_was_damaged_after_a_proper_close_is_noticed_and_made_again(
    stored: tuple[Path, Path, Texts, set[str]], tmp_path: Path
) -> None:
    path, _, texts, gone = stored
    files = files_of(index_of(path))
    assert len(files) >= 3, "there is no index to damage"
    cases = [(file.relative_to(path), damage) for damage in DAMAGE for file in files]
    random.Random(7).shuffle(cases)
    cases.sort(key=lambda case: case[1] not in DAMAGE[:2])  # nobody sees those from outside
    wrongs: dict[str, str] = {}
    for number in range(KILLS):
        name, damage = cases[number % len(cases)]
        copied = shutil.copytree(path, tmp_path / "copied")
        before = (copied / name).stat()
        data = (copied / name).read_bytes()
        damage(copied / name, random.Random(number))
        if (copied / name).exists():
            os.utime(copied / name, ns=(before.st_atime_ns, before.st_mtime_ns))
        if damage in DAMAGE[:2] and name.suffix == ".sqlite":  # the vectors have places to spare
            noticed = not all(each.whole for each in RecallStore.check(copied))
            assert noticed == ((copied / name).read_bytes() != data), f"{name} {damage.__name__}"
        if found := seen(copied, texts, gone):
            wrongs[f"{name} {damage.__name__}"] = found[:200]
        shutil.rmtree(copied)
    assert not wrongs


def test_a_whole_index_of_another_time_or_place_is_not_believed(
    stored: tuple[Path, Path, Texts, set[str]], tmp_path: Path
) -> None:
    path, older, texts, gone = stored
    with RecallStore(tmp_path / "other", embedding=embedding()) as store:
        add(store, {f"o{x}": text_of(f"o{x}", 0) for x in range(ROWS)})
    for place, index in enumerate((older, index_of(tmp_path / "other"))):
        copied = shutil.copytree(path, tmp_path / f"copy{place}")
        shutil.rmtree(index_of(copied))
        shutil.copytree(index, index_of(copied))

        assert seen(copied, texts, gone) == ""

    restored = shutil.copytree(path, tmp_path / "restored")
    with RecallStore(restored, embedding=embedding()) as store:
        add(store, {"later": text_of("later", 0)})
        store.delete(list(texts)[:5])
    newest = shutil.copytree(index_of(restored), tmp_path / "newest")
    shutil.rmtree(index_of(copied := shutil.copytree(path, tmp_path / "from-a-backup")))
    shutil.copytree(newest, index_of(copied))

    assert seen(copied, texts, gone | {"later"}) == ""
