"""A collection copied into another one: whole, embedded only by another model, resumed."""

from pathlib import Path

import chromadb
import pytest
from chroma_server import ChromaServer
from store.kit import Counting, SmallEmbedding, best, ids, python_process

from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore

MEMORIES = [
    Memory(
        id=f"m{n:03}",
        content=f"tea word{n}, two weeks ago",
        created_at="2024-03-05T10:00:00Z",
        author="Ann",
        **({"events": []} if n % 3 else {}),
        said_before="Which tea?",
        metadata={"stars": n, "tags": ["a", "b"]},
    )
    for n in range(300)
]


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

here = RecallStore(sys.argv[1], embedding=SmallEmbedding())
here.copy_to(RecallStore(sys.argv[1], "second", embedding=Dies(32, "other")), progress=True)
"""


class Once(SmallEmbedding):
    """Embeds questions alone."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise AssertionError(f"{len(texts)} texts are embedded again")


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with RecallStore(tmp_path / "here", embedding=SmallEmbedding()) as store:
        store.add(MEMORIES)
    return tmp_path / "here"


def test_a_folder_moves_to_a_server_and_back(
    filled: Path, tmp_path: Path, chroma_server: ChromaServer, collection_name: str
) -> None:
    with (
        RecallStore(filled, embedding=Once()) as here,
        RecallStore(
            chroma_server.client(), collection_name, embedding=Once(), create=True
        ) as there,
        RecallStore(tmp_path / "back", embedding=Once()) as back,
    ):
        assert here.copy_to(there) == there.copy_to(back) == 300
        expected = {each.id: each for each in here.memories()}
        for copy in (there, back):
            assert {each.id: each for each in copy.memories()} == expected
            for method in ("semantic", "keyword"):
                assert ids(best(copy, "word123, ago", method=method)) == ["m123"]
            two_weeks_before = best(copy, "tea", 300, filter={"event_start": {"$gt": 0}})
            assert len(two_weeks_before) == 100  # an empty list of events stays empty


def test_a_copy_that_was_interrupted_goes_on(
    filled: Path, chroma_server: ChromaServer, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        RecallStore(filled, embedding=Once()) as here,
        RecallStore(
            chroma_server.client(), collection_name, embedding=Once(), create=True
        ) as there,
    ):
        written: list[int] = []
        upsert = chromadb.Collection.upsert

        def fails_once(self: chromadb.Collection, **rows: list[str]) -> None:
            written.append(len(rows["ids"]))
            if len(written) == 2:
                raise ConnectionError("the network is gone")
            upsert(self, **rows)  # type: ignore[arg-type]  # passed on as it came

        monkeypatch.setattr(chromadb.Collection, "upsert", fails_once)
        with pytest.raises(StoreError, match="network"):
            here.copy_to(there)
        assert there.count() == 250
        assert here.copy_to(there) == there.count() == 300
        assert written == [250, 50, 50]  # the first 250 are not written again


def test_another_model_embeds_and_goes_on_after_a_kill(filled: Path) -> None:
    whole = {"include_superseded": True}
    with RecallStore(filled, embedding=SmallEmbedding()) as here:
        here.supersede("m007", {"id": "newer", "content": "tea at last"})
        expected = list(here.memories(**whole))
    assert python_process(KILLED, str(filled)).wait(120) == -9

    other = Counting(32, "other")
    with (
        RecallStore(filled, embedding=SmallEmbedding()) as here,
        RecallStore(filled, "second", embedding=other) as there,
    ):
        assert 0 < there.count() < here.count()
        assert here.copy_to(there) == 301
        assert 0 < other.embedded < 301
        assert list(there.memories(**whole)) == list(here.memories(**whole)) == expected
        assert there.get(["m007"])[0].superseded_by == "newer"
        for method in ("semantic", "keyword"):
            assert ids(best(there, "word123, ago", method=method)) == ["m123"]
        assert len(best(there, "tea", 300, filter={"event_start": {"$gt": 0}})) == 100
