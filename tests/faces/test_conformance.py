"""One table of cases through both faces, sync and async: the same question, the same answer."""

import re
from typing import Any

import pytest
from faces.adapters import FACES, Face, both, once
from faces.cases import CASES, Case
from faces.conftest import NOW
from tables import table

from recall_retrievers.store import RecallStore


@table("case", CASES, ids=lambda case: case.name)
def test_the_right_memories_come_back_in_order_and_alike(store: RecallStore, case: Case) -> None:
    settings = {"timestamp": NOW, "timezone": "UTC", **case.settings}
    answers = [
        each.ask(each.RecallRetriever(store=store, **settings), case.question, **case.options)
        for each in FACES
    ]

    assert [each.id for each in answers[0]] == case.expected
    assert all(answer == answers[0] for answer in answers)


@once
def test_every_result_says_how_its_score_came_about(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=6)

    found = {each.id: each for each in face.ask(retriever, "the dentist last Tuesday")}
    filling, moved = found["filling"], found["moved"]

    assert filling.metadata["recall_time_words"] == "last Tuesday"
    assert filling.metadata["recall_time_range"] == (
        "2024-03-05T00:00:00+00:00/2024-03-06T00:00:00+00:00"
    )
    assert filling.metadata["recall_time_match"] == "recorded"
    assert filling.metadata["recall_type_ratio"] == 0.5
    assert 1 < filling.metadata["recall_time_ratio"] <= 2
    assert (moved.metadata["recall_type_ratio"], moved.metadata["recall_time_ratio"]) == (1, 1)
    for each in found.values():
        parts = [each.metadata[f"recall_{n}"] for n in ("relevance", "type_ratio", "time_ratio")]
        assert each.score == pytest.approx(parts[0] * parts[1] * parts[2])
        flat = {k: v for k, v in each.metadata.items() if k.startswith("recall_")}
        assert isinstance(flat.pop("recall_trace"), str)
        assert all(type(value) in (float, str) for value in flat.values())


def test_results_carry_what_the_memory_is(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="Europe/Berlin", k=6)

    filling = next(each for each in face.ask(retriever, "a filling") if each.id == "filling")

    stored = {k: v for k, v in filling.metadata.items() if not k.startswith("recall_")}
    assert stored == {
        "created_at": "2024-03-05T11:00:00+01:00",
        "memory_type": "conversation",
        "author": "Ann",
        "user_id": "ann",
        "topic": "health",
        "stars": 3,
    }


@both
def test_explain_shows_a_table_that_a_person_can_read(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC")

    shown = face.explain_text(face.ask(retriever, "the dentist last Tuesday"))

    assert '"last Tuesday" is understood as 2024-03-05 (Tuesday)' in shown
    assert re.search(r"x 1\.\d+ recorded in time", shown)
    assert "x 0.5 conversation" in shown
    assert "Ann is afraid of the dentist." in shown


@once
def test_k_memories_come_back_where_there_are_k(face: Face, words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add(["I paid the rent."] * 300 + [f"the rent of month {n}" for n in range(8)])

        found = face.ask(face.RecallRetriever(store=store, k=8, fetch_k=1), "I paid the rent.")

    assert len(found) == 8
    assert len({each.content for each in found}) == 8
