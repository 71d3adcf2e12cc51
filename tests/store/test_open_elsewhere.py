"""A path that another process has open, or that may not be written."""

import shutil
import tempfile
from pathlib import Path

import chromadb
import pytest
from store.elsewhere import held_elsewhere, opens_elsewhere
from store.kit import SmallEmbedding, best, contents, python_process

from recall_retrievers.core.errors import StoreError, StoreLockedError
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


def test_a_copy_of_a_folder_that_is_open_elsewhere_is_read(
    filled: Path, tmp_path: Path, small: SmallEmbedding
) -> None:
    with held_elsewhere(filled), chromadb.PersistentClient(str(filled)) as client:
        for source in (filled, client):
            with pytest.raises(StoreLockedError, match=r"another process.*chroma run --path"):
                RecallStore(source, embedding=small)
        with RecallStore(shutil.copytree(filled, tmp_path / "copy"), embedding=small) as store:
            assert store.count() == 1_301
            assert contents(best(store, "theirs")) == ["theirs"]


def test_a_folder_that_may_not_be_written_is_an_error_with_advice(filled: Path) -> None:
    """As a user who may not; the superuser becomes one first."""
    script = """
        import os, sys
        import chromadb, recall_retrievers.store, tzlocal
        tzlocal.get_localzone()  # reads files of Python's, which the other user may not
        from recall_retrievers.core.errors import StoreError
        from recall_retrievers.store import RecallStore
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
                print("open the copy" in str(error) or "or made" in str(error))
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
    assert out.splitlines() == ["True", "True"], errors


class TestHandedInClients:
    """A client of Chroma's own, on a path, is as dangerous as the path itself."""

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
