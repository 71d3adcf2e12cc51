"""A question without words lists memories; one for the latest or the first is answered in order."""

from typing import Any

import pytest
from faces.adapters import Face, once
from faces.conftest import WordsEmbedding
from tables import table

from recall_retrievers.core.errors import QueryError, StoreError
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.store import RecallStore

NOW = "2024-03-26T12:00:00Z"
VISITS = [
    ("2023-05-01", "the dentist, the dentist, the nurse of the dentist", "insight"),
    ("2024-01-05", "the dentist made a filling", "conversation"),
    ("2024-02-10", "the dentist cleaned teeth", "observation"),
    ("2024-03-02", "the dentist put in a crown", "conversation"),
    ("2024-03-20", "the dentist moved", "observation"),
]
OTHERS = [
    ("2024-03-24", "tea with anna", "insight"),
    ("2024-03-25", "a bike for three", "conversation"),
]


@pytest.fixture(scope="module")
def visits() -> Any:
    with RecallStore(embedding=WordsEmbedding()) as store:
        store.add(
            {
                "id": day,
                "content": text,
                "created_at": f"{day}T09:00:00Z",
                "memory_type": kind,
                "user_id": "ann",
                "metadata": {"topic": "tea" if "tea" in text else "other"},
            }
            for day, text, kind in [*VISITS, *OTHERS]
        )
        bob = {"content": "the dentist of bob", "created_at": NOW, "user_id": "bob"}
        store.add([{**bob, "id": "bob", "expires_at": "2024-03-26T11:00:00Z"}])
        trip = {"content": "a trip on 12 june 2024", "created_at": "2024-01-06T09:00:00Z"}
        store.add([{**trip, "id": "trip", "user_id": "ann"}])
        yield store


def retriever(face: Face, store: RecallStore, **settings: Any) -> Any:
    scope = {"user_id": "ann"}
    return face.RecallRetriever(
        store=store, timestamp=NOW, timezone="UTC", **{"scope": scope, "k": 4, **settings}
    )


IN_MARCH = ["2024-03-25", "2024-03-24", "2024-03-20", "2024-03-02"]
LISTED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a time": ({"time_range": "in March"}, IN_MARCH),
    "k": ({"time_range": ("2024-02-01", None), "k": 2}, ["2024-03-25", "2024-03-24"]),
    "a time that a memory names": ({"time_range": ("2024-06-01", None)}, ["trip"]),
    "a filter": ({"filter": {"topic": "tea"}}, ["2024-03-24"]),
    "both": ({"filter": {"topic": "other"}, "time_range": "last week"}, ["2024-03-20"]),
    "nothing of that time": ({"time_range": "in 2019"}, []),
    "what has expired": ({"time_range": "today", "scope": {}}, []),
}


@once
@table("case", LISTED, ids=str)
def test_an_empty_question_lists_the_newest_first(
    visits: RecallStore, face: Face, case: str
) -> None:
    options, expected = LISTED[case]

    ways = [(retriever(face, visits), options)]
    if "scope" not in options:
        ways.append((retriever(face, visits, **options), {}))
    for asked, call in ways:
        found = face.ask(asked, "", **call)
        assert [each.id for each in found] == expected
        assert {each.metadata["recall_listed"] for each in found} <= {"newest first"}


@once
def test_without_a_time_and_a_filter_an_empty_question_is_an_error(
    visits: RecallStore, face: Face
) -> None:
    with pytest.raises(QueryError, match=r"To list memories, .* pass a time_range or a filter"):
        face.ask(retriever(face, visits), " ")
    with pytest.raises(QueryError):  # its own filter names no memories that somebody asked for
        face.ask(face.task_memory_retriever(visits), "")
    with pytest.raises(QueryError, match="query must be a string; got NoneType"):
        face.ask(retriever(face, visits), None)


@once
def test_stages_that_need_a_question_are_left_out_and_others_run(
    visits: RecallStore, face: Face
) -> None:
    model = face.model()  # has no reply
    stages = [
        face.ExtractTime(),
        face.SemanticRank(llm=model),
        face.FuseRerank(),
        lambda memories, _: [each for each in memories if "tea" not in each.content],
        face.RewriteMemory(llm=model),
    ]
    asked = retriever(face, visits, stages=stages, gate=face.SearchGate())
    found = face.ask(asked, "", time_range="in March")
    assert [each.id for each in found] == ["2024-03-25", "2024-03-20", "2024-03-02"]
    assert all("recall_degraded" not in each.metadata for each in found)


ORDERED = {
    "the latest three about the dentist": [
        "2024-03-20",
        "2024-03-02",
        "2024-02-10",
        "2024-01-05",
    ],
    "my first two notes about the dentist": [
        "2023-05-01",
        "2024-01-05",
        "2024-02-10",
        "2024-03-02",
    ],
    "When was the last time I saw the dentist?": [
        "2024-03-20",
        "2024-03-02",
        "2024-02-10",
        "2024-01-05",
    ],
    "When did I first see the dentist in 2024?": [
        "2024-01-05",
        "2024-02-10",
        "2024-03-02",
        "2024-03-20",
    ],
    "What are my last three notes?": IN_MARCH,
    "What was my first message in March?": ["2024-03-02", "2024-03-20", "2024-03-24", "2024-03-25"],
    "最新的两条是什么？": IN_MARCH,
}


@once
@table("question", ORDERED, ids=str)
def test_a_question_for_the_latest_or_the_first_is_answered_in_order(
    visits: RecallStore, face: Face, question: str
) -> None:
    found = face.ask(retriever(face, visits), question)

    assert [each.id for each in found] == ORDERED[question]
    scores = [each.score for each in found]
    assert scores == sorted(scores, key=lambda score: -(score or 0))


@once
def test_the_order_can_be_switched_off(visits: RecallStore, face: Face) -> None:
    plain = retriever(face, visits, stages=[ExtractTime(), FuseRerank(fuse_order=False)], k=9)
    found = face.ask(plain, "the last time I saw the dentist")
    assert found[0].id == "2023-05-01"
    assert "recall_order_ratio" not in found[0].metadata


@once
def test_a_store_that_cannot_list_says_so(face: Face, visits: RecallStore) -> None:
    class Finds:
        """No more than a retriever needs."""

        find, afind, get, add = visits.find, visits.afind, visits.get, visits.add

    asked = retriever(face, Finds())  # type: ignore[arg-type]  # a store of somebody's own
    with pytest.raises(StoreError, match="Finds cannot list memories"):
        face.ask(asked, "", time_range="in March")
    found = face.ask(asked, "What are my last three notes?")
    assert "Finds cannot list memories" in found[0].metadata["recall_degraded"]
