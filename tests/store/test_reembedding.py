"""A collection with the vectors of another model: made beside it, and again where it stopped."""

import re
from pathlib import Path
from typing import Any

import chromadb
import pytest
from store.kit import Counting, SmallEmbedding, best, ids, python_process
from store.test_copying import MEMORIES

from recall_retrievers.core.errors import EmbeddingMismatchError, StoreError
from recall_retrievers.store import RecallStore

KILLED = """
import os, sys
from store.kit import SmallEmbedding
from recall_retrievers.store import RecallStore

class Dies(SmallEmbedding):
    left = 1

    def embed_documents(self, texts):
        if not self.left:
            os.kill(os.getpid(), 9)
        self.left -= 1
        return super().embed_documents(texts)

RecallStore(sys.argv[1], embedding=SmallEmbedding()).reembed(
    Dies(32, "other"), name="second", progress=True
)
"""


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with RecallStore(tmp_path / "here", embedding=SmallEmbedding()) as store:
        store.add(MEMORIES)
    return tmp_path / "here"


def test_after_a_kill_it_goes_on_where_it_ended(filled: Path) -> None:
    killed = python_process(KILLED, str(filled))
    assert killed.wait(120) == -9

    other = Counting(32, "other")
    with RecallStore(filled, embedding=SmallEmbedding()) as store:
        expected = list(store.memories())
        with store.reembed(other, name="second") as new:
            assert 0 < other.embedded < len(MEMORIES)
            assert (new.name, new.embedding_model) == ("second", "other")
            assert list(new.memories()) == expected
            for method in ("semantic", "keyword"):
                assert ids(best(new, "word123, ago", method=method)) == ["m123"]
            assert len(best(new, "tea", 300, filter={"event_start": {"$gt": 0}})) == 100
        assert list(store.memories()) == expected
    with RecallStore(filled, "second", embedding=other, create=False) as again:
        assert again.count() == len(MEMORIES)


def test_memories_that_were_deleted_meanwhile_are_counted(filled: Path) -> None:
    other = SmallEmbedding(32, "other")
    with RecallStore(filled, embedding=SmallEmbedding()) as store:
        store.reembed(other, name="second").close()
        store.delete(["m000", "m001"])
        with (
            pytest.warns(UserWarning, match="2 memories of 'second' are not in 'memories'"),
            store.reembed(other, name="second"),
        ):
            pass


@pytest.mark.parametrize("place", ["memory", "client"])
def test_the_new_collection_is_in_the_same_place(
    chroma: chromadb.ClientAPI, collection_name: str, place: str
) -> None:
    source: Any = None if place == "memory" else chroma
    with RecallStore(source, collection_name, embedding=SmallEmbedding(), create=True) as store:
        store.add(MEMORIES[:3])
        with store.reembed(SmallEmbedding(32, "other"), name=f"{collection_name}-2") as new:
            assert list(new.memories()) == list(store.memories())
        if place == "client":
            assert chroma.get_collection(f"{collection_name}-2").count() == 3


def test_what_cannot_be_is_an_error_that_says_why(
    chroma: chromadb.ClientAPI, collection_name: str
) -> None:
    other = SmallEmbedding(32, "other")
    with RecallStore(chroma, collection_name, embedding=SmallEmbedding(), create=True) as store:
        store.add(MEMORIES[:1])
        with pytest.raises(ValueError, match="needs another name"):
            store.reembed(other, name=collection_name)
        with (
            RecallStore(embedding=other) as elsewhere,
            pytest.raises(
                EmbeddingMismatchError, match=re.escape("store.reembed(embedding, name=...)")
            ),
        ):
            store.copy_to(elsewhere)
        rows = chroma.get_collection(collection_name, embedding_function=None)
        with (
            RecallStore(rows, embedding=SmallEmbedding()) as bare,
            pytest.raises(StoreError, match="opened without its client"),
        ):
            bare.reembed(other, name="second")
