"""Who has written a memory finds it, and who asks while it is changed finds it once."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from store.kit import SmallEmbedding, best, ids

from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.table import Table

SMALL = SmallEmbedding()
ANN = Scope(user_id="ann")
METHODS = ("keyword", "semantic")


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each row is put into the row index."""
    counts: Counter[str] = Counter()
    put = Table.put

    def counting(table: Table, rows: Sequence[Any], *rest: Any) -> None:
        counts.update(row[0] for row in rows)
        put(table, rows, *rest)

    monkeypatch.setattr(Table, "put", counting)
    return counts


def test_what_a_thread_has_stored_it_finds_at_once_and_it_is_taken_over_once(
    tmp_path: Path, put: Counter[str]
) -> None:
    missed: list[tuple[Any, ...]] = []

    def write(store: RecallStore, name: str) -> None:
        for turn in range(12):
            text = f"word{name}{turn} of tea"
            [new] = store.add([{"content": text, "user_id": name}])
            for method, scope in itertools.product(METHODS, (Scope(), Scope(user_id=name))):
                if new not in ids(best(store, text, 3, method=method, scope=scope)):
                    missed.append((text, method, scope))

    with RecallStore(tmp_path, embedding=SMALL) as store:
        store.add(["tea"])
        _together(*(lambda n=n: write(store, f"user{n}") for n in range(8)))
        assert not missed
        assert set(put.values()) == {1}
        assert len(put) == store.count() == 97


@pytest.mark.parametrize("where", ["folder", "memory"])
def test_who_asks_while_a_memory_is_changed_finds_it_once(tmp_path: Path, where: str) -> None:
    seen: Counter[tuple[str, int]] = Counter()
    ended = threading.Event()

    def ask(name: str, number: Callable[[], int]) -> None:
        while not ended.is_set():
            seen[name, number()] += 1

    def change(store: RecallStore) -> None:
        current = "kettle"
        until = time.monotonic() + 3
        for turn in itertools.count():
            if time.monotonic() > until:
                break
            store.update(current, text=f"kettle red tea {turn}")
            store.update(current, metadata={"turn": turn})
            store.add([{"id": current, "content": f"kettle blue {turn}", "scope": ANN}])
            current = store.supersede(current, {"id": f"k{turn}", "content": f"kettle {turn}"})
        ended.set()

    with RecallStore(tmp_path if where == "folder" else None, embedding=SMALL) as store:
        store.add([{"id": f"m{n}", "content": f"word{n} of tea", "scope": ANN} for n in range(50)])
        store.add([{"id": "kettle", "content": "kettle", "scope": ANN}])
        questions = {
            "words": lambda: len(best(store, "kettle", 9, method="keyword")),
            "meaning": lambda: len(best(store, "kettle", 99, scope=ANN)) - 50,
            "list": lambda: sum("kettle" in x.content for x in store.memories(scope=ANN)),
            "count": lambda: store.count(scope=ANN) - 50,
        }
        _together(lambda: change(store), *(lambda q=q: ask(*q) for q in questions.items()))
    assert {number for _, number in seen} == {1}, seen
    assert {name for name, _ in seen} == {*questions}


def _together(*work: Callable[[], None]) -> None:
    """Do all of it at once; an error of one is raised."""
    errors: list[BaseException] = []

    def done(part: Callable[[], None]) -> None:
        try:
            part()
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)

    threads = [threading.Thread(target=done, args=(part,)) for part in work]
    for each in threads:
        each.start()
    for each in threads:
        each.join(120)
    if errors:
        raise errors[0]
