"""The share of meaning: an English embedding model counts less for a Chinese question."""

from typing import Any

from tables import table

from recall_stages.retriever.memory_retriever import MemoryRetriever
from recall_stages.store import RecallStore


@table(
    ("model", "question", "settings", "share"),
    [
        ("all-MiniLM-L6-v2", "tea", {}, 0.6),
        ("all-MiniLM-L6-v2", "茶", {}, 0.4),
        ("all-MiniLM-L6-v2", "茶", {"semantic_weight": 0.6}, 0.6),
        ("multilingual-e5-small", "茶", {}, 0.6),
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
