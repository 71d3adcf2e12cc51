"""The shares of meaning, of tokens and of words in a score; the vectors of tokens."""

import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from store.kit import SmallEmbedding
from tables import table

from langchain_recall import RecallRetriever
from recall_retrievers.core.stage import Search
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.local_model import TokenVectors


class Near:
    """An embedding under which "tea" has the similarity 0.9 to every question, "milk" 0.8."""

    def __init__(self, model_name: str) -> None:
        self.model_name = model_name

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        cosines = [{"tea": 0.9, "milk": 0.8}[text] for text in texts]
        return [[cosine, math.sqrt(1 - cosine**2)] for cosine in cosines]

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)


@table(
    ("model", "question", "settings", "share"),
    [
        ("all-MiniLM-L6-v2", "tea", {}, 0.6),  # another model of that name has no vectors of words
        ("all-MiniLM-L6-v2", "茶", {}, 0.4),
        ("all-MiniLM-L6-v2", "茶", {"semantic_weight": 0.6}, 0.6),
        ("multilingual-e5-small", "茶", {}, 0.6),
        ("multilingual-e5-small", "茶 推荐 一些 好喝 饮料 看看", {}, 0.6),
        ("multilingual-e5-small", "tea zinc lake moon cup fog", {}, 0.9),
    ],
)
def test_the_best_by_meaning_has_its_share(
    words: Any, model: str, question: str, settings: dict[str, float], share: float
) -> None:
    words.model_name = model
    with RecallStore(embedding=words) as store:
        store.add(["tea 茶", "milk"])
        retriever = MemoryRetriever(store=store, **settings)
        [first, *_] = retriever.recall_without_model(question).memories

    assert first.trace["by_meaning"] == share


@table(
    ("model", "settings", "low"),
    [
        ("all-MiniLM-L6-v2", {}, 0.89),
        ("multilingual-e5-small-q4", {}, 0.5),
        ("intfloat/e5-base-v2", {}, 0.5),
        ("multilingual-e5-small-q4", {"similarity_floor": 0.0}, 0.89),
        ("bge-small", {"similarity_floor": 0.7}, 0.5),
    ],
)
def test_the_similarities_of_an_e5_model_count_above_their_floor(
    model: str, settings: dict[str, float], low: float
) -> None:
    with RecallStore(embedding=Near(model)) as store:
        store.add(["tea", "milk"])
        retriever = MemoryRetriever(store=store, stages=[], semantic_weight=1.0, **settings)
        found = retriever.recall_without_model("drinks").memories

    assert [round(memory.trace["by_meaning"], 2) for memory in found] == [1.0, low]


TEXTS = {"cup": "a green tea cup", "car": "the red car", "elm": "elm street house"}
ASKED = "green car"


class WithTokens(SmallEmbedding):
    """Has the direction of each word as the vector of a token, too."""

    broken = False

    def embed_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[list[list[float]], list[TokenVectors]]:
        tokens = [TokenVectors(text.split(), self._words(text)) for text in texts]
        return self.embed_documents(list(texts)), tokens

    def _words(self, text: str) -> NDArray[np.float32]:
        vectors = np.array(self.embed_documents(text.split()), dtype=np.float32)
        return vectors * np.nan if self.broken else vectors


@contextmanager
def opened(path: Path | None = None, **texts: str) -> Iterator[RecallStore]:
    with RecallStore(path, embedding=WithTokens()) as store:
        store.add([{"id": name, "content": text} for name, text in texts.items()])
        yield store


def measured(store: RecallStore, text: str = ASKED) -> dict[str, float]:
    """How near each memory comes to the words of a question, where that is known."""
    [hits] = store.find([Search(text, 10, by_tokens=True)])
    near = {hit.id: hit.measures.get("token_similarity") for hit in hits}
    return {name: value for name, value in near.items() if value is not None}


def test_a_memory_is_as_near_as_its_best_words_are_and_rare_words_count_more() -> None:
    with opened(**TEXTS, bus="the red bus") as store:
        near = measured(store)
        reds = measured(store, "red house")

    assert near["cup"] == pytest.approx(near["car"], abs=0.1)
    assert near["cup"] > near["elm"] + 0.2
    assert reds["elm"] > reds["car"] + 0.05  # one memory has a house, two are red


def test_they_are_kept_on_disk(tmp_path: Path) -> None:
    with opened(tmp_path, **TEXTS) as store:
        before = measured(store)
    with RecallStore(tmp_path, embedding=WithTokens()) as store:
        assert measured(store) == before
        store.delete(["cup"])
    with RecallStore(tmp_path, embedding=WithTokens()) as store:
        assert measured(store).keys() == TEXTS.keys() - {"cup"}


def test_without_them_rows_are_found_by_their_vectors(tmp_path: Path) -> None:
    with opened(tmp_path, **TEXTS) as store:
        assert measured(store)
    shutil.rmtree(tmp_path / ".recall")
    with RecallStore(tmp_path, embedding=WithTokens()) as store:
        assert measured(store) == {}
        assert len(RecallRetriever(store=store).invoke(ASKED)) == 2
        store.add([{"id": name, "content": f"{text}!"} for name, text in TEXTS.items()])
        assert set(measured(store)) == set(TEXTS)


def test_a_memory_keeps_them_when_it_is_changed_but_for_its_text(tmp_path: Path) -> None:
    for path in (None, tmp_path):
        with opened(path, **TEXTS) as store:
            before = measured(store)
            store.update("cup", metadata={"cups": 2}, expires_at="2200-01-01")
            assert measured(store) == before
            store.update("cup", text="the red house")
            assert measured(store)["cup"] < before["cup"]


def test_a_pool_in_which_many_have_none_is_compared_by_vectors_alone() -> None:
    with opened(**TEXTS) as store, opened(raw="green grass") as other, opened() as new:
        other.copy_to(store)  # vectors alone are copied
        [first, *_] = RecallRetriever(store=store).invoke(ASKED)
        new.add(store.memories(include_superseded=True))
        assert set(measured(new)) == {*TEXTS, "raw"}

    assert "recall_by_tokens" not in first.metadata
    assert "1 candidates have no token vectors" in first.metadata["recall_degraded"]


def test_the_score_shows_the_part_of_the_words() -> None:
    with opened(**TEXTS) as store:
        ask = RecallRetriever(store=store, stages=[])
        shown = ask.invoke(ASKED)[0].metadata
        long = ask.invoke(f"{ASKED} {' '.join(map(str, range(14)))}")[0].metadata
        [none, *_] = RecallRetriever(store=store, stages=[], token_weight=0).invoke(ASKED)

    parts = [shown[f"recall_by_{name}"] for name in ("meaning", "tokens", "words")]
    assert sum(parts) == pytest.approx(shown["relevance_score"])
    assert parts[1] == pytest.approx(0.325, abs=0.001)  # .5 of .65, and the best of all
    assert 0 < long["recall_by_tokens"] <= 0.164  # half of that, for 16 words
    assert "recall_by_tokens" not in none.metadata


@pytest.mark.parametrize(("question", "counts"), [("green tea", True), ("绿茶在哪里", False)])
def test_the_default_model_leaves_them_out_in_a_language_it_does_not_know(
    question: str, counts: bool
) -> None:
    with RecallStore() as store:
        store.add([*TEXTS.values(), "绿茶在桌上"])
        [first, *_] = RecallRetriever(store=store).invoke(question)

    assert ("recall_by_tokens" in first.metadata) is counts
