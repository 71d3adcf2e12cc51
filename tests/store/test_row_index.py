"""The mirror follows the collection: whoever writes to it, and whatever a call may return."""

import shutil
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kit import SmallEmbedding, best, contents, ids

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.token_vectors import Embedded, unit
from recall_retrievers.store.rows import row_index, words
from recall_retrievers.store.rows.columns import Wanted
from recall_retrievers.store.rows.scoped_rows import indexes_of
from recall_retrievers.store.rows.table import Table
from recall_retrievers.store.rows.vectors import Vectors


def both_ways(store: RecallStore, text: str, **search: Any) -> list[list[str]]:
    found = store.find([Search(text, 5, **search), Search(text, 5, method="keyword", **search)])
    return [ids(each) for each in found]


def test_the_last_store_that_is_closed_lets_the_rows_go(
    chroma: chromadb.ClientAPI, collection_name: str, small: SmallEmbedding
) -> None:
    first, second = (RecallStore(chroma, collection_name, embedding=small) for _ in range(2))
    first.add(["tea"])
    second.find([Search("tea", 1, method="keyword")])
    collection = chroma.get_collection(collection_name, embedding_function=None)
    [shared] = indexes_of(collection, None)
    with shared.using(Scope()) as rows:
        assert len(rows) == 1

    first.close()
    second.add(["coffee"])
    assert len(rows) == 2

    second.close()
    assert indexes_of(collection, None) == []
    with pytest.raises(StoreClosedError):
        rows.table.ids()


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.integers(0, 40_000), min_size=1, max_size=60, unique=True).map(sorted),
    st.randoms(use_true_random=False),
)
def test_kept_vectors_compare_as_exact_arithmetic_does(slots: list[int], dice: Any) -> None:
    rng = np.random.default_rng(dice.randrange(2**32))
    rows = rng.standard_normal((len(slots), 16)).astype(np.float32)
    vector = unit(rng.standard_normal(16).astype(np.float32))
    kept, order = Vectors(None, 0, 0), rng.permutation(len(slots))
    kept.put(np.array(slots)[order], rows[order], max(slots) + 1)
    expected = rows @ vector / np.linalg.norm(rows, axis=1)
    assert kept.cosines(np.array(slots), vector) == pytest.approx(expected, abs=1e-5)


def test_the_wait_for_the_first_keyword_search_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small = SmallEmbedding()
    with RecallStore(tmp_path, embedding=small) as store:
        store.add(["tea", "coffee"])
    shutil.rmtree(tmp_path / ".recall")

    with (
        RecallStore(tmp_path, embedding=small) as store,
        caplog.at_level("INFO", row_index.__name__),
    ):
        store.find([Search("tea", 5, method="keyword")])

    assert [record.message[:11] for record in caplog.records] == ["reading 2 r", "read 2 rows"]


def test_a_collection_that_was_adopted_is_opened_again_in_this_process(tmp_path: Path) -> None:
    client = chromadb.PersistentClient(str(tmp_path))
    client.create_collection("memories", embedding_function=None)
    with RecallStore(client, embedding=SmallEmbedding()) as store:
        store.add(["green tea"])
        assert contents(best(store, "tea", method="keyword")) == ["green tea"]
    client.close()

    other = chromadb.PersistentClient(str(tmp_path))
    rows: Any = other.get_collection("memories", embedding_function=None)
    rows.add(ids=["raw"], documents=["milk"], embeddings=[SmallEmbedding().embed_query("milk")])
    other.close()

    for text in ("tea", "milk"):
        with RecallStore(tmp_path, embedding=SmallEmbedding()) as store:
            assert text in contents(best(store, text, method="keyword"))[0]


def test_a_change_that_fails_in_the_middle_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Table(lambda _: Candidate(content="tea"), tmp_path)
    rows.put([("a", "tea", {})], [Candidate(content="tea")])
    monkeypatch.setattr(words, "put", lambda *_: (_ for _ in ()).throw(OSError("no room")))
    for change in (lambda: rows.put([("b", "tea", {})], [None]), lambda: rows.drop(["a"])):
        with pytest.raises(OSError, match="no room"):
            change()
    monkeypatch.undo()
    rows.close()
    again = Table(lambda _: Candidate(content="tea"), tmp_path)
    assert again.ids() == ["a"]
    assert len(again.by_words("tea", 5, *again.select([(Wanted(Scope()), None)]))[0]) == 1


def test_the_nearest_by_sketches_are_those_of_plain_cosines() -> None:
    """However near to each other all are, and however many came since sketches were made."""
    rng = np.random.default_rng(7)
    topics = 2 * rng.standard_normal((300, 64))[rng.integers(0, 300, 6_000)]
    rows = unit((rng.standard_normal((6_000, 64)) + topics + 4).astype(np.float32))
    questions = unit(rows[::100] + unit(rng.standard_normal((60, 64), dtype=np.float32)) / 8)
    table, there, found, wanted = Table(lambda _: None), 0, 0, 0
    for end in (2_000, 3_500, 6_000):
        new = [(str(n), None, None) for n in range(there, end)]
        table.put(new, [None] * len(new), Embedded(rows[there:end]))
        there, asked = end, questions[: end // 100]
        for question, cosines in zip(asked, asked @ rows[:end].T, strict=True):
            best, similarities = table.nearest(table.living(), question, 10, 400)
            assert similarities == pytest.approx(cosines[best], abs=1e-5)
            found += np.isin(np.argsort(-cosines)[:10], best).sum()
            wanted += 10
    assert found >= 0.99 * wanted
