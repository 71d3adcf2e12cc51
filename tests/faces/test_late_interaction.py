"""LateInteractionRank through both faces, and its work beside the event loop."""

import asyncio
import threading
from typing import Any

import pytest
from faces.adapters import Face, Found

from recall_stages.core.memory import Memory
from recall_stages.core.query import Query
from recall_stages.core.stage import Recall
from recall_stages.core.world import World, arun
from recall_stages.stages import late_interaction_rank
from recall_stages.stages.late_interaction_rank import LateInteractionRank
from recall_stages.store import RecallStore
from recall_stages.timeline import parse_time

ASKED = "Which drink does she like in the morning?"
CANDIDATES = [
    Found("street", "Her house is on Elm Street.", 0.5, {}),
    Found("tea", "She has a cup of green tea for breakfast.", 0.5, {}),
    Found("car", "The car is at the garage.", 0.5, {}),
]


def test_the_memory_whose_words_answer_comes_first(face: Face) -> None:
    found = face.refine(face.LateInteractionRank(), CANDIDATES, ASKED)

    assert found[0].id == "tea"
    assert {each.id for each in found} == {"street", "tea", "car"}
    assert found[0].score == pytest.approx(1.0)
    assert found[0].metadata["recall_relevance"] == 0.5


def test_running_it_twice_gives_the_same(face: Face) -> None:
    stage = face.LateInteractionRank()
    once = face.refine(stage, CANDIDATES, ASKED)
    twice = face.refine(stage, once, ASKED)

    assert [each.id for each in twice] == [each.id for each in once]
    assert [each.score for each in twice] == pytest.approx([each.score for each in once])


def test_those_after_top_n_count_as_the_least_similar_and_stay(face: Face) -> None:
    found = face.refine(face.LateInteractionRank(top_n=1), CANDIDATES, ASKED)

    assert [each.id for each in found] == ["street", "tea", "car"]
    assert len({each.score for each in found}) == 1


def test_without_a_weight_the_order_is_that_of_the_relevance(face: Face) -> None:
    found = face.refine(face.LateInteractionRank(late_weight=0), CANDIDATES, ASKED)

    assert [each.id for each in found] == ["street", "tea", "car"]


def test_where_the_words_cannot_be_read_the_order_stands(
    face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: Any) -> list[float]:
        raise MemoryError("no room")

    monkeypatch.setattr(late_interaction_rank, "max_sim", broken)
    found = face.refine(face.LateInteractionRank(), CANDIDATES, ASKED)

    assert [each.id for each in found] == ["street", "tea", "car"]
    assert found[0].metadata["recall_degraded"] == "LateInteractionRank: MemoryError: no room"


def test_inside_a_retriever(face: Face, words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add([{"content": each.content, "id": each.id} for each in CANDIDATES])
        stages = [face.LateInteractionRank(late_weight=1), face.FuseRerank()]
        retriever = face.RecallRetriever(store=store, stages=stages, method="semantic", k=1)

        assert [each.id for each in face.ask(retriever, ASKED)] == ["tea"]


def test_a_question_without_words_changes_nothing(face: Face) -> None:
    for question in ("", "   "):
        found = face.refine(face.LateInteractionRank(), CANDIDATES, question)
        assert [each.id for each in found] == ["street", "tea", "car"]


async def test_it_works_in_a_thread_while_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def noted(question: str, texts: list[str]) -> list[float]:
        threads.append(threading.get_ident())
        return [1.0 for _ in texts]

    monkeypatch.setattr(late_interaction_rank, "max_sim", noted)
    query = Query(text="tea?", reference_time=parse_time("2024-03-06", "UTC"))

    steps = LateInteractionRank().apply(Recall(query, (Memory(content="Tea."),)))
    await asyncio.wait_for(arun(steps, World(asynchronous=True)), timeout=10)

    assert threads != [threading.get_ident()]
