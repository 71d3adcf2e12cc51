"""The share of meaning: an English embedding model counts less for a Chinese question."""

import math
from typing import Any

from tables import table

from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore


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
