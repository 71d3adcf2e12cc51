"""RecallStore in memory, on disk and on a server: what holds everywhere."""

import asyncio
from collections.abc import Callable

import chromadb
import pytest
from store.kit import NOON, SmallEmbedding, best, python_process

from recall_retrievers.core.errors import (
    ForeignCollectionError,
    StoreClosedError,
)
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange


class TestEverywhere:
    """In memory, on a path and on a server alike."""

    def test_what_is_added_is_read_back_in_the_order_asked_for(self, store: RecallStore) -> None:
        memory = Memory(
            id="visit",
            content="The dentist put in a filling.",
            memory_type="conversation",
            created_at=NOON,
            events=[TimeRange(NOON, None, "day")],
            when_to_use="teeth hurt",
            author="Ann",
            scope=Scope(user_id="ann"),
            metadata={"stars": 3, "price": 1.5, "paid": True, "tags": ["teeth", "牙"]},
            quality=0.5,
        )
        assert store.add([memory, {"id": "tea", "content": "Green tea."}]) == ["visit", "tea"]
        assert store.count() == 2
        tea, visit = store.get(["tea", "missing", "visit", "tea"])
        assert tea.content == "Green tea."
        assert visit == memory.model_copy(update={"events": visit.events})
        assert [(each.start, each.end) for each in visit.events] == [(NOON, None)]

    def test_a_closed_store_says_so(self, store: RecallStore) -> None:
        store.add(["tea"])
        store.close()
        store.close()
        uses: list[Callable[[], object]] = [
            lambda: store.add(["tea"]),
            lambda: store.add([]),
            lambda: store.delete(["x"]),
            lambda: store.get(["x"]),
            lambda: store.get([]),
            lambda: best(store, "tea"),
            lambda: store.find([]),
            store.count,
        ]
        for use in uses:
            with pytest.raises(StoreClosedError, match="is closed; open it again"):
                use()
        with pytest.raises(StoreClosedError, match="closed"):
            asyncio.run(store.afind([Search("tea", 1)]))


def test_importing_the_store_does_not_import_chroma() -> None:
    script = "import sys, recall_retrievers.store; print('chromadb' in sys.modules)"
    out, _ = python_process(script).communicate(timeout=60)
    assert out == "False\n"


def test_a_collection_of_ours_takes_no_fields(
    chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
) -> None:
    with RecallStore(chroma, collection_name, embedding=small) as store:
        store.add(["tea"])
    with pytest.raises(ForeignCollectionError, match="leave `fields` out"):
        RecallStore(chroma, collection_name, embedding=small, fields={"content": "body"})
    chroma.delete_collection(collection_name)
