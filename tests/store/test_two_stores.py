"""Two stores on one collection, of one process or of two: each writes, and nothing is lost."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import chromadb
import pytest
from store.elsewhere import update_at_once
from store.kit import NOON, SmallEmbedding

from recall_retrievers.core.errors import MissingMemoryError
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows.row_index import RowIndex

IDS = [f"m{n}" for n in range(4)]
ROUNDS = 30


@pytest.fixture(params=["memory", "path", "server"])
def stores(
    request: pytest.FixtureRequest, tmp_path: Path, collection_name: str
) -> Iterator[list[RecallStore]]:
    """Two stores, whose row index is there."""
    client: chromadb.ClientAPI
    if request.param == "memory":
        client = chromadb.EphemeralClient()
    elif request.param == "path":
        client = chromadb.PersistentClient(str(tmp_path))
    else:
        port = request.getfixturevalue("server_port")
        client = chromadb.HttpClient(host="127.0.0.1", port=port)
    with ExitStack() as stack:
        opened = [
            stack.enter_context(RecallStore(client, collection_name, embedding=Held()))
            for _ in range(2)
        ]
        opened[0].add(["other"])
        assert found(opened[1], "other")
        yield opened
        client.delete_collection(collection_name)


class Held(SmallEmbedding):
    """An embedding that a test may hold up."""

    def hold(self, texts: list[str]) -> None:
        pass

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.hold(texts)
        return super().embed_documents(texts)


def found(store: RecallStore, text: str) -> list[str]:
    """What is found by words."""
    return [hit.memory.id for hit in store.find([Search(text, 5, method="keyword")])[0]]


def at_once(*works: Callable[[], object]) -> None:
    """Do all of it in threads; the first error is raised."""
    with ThreadPoolExecutor(len(works)) as threads:
        for done in [threads.submit(work) for work in works]:
            done.result()


def test_both_write_and_delete_the_same_rows(stores: list[RecallStore]) -> None:
    written: dict[str, dict[str, str]] = {}

    def work(number: int) -> None:
        random = Random(number)
        for turn in range(ROUNDS):
            row_id, text = random.choice(IDS), f"word{number}x{turn}"
            if random.random() < 0.3:
                stores[number].delete([row_id])
                continue
            written[text] = {f"key{number}": text}
            memory = {"id": row_id, "content": text, "created_at": NOON}
            stores[number].add([memory | {"metadata": written[text]}])

    at_once(partial(work, 0), partial(work, 1))
    for store in stores:
        there = {each.id: each for each in store.get(IDS)}
        # Chroma adds the metadata of two versions of a row up, if nobody sees to it.
        assert [each.metadata for each in there.values()] == [
            written[each.content] for each in there.values()
        ]
        assert store.count() == len(there) + 1
        assert {each.id: each for each in store.memories() if each.id in IDS} == there
        holders = {each.content: row_id for row_id, each in there.items()}
        for text in written:
            assert found(store, text) == [holders[each] for each in [text] if each in holders]


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
        assert (found(store, "tea"), found(store, "milk"), store.count()) == (["m0"], [], 2)


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
        assert (found(store, "tea"), found(store, "milk"), store.count()) == ([], ["m0"], 2)


def test_two_changes_of_one_memory_are_both_there(stores: list[RecallStore]) -> None:
    stores[0].add([{"id": "m0", "content": "tea"}])

    def change(number: int) -> None:
        for turn in range(ROUNDS // 4):
            known = stores[number].get(["m0"])[0]
            if number:
                stores[1].update("m0", text=f"tea {turn}")
            else:
                stores[0].update("m0", metadata={**known.metadata, f"key{turn}": turn})

    at_once(partial(change, 0), partial(change, 1))
    [last] = stores[0].get(["m0"])
    assert last.content == f"tea {ROUNDS // 4 - 1}"
    assert last.metadata == {f"key{turn}": turn for turn in range(ROUNDS // 4)}
    assert found(stores[1], "tea") == ["m0"]


def test_two_processes_that_change_other_fields_of_one_memory_lose_nothing(
    server_port: int, collection_name: str
) -> None:
    client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
    with RecallStore(client, collection_name, embedding=SmallEmbedding()) as store:
        store.add([{"id": "m0", "content": "tea", "metadata": {"cups": 2}}])
        assert found(store, "tea") == ["m0"]
        update_at_once(server_port, collection_name, ROUNDS)

        [last] = store.get(["m0"])
        keys = {f"key{who}x{turn}": turn for who in range(2) for turn in range(ROUNDS)}
        assert last.metadata == {"cups": 2, **keys}
        assert (last.content, last.memory_type) == (f"tea {ROUNDS - 1}", f"type{ROUNDS - 1}")
        assert store.find([Search(last.content, 1)])[0][0].score == pytest.approx(1, abs=1e-4)
    client.delete_collection(collection_name)


def test_a_change_does_not_bring_back_what_another_process_has_deleted(
    server_port: int, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = chromadb.HttpClient(host="127.0.0.1", port=server_port)

    def hold(_: Held, texts: list[str]) -> None:
        if texts == ["milk"]:
            client.get_collection(collection_name, embedding_function=None).delete(ids=["m0"])

    monkeypatch.setattr(Held, "hold", hold)
    with RecallStore(client, collection_name, embedding=Held()) as store:
        store.add([{"id": "m0", "content": "tea"}])
        with pytest.raises(MissingMemoryError):
            store.update("m0", text="milk")
        assert store.count() == 0
    client.delete_collection(collection_name)
