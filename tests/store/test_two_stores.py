"""Two stores on one collection, of one process or of two: each writes, and nothing is lost."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from store.following import by_words
from store.kit import SmallEmbedding
from store.places import client_in

from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.row_index import RowIndex


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


def at_once(*works: Callable[[], object]) -> None:
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
    at_once(lambda: stores[0].add([tea]), second)
    for store in stores:
        assert [each.metadata for each in store.get(["m0"])] == [{"cups": 2}]
        assert (by_words(store, "tea"), by_words(store, "milk"), store.count()) == (["m0"], [], 2)


def test_the_row_index_hears_of_writes_in_the_order_of_chroma(
    stores: list[RecallStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = threading.Event()
    put = RowIndex.put

    def held(rows: RowIndex, new: Any, *more: Any) -> None:
        if new[0][1] == "tea":
            stored.set()
            time.sleep(0.3)  # in which the other could write the row, and be heard first
        put(rows, new, *more)

    def second() -> None:
        assert stored.wait(10)
        stores[1].add([{"id": "m0", "content": "milk"}])

    monkeypatch.setattr(RowIndex, "put", held)
    at_once(lambda: stores[0].add([{"id": "m0", "content": "tea"}]), second)
    for store in stores:
        assert (by_words(store, "tea"), by_words(store, "milk"), store.count()) == ([], ["m0"], 2)
