"""Filters, rankers and functions through both faces, alone and inside a retriever."""

from typing import Any

import pytest
from faces.adapters import Face, Found
from faces.conftest import NOW
from tables import table

from recall_retrievers.store import RecallStore

CANDIDATES = [
    Found("old", "Tea.", 0.9, {"created_at": "2024-01-08T12:00:00Z"}),
    Found("new", "Coffee.", 0.6, {"created_at": "2024-03-08T12:00:00Z"}),
    Found("undated", "Milk.", 0.5, {}),
]

CASES: list[tuple[str, dict[str, Any], list[tuple[str, float]]]] = [
    ("RelevanceThreshold", {"threshold_score": 0.6}, [("old", 0.9), ("new", 0.6)]),
    ("Deduplicate", {}, [("old", 0.9), ("new", 0.6), ("undated", 0.5)]),
    ("TimeDecay", {"half_life_days": 60}, [("new", 0.6), ("undated", 0.5), ("old", 0.45)]),
    ("RelevanceRank", {"top_n": 2}, [("old", 0.9), ("new", 0.6)]),
    ("RecencyRank", {}, [("new", 0.6), ("old", 0.9), ("undated", 0.5)]),
    ("HybridRank", {}, [("new", 0.72), ("old", 0.63), ("undated", 0.5)]),
]


@table(("name", "settings", "expected"), CASES, ids=str)
def test_each_works_in_a_stock_list(
    face: Face, name: str, settings: dict[str, Any], expected: list[tuple[str, float]]
) -> None:
    stage = getattr(face, name)(timestamp="2024-03-08T12:00:00Z", **settings)

    refined = face.refine(stage, CANDIDATES, "What do I drink?")

    assert [each.id for each in refined] == [name for name, _ in expected]
    assert [each.score for each in refined] == pytest.approx([score for _, score in expected])


def test_a_retriever_takes_stages_and_functions_in_one_list(store: RecallStore, face: Face) -> None:
    def nothing_of_bob(memories: Any, query: Any) -> Any:
        return [memory for memory in memories if memory.scope.user_id != "bob"]

    stages = [nothing_of_bob, face.RecencyRank(top_n=2)]
    retriever = face.RecallRetriever(store=store, timestamp=NOW, stages=stages, k=3)

    found = face.ask(retriever, "dentist")

    dates = [each.metadata["created_at"] for each in found]
    assert len(found) == 2
    assert dates == sorted(dates, reverse=True)
    assert all(each.metadata.get("user_id") != "bob" for each in found)
