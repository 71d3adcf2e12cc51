"""A path that another process has open, a fork among them, or that may not be written."""

import os
import re
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


FORKS = """
    import os, signal, sys
    from recall_retrievers.core.stage import Search
    from recall_retrievers.store import RecallStore
    from store.kit import SmallEmbedding

    def told(use):
        try:
            use()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    small, path = SmallEmbedding(), sys.argv[1]
    stores = [RecallStore(where, embedding=small) for where in (None, path)]
    for store in stores:
        store.add(["tea"])
    if not os.fork():
        signal.alarm(20)
        for store in stores:
            print(told(store.count), told(lambda: store.add(["x"])), sep="\\n")
            print(told(lambda: store.find([Search("tea", 1)])))
            print(told(lambda: store.get([])))
        print(told(lambda: RecallStore(embedding=small)))
        print(told(lambda: RecallStore(path, embedding=small)))
        for store in stores:
            store.close()
        print("closed", flush=True)
        os._exit(0)
    print(os.wait()[1], *(store.count() for store in stores), "end", sep="\\n", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_cannot_use_a_store_and_the_parent_still_can(tmp_path: Path) -> None:
    """Chroma hangs in a fork; we say so instead."""
    process = python_process(FORKS, str(tmp_path))
    try:
        assert process.stdout is not None
        lines = [line.strip() for line in iter(process.stdout.readline, "end\n")]
        # Closing in the fork must not give the parent's path away.
        assert opens_elsewhere(tmp_path) == "StoreLockedError"
    finally:
        _, problems = process.communicate("\n", timeout=30)
    assert all(re.match("StoreClosedError.*spawn", line) for line in lines[:8]), [*lines, problems]
    assert re.match("StoreError.*spawn", lines[8]), lines
    assert lines[9].startswith("StoreLockedError"), lines
    assert lines[10:] == ["closed", "0", "1", "1"]
