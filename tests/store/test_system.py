"""What differs between systems: the rules that all of them keep, and those of Windows."""

import asyncio
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from recall_retrievers import RecallStore
from recall_retrievers.core import system
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.requests import Search
from recall_retrievers.core.scope import Scope
from recall_retrievers.store.rows import scoped_rows

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists what is mapped")


def mapped_below(folder: Path) -> list[str]:
    """The files in a folder that this process has mapped; SQLite's shared memory aside."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return [line for line in maps if str(folder) in line and not line.endswith("-shm")]


def rows_of(folder: Path) -> scoped_rows.ScopedRows:
    [rows] = [rows for key, rows in scoped_rows._open.items() if key[0] == str(folder)]
    return rows


def first(store: RecallStore) -> str:
    [[found, *_]] = store.find([Search("When is tea?", 2)])
    return found.memory.content


@LINUX
def test_no_file_of_the_row_index_is_mapped_when_it_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    delete = shutil.rmtree

    def watched(folder: Path) -> None:
        seen.append(mapped_below(folder))
        delete(folder)

    monkeypatch.setattr(shutil, "rmtree", watched)
    with RecallStore(tmp_path) as store:
        store.add(["Tea at four.", "Coffee at nine."])
        assert first(store) == "Tea at four."
        assert mapped_below(tmp_path)
        with rows_of(tmp_path).using(Scope()) as index:
            index.ready = False
            index._begin()  # as it does where the files are torn
        assert first(store) == "Tea at four."
    assert [*seen, mapped_below(tmp_path)] == [[], [], []]  # made, made again, closed


def test_what_is_closed_is_not_mapped_again(tmp_path: Path) -> None:
    with RecallStore(tmp_path) as store:
        store.add(["Tea at four."])
        with rows_of(tmp_path).using(Scope()) as index:
            table = index.table  # as a thread holds it that searches
    with pytest.raises(StoreClosedError):
        table.nearest(table.living(), np.zeros(384, np.float32), 1, 1)


def test_a_loop_that_knows_no_signals_goes_on() -> None:
    class WindowsLoop(asyncio.SelectorEventLoop):
        def add_signal_handler(self, *_: object) -> None:
            raise NotImplementedError

    async def served() -> str:
        system.on_signals(lambda: None, signal.SIGTERM)
        return "served"

    with asyncio.Runner(loop_factory=WindowsLoop) as runner:
        assert runner.run(served()) == "served"
