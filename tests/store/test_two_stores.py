"""Several write at once: who has written a memory finds it, and nothing is lost."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from store.kit import SmallEmbedding, best, ids
from store.places import by_words, client_in

from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.row_index import RowIndex
from recall_retrievers.store.rows.table import Change, Table


@pytest.fixture(params=["memory", "path", "server"])
def stores(
    request: pytest.FixtureRequest, tmp_path: Path, collection_name: str
) -> Iterator[list[RecallStore]]:
    """Two stores, whose row index is there."""
    with ExitStack() as stack:
        client = stack.enter_context(client_in(request.param, request, tmp_path))
        opened = [
            stack.enter_context(RecallStore(client, collection_name, embedding=Held()))
            for _ in range(2)
        ]
        opened[0].add(["other"])
        assert by_words(opened[1], "other")
        yield opened
        client.delete_collection(collection_name)


class Held(SmallEmbedding):
    """An embedding that a test may hold up."""

    def hold(self, texts: list[str]) -> None:
        pass

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.hold(texts)
        return super().embed_documents(texts)


def together(*works: Callable[[], object]) -> None:
    """Do all of it in threads; the first error is raised."""
    with ThreadPoolExecutor(len(works)) as threads:
        for done in [threads.submit(work) for work in works]:
            done.result()


def test_a_version_that_came_while_another_was_embedded_leaves_nothing_in_it(
    stores: list[RecallStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()

    def hold(_: Held, texts: list[str]) -> None:
        if "tea" in texts[0]:
            begun.set()
            assert go.wait(10)

    def second() -> None:
        assert begun.wait(10)
        stores[1].add([{"id": "m0", "content": "milk", "metadata": {"cold": True}}])
        go.set()

    monkeypatch.setattr(Held, "hold", hold)
    tea = {"id": "m0", "content": "tea", "metadata": {"cups": 2}}
    together(lambda: stores[0].add([tea]), second)
    for store in stores:
        assert [each.metadata for each in store.get(["m0"])] == [{"cups": 2}]
        assert (by_words(store, "tea"), by_words(store, "milk"), store.count()) == (["m0"], [], 2)


def test_the_row_index_hears_of_writes_in_the_order_of_chroma(
    stores: list[RecallStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = threading.Event()
    take = RowIndex.take

    def held(rows: RowIndex, change: Change, *more: Any) -> None:
        if change.rows[0][1] == "tea":
            stored.set()
            time.sleep(0.3)  # in which the other could write the row, and be heard first
        take(rows, change, *more)

    def second() -> None:
        assert stored.wait(10)
        stores[1].add([{"id": "m0", "content": "milk"}])

    monkeypatch.setattr(RowIndex, "take", held)
    together(lambda: stores[0].add([{"id": "m0", "content": "tea"}]), second)
    for store in stores:
        assert (by_words(store, "tea"), by_words(store, "milk"), store.count()) == ([], ["m0"], 2)


SMALL = SmallEmbedding()
ANN = Scope(user_id="ann")
METHODS = ("keyword", "semantic")


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each row is taken over by the row index."""
    counts: Counter[str] = Counter()
    take = Table.take

    def counting(table: Table, change: Change) -> None:
        counts.update(change.ids)
        take(table, change)

    monkeypatch.setattr(Table, "take", counting)
    return counts


def test_what_a_thread_has_stored_it_finds_at_once_and_it_is_taken_over_once(
    tmp_path: Path, taken: Counter[str]
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
        together(*(lambda n=n: write(store, f"user{n}") for n in range(8)))
        assert not missed
        assert set(taken.values()) == {1}
        assert len(taken) == store.count() == 97


@pytest.mark.parametrize("where", ["folder", "memory"])
def test_who_asks_while_a_memory_is_changed_finds_it_once(tmp_path: Path, where: str) -> None:
    seen: Counter[tuple[str, int]] = Counter()
    ended = threading.Event()

    def ask(name: str, number: Callable[[], int]) -> None:
        while not ended.is_set():
            seen[name, number()] += 1

    def change(store: RecallStore) -> None:
        current = "kettle"
        until = time.monotonic() + 2
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
        together(lambda: change(store), *(lambda q=q: ask(*q) for q in questions.items()))
    assert {number for _, number in seen} == {1}, seen
    assert {name for name, _ in seen} == {*questions}
