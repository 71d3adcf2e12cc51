"""Over a server a store reads the rows of the scope that is asked for, and no others."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from store.kit import SmallEmbedding, ids
from store.places import watched

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import follower, scoped_rows

SMALL = SmallEmbedding()
ROWS = 600  # of one user
ANN, BOB, EVE = (Scope(user_id=name) for name in ("ann", "bob", "eve"))

Opener = Callable[..., RecallStore]


@pytest.fixture
def opened(server_port: int, collection_name: str) -> Iterator[Opener]:
    """Opens stores on one collection of a server; each but the first reads with its own client."""
    stores: list[RecallStore] = []

    def open_one(**settings: Any) -> RecallStore:
        client = chromadb.HttpClient(host="127.0.0.1", port=server_port)
        stores.append(RecallStore(client, collection_name, embedding=SMALL, **settings))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()
    chromadb.HttpClient(host="127.0.0.1", port=server_port).delete_collection(collection_name)


def fill(store: RecallStore, *owners: Scope) -> None:
    for scope in owners:
        name = scope.user_id
        store.add(
            Memory(id=f"{name}{n}", content=f"tea word{n} of {name}", scope=scope)
            for n in range(ROWS)
        )


def found(store: RecallStore, text: str, scope: Scope, limit: int = 3) -> list[str]:
    """What is found by words and by meaning alike."""
    by_words, by_meaning = store.find(
        [Search(text, limit, method="keyword", scope=scope), Search(text, limit, scope=scope)]
    )
    return [each for each in ids(by_words) if each in ids(by_meaning)]


@contextmanager
def reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool]]]:
    """The ids of all rows that come from the server, and whether their texts come too."""
    seen: list[tuple[str, bool]] = []

    def see(asked: dict[str, Any], page: Any) -> None:
        with_text = "documents" in asked.get("include", ())
        seen.extend((row_id, with_text) for row_id in np.ravel(page["ids"]).tolist())

    with watched(monkeypatch, see):
        yield seen


def test_a_question_reads_the_rows_of_its_scope_and_no_others(
    opened: Opener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(follower, "POLL_S", 99)  # on a busy machine it looks several times
    fill(opened(), ANN, BOB)
    with_nothing = opened(index_dir=tmp_path)  # a setting of its own, so rows of its own

    with reading(monkeypatch) as seen:
        assert found(with_nothing, "word7", ANN)[0] == "ann7"
    assert {row_id[:3] for row_id, _ in seen} == {"ann"}
    assert len(seen) < 2 * ROWS

    with reading(monkeypatch) as seen:  # of the nearest come the ids: the rows know the texts
        assert found(with_nothing, "word8", ANN)[0] == "ann8"
    assert seen
    assert not any(with_text for _, with_text in seen)


def test_what_this_process_writes_is_in_its_scope_alone_and_at_once(
    opened: Opener, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(follower, "POLL_S", 99)  # nobody looks what is there
    store = opened()
    fill(store, ANN)
    for scope in (ANN, BOB):
        found(store, "tea", scope)

    store.add([Memory(id="ann7", content="milk", scope=BOB)])

    assert found(store, "milk", BOB) == ["ann7"]
    for method in ("keyword", "semantic"):
        [there] = store.find([Search("tea word7", ROWS, method=method, scope=ANN)])
        assert len(there) == ROWS - 1
        assert "ann7" not in ids(there)
    store.delete(["ann7"])
    assert found(store, "milk", BOB) == []


def test_the_scope_that_was_not_asked_for_the_longest_is_let_go(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(opened(), ANN, BOB, EVE)
    monkeypatch.setattr(scoped_rows, "_MOST", 2 * ROWS)
    store = opened()
    for scope in (ANN, BOB, ANN, EVE):
        found(store, "word7", scope)

    read = {}
    for scope in (EVE, ANN, BOB):
        with reading(monkeypatch) as seen:
            found(store, "word7", scope)
        read[scope.user_id] = sum(texts for _, texts in seen) >= ROWS

    assert read == {"eve": False, "ann": False, "bob": True}


def test_a_folder_keeps_the_rows_for_the_next_process(
    opened: Opener, no_pause: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_SKEW", "_DELAY"):  # clocks agree
        monkeypatch.setattr(follower, name, 0)
    other = opened()
    fill(other, ANN)
    with opened(index_dir=tmp_path) as first:
        assert found(first, "word7", ANN)[0] == "ann7"
    other.delete(["ann7", "ann400"])
    other.add([Memory(id="later", content="milk", scope=ANN)])

    with reading(monkeypatch) as seen, opened(index_dir=tmp_path) as second:
        assert found(second, "milk", ANN)[0] == "later"
        assert "ann400" not in found(second, "word400", ANN, 10)
    assert len([row_id for row_id, with_text in seen if with_text]) < ROWS // 2
    assert {row_id[:3] for row_id, _ in seen} <= {"ann", "lat"}


def test_a_scope_is_let_go_by_nobody_who_is_asking_it(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(opened(), ANN, BOB, EVE)
    monkeypatch.setattr(scoped_rows, "_MOST", 1)
    store = opened()
    questions = [scope for _ in range(5) for scope in (ANN, BOB, EVE)]

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda scope: found(store, "word7", scope)[0], questions))

    assert answers == [f"{scope.user_id}7" for scope in questions]
