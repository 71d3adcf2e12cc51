"""Reading where nothing may be written, and the lock on a path."""

import os
import shutil
import tempfile
from pathlib import Path

import chromadb
import pytest
from store.elsewhere import held_elsewhere, opens_elsewhere
from store.kit import SmallEmbedding, best, contents, python_process

from recall_retrievers.core.errors import EmbeddingMismatchError, StoreError, StoreLockedError
from recall_retrievers.store import RecallStore


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "store"
    with RecallStore(path, embedding=SmallEmbedding()) as store:
        store.add({"id": f"m{n}", "content": f"word{n}"} for n in range(1_300))
    return path


@pytest.fixture
def filled(tmp_path: Path, whole: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "store")


def everything_in(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (each for each in folder.rglob("*") if each.is_file())
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in files
    }


class TestReadOnly:
    def test_all_is_found_and_nothing_is_changed(self, filled: Path, small: SmallEmbedding) -> None:
        before = everything_in(filled)
        copies = set(Path(tempfile.gettempdir()).glob("recall-*"))
        with RecallStore(filled, embedding=small, read_only=True) as store:
            assert store.count() == 1_300
            assert best(store, "word1299")[0].id == "m1299"
            assert best(store, "word7", method="keyword")[0].id == "m7"
            assert best(store, "word8", filter={"x": {"$ne": 1}})[0].id == "m8"
            assert len(list(store.memories())) == 1_300
            for write in (
                lambda: store.add(["tea"]),
                lambda: store.add([]),
                lambda: store.add_conversation([{"role": "user", "content": "tea"}]),
                lambda: store.delete(["m1"]),
            ):
                with pytest.raises(StoreError, match="read_only=True"):
                    write()
            assert store.count() == 1_300
        assert everything_in(filled) == before
        assert set(Path(tempfile.gettempdir()).glob("recall-*")) <= copies

    def test_a_path_that_no_store_has_opened_gets_no_lock(
        self, filled: Path, small: SmallEmbedding
    ) -> None:
        (filled / ".recall.lock").unlink()
        with RecallStore(filled, embedding=small, read_only=True) as store:
            assert store.count() == 1_300
        assert not (filled / ".recall.lock").exists()

    def test_a_folder_that_may_not_be_written_is_read(self, filled: Path) -> None:
        """As a user who may not; the superuser becomes one first."""
        script = """
            import os, sys
            import chromadb, recall_retrievers.store, tzlocal
            tzlocal.get_localzone()  # reads files of Python's, which the other user may not
            from recall_retrievers.core.errors import StoreError
            from recall_retrievers.store import RecallStore
            from recall_retrievers.core.stage import Search
            from store.kit import SmallEmbedding
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            for path in (sys.argv[1], sys.argv[1] + "/new"):
                try:
                    RecallStore(path, embedding=SmallEmbedding())
                except StoreError as error:
                    assert isinstance(error.__cause__, OSError), error
                    print("read_only=True" in str(error) or "or made" in str(error))
            with RecallStore(sys.argv[1], embedding=SmallEmbedding(), read_only=True) as store:
                print(store.count(), store.find([Search("word7", 1)])[0][0].id)
        """
        # Not in the folder of the tests, which nobody else may enter.
        with tempfile.TemporaryDirectory() as open_to_all:
            path = Path(open_to_all) / "store"
            shutil.copytree(filled, path)
            Path(open_to_all).chmod(0o755)
            for each in path.rglob("*"):
                each.chmod(0o555 if each.is_dir() else 0o444)
            path.chmod(0o555)
            out, errors = python_process(script, str(path)).communicate(timeout=60)
            path.chmod(0o755)
        assert out.splitlines() == ["True", "True", "1300 m7"], errors

    def test_what_is_not_there_is_an_error_and_is_not_made(
        self, filled: Path, tmp_path: Path, small: SmallEmbedding
    ) -> None:
        (tmp_path / "empty").mkdir()
        for path in (tmp_path / "none", tmp_path / "empty"):
            with pytest.raises(StoreError, match="there are no memories in"):
                RecallStore(path, embedding=small, read_only=True)
        assert not (tmp_path / "none").exists()
        assert not [*(tmp_path / "empty").iterdir()]
        with pytest.raises(StoreError, match=r"no collection 'others'.*there is 'memories'"):
            RecallStore(filled, "others", embedding=small, read_only=True)
        with pytest.raises(TypeError, match="name a path"):
            RecallStore(embedding=small, read_only=True)
        with pytest.raises(EmbeddingMismatchError):
            RecallStore(filled, embedding=SmallEmbedding(model_name="other"), read_only=True)

    def test_a_path_that_is_open_is_refused(self, filled: Path, small: SmallEmbedding) -> None:
        """Its files may be half written."""
        with held_elsewhere(filled), pytest.raises(StoreLockedError, match="another process"):
            RecallStore(filled, embedding=small, read_only=True)
        with RecallStore(filled, embedding=small), pytest.raises(StoreLockedError):
            RecallStore(filled, embedding=small, read_only=True)

    def test_readers_hold_up_nobody(self, filled: Path, small: SmallEmbedding) -> None:
        with (
            RecallStore(filled, embedding=small, read_only=True) as first,
            RecallStore(filled, embedding=small, read_only=True) as second,
        ):
            assert opens_elsewhere(filled) == "1300"
            with RecallStore(filled, embedding=small) as writing:
                writing.add(["tea"])
            assert (first.count(), second.count()) == (1_300, 1_300)
        with RecallStore(filled, embedding=small, read_only=True) as again:
            assert contents(best(again, "tea")) == ["tea"]

    def test_a_damaged_index_of_terabytes_is_not_copied(
        self, filled: Path, small: SmallEmbedding
    ) -> None:
        """A kill in Chroma's save once left a file that looked 4 TB large."""
        [links] = filled.rglob("link_lists.bin")
        os.truncate(links, 4 * 1024**4)
        with pytest.raises(StoreError, match="too large for one"):
            RecallStore(filled, embedding=small, read_only=True)

    def test_a_client_is_read_too(
        self, chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
    ) -> None:
        with pytest.raises(StoreError, match="no collection"):
            RecallStore(chroma, collection_name, embedding=small, read_only=True)
        with RecallStore(chroma, collection_name, embedding=small) as store:
            store.add(["tea"])
        with RecallStore(chroma, collection_name, embedding=small, read_only=True) as store:
            assert contents(best(store, "tea")) == ["tea"]
            with pytest.raises(StoreError, match="read_only=True"):
                store.delete(["x"])
        chroma.delete_collection(collection_name)


class TestHandedInClients:
    """A client of Chroma's own, on a path, is as dangerous as the path itself."""

    def test_one_on_a_path_that_another_process_holds_is_refused(
        self, filled: Path, small: SmallEmbedding
    ) -> None:
        with held_elsewhere(filled):
            client = chromadb.PersistentClient(str(filled))
            with pytest.raises(StoreLockedError, match="chroma run"):
                RecallStore(client, embedding=small)
            client.close()

    def test_one_holds_its_path_until_the_store_is_closed(
        self, filled: Path, small: SmallEmbedding
    ) -> None:
        with held_elsewhere(filled, by_a_client=True), pytest.raises(StoreLockedError):
            RecallStore(filled, embedding=small)
        client = chromadb.PersistentClient(str(filled))
        with (
            RecallStore(client, embedding=small) as mine,
            RecallStore(client, "others", embedding=small),
            RecallStore(filled, embedding=small) as same,
        ):
            mine.add(["tea"])
            assert contents(best(same, "tea")) == ["tea"]
            assert opens_elsewhere(filled) == "StoreLockedError"
        client.close()
        assert opens_elsewhere(filled) == "1302"

    def test_one_under_another_spelling_of_an_open_path_is_refused(
        self, filled: Path, small: SmallEmbedding
    ) -> None:
        """Chroma keeps an index for each spelling, and loses the vectors of one of them."""
        client = chromadb.PersistentClient(f"{filled}/.")
        opened = RecallStore(filled, embedding=small)
        with opened, pytest.raises(StoreError, match="loses vectors"):
            RecallStore(client, embedding=small)
        with RecallStore(client, embedding=small) as store:
            assert store.count() == 1_300
            with pytest.raises(StoreError, match="hand in the one"):
                RecallStore(filled, embedding=small)
        client.close()
