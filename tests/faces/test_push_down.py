"""What a store of somebody else checks itself: all that fits is found, and never less."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from faces.adapters import FACES, Face, both, once
from faces.other_stores import (
    Row,
    open_store,
)

from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.stage import Search
from recall_retrievers.timeline import TimeRange

pytestmark = [
    pytest.mark.filterwarnings("ignore:builtin type .* has no __module__"),  # FAISS's own
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant"),
]

Open = Callable[..., Any]
LANGCHAIN, LLAMAINDEX = (next(f for f in FACES if f.is_langchain is each) for each in (True, False))
WEEK = (datetime(2024, 3, 4, tzinfo=UTC), datetime(2024, 3, 11, tzinfo=UTC))
FORMS: dict[str, Callable[[datetime], Any]] = {
    "iso": lambda moment: moment.isoformat(),
    "seconds": lambda moment: moment.timestamp(),
    "milliseconds": lambda moment: int(moment.timestamp() * 1000),
}
STORES = [
    (LANGCHAIN, "qdrant"),
    (LANGCHAIN, "pgvector"),
    (LANGCHAIN, "PGVector"),
    (LANGCHAIN, "chroma"),
    (LLAMAINDEX, "qdrant"),
    (LLAMAINDEX, "pgvector"),
    (LLAMAINDEX, "chroma"),
    (LLAMAINDEX, "in memory"),
]
stores = pytest.mark.parametrize(
    ("face", "kind"), STORES, ids=[f"{face.package}-{kind}" for face, kind in STORES]
)


def year(form: str) -> list[Row]:
    """32 memories of Bob's week, and four of Ann's year: two of the same week, far away."""
    write = FORMS[form]
    bob = [
        (f"bob{n}", f"the dentist {n}", {"user_id": "bob", "created_at": write(WEEK[0])})
        for n in range(32)  # as many as one has links in Chroma's graph: of more it may miss some
    ]
    days = {"before": -40, "first": 0, "last": 6, "after": 40}
    ann = [
        (
            name,
            f"{name} the dentist and much else that Ann heard there",
            {"user_id": "ann", "created_at": write(WEEK[0] + timedelta(days=day, hours=1))},
        )
        for name, day in days.items()
    ]
    return bob + ann


def opened_for(face: Face, kind: str, stored: list[Row], postgres: Callable[[], int]) -> Any:
    source = open_store(kind, face, stored, postgres)
    return getattr(source, "source", source)  # a pgvector comes with its similarity


@stores
@pytest.mark.parametrize("form", FORMS)
def test_a_user_and_a_week_are_found_behind_any_number_of_others(
    face: Face, kind: str, form: str, postgres: Callable[[], int]
) -> None:
    source = opened_for(face, kind, year(form), postgres)
    settings = {"scope": {"user_id": "ann"}, "k": 4, "fetch_k": 4, "method": "semantic"}

    def found(**options: Any) -> list[str]:
        store = face.AnyStore(source=source, fetch_limit=30, times=form, **options)
        retriever = face.RecallRetriever(store=store, **settings)
        results = face.ask(retriever, "the dentist", time_range=WEEK, time_mode="require")
        assert not any("recall_degraded" in each.metadata for each in results)
        return sorted(each.content.split()[0] for each in results)

    assert found(push_down=None) == []
    assert found() == ["first", "last"]


ODD = [
    {"user_id": "7", "stars": 3, "topic": "tea"},
    {"user_id": 7, "stars": 3.0, "topic": "o'tea"},
    {"user_id": "ann", "stars": "3", "topic": ":tea"},
    {"user_id": "ann", "stars": True, "topic": 'a "tea"; DROP TABLE x --'},
    {"user_id": "ann", "stars": 4.5, "seen": True},
    {"user_id": "o'neil", "stars": 2**53 + 1, "topic": "tea"},
    {
        "user_id": "ann",
        "topic": "tea",
        "event_ranges": "2024-03-06T00:00:00+00:00/2024-03-07T00:00:00+00:00",
        "event_start": 1709683200000,
        "event_end": 1709769600000,
    },
    {"user_id": "ann", "topic": "tea", "created_at": "2024-03-10T11:30:00-12:00"},
    {"user_id": "ann", "topic": "tea", "created_at": "2024-03-03T13:00:00-12:00"},
    {"user_id": "ann", "topic": "tea", "created_at": "2024-03-04"},
    {"user_id": "ann", "topic": "tea", "created_at": "2024-05-04 11:00", "a.b": 1},
]
BARE = {key: value for key, value in ODD[6].items() if key not in ("event_start", "event_end")}
QUESTIONS: list[dict[str, Any]] = [
    {"scope": {"user_id": "7"}},
    {"scope": {"user_id": "ann"}},
    {"scope": {"user_id": "o'neil"}},
    *({"filter": {"stars": each}} for each in (3, 3.0, "3", True, 4.5, 2**53 + 1)),
    *({"filter": {"stars": {"$gte": each}}} for each in (3, 3.5, 2**53 + 1)),
    {"filter": {"stars": {"$lt": 4}}},
    {"filter": {"stars": {"$ne": 3}}},
    {"filter": {"stars": {"$in": [3, "3", True]}}},
    *({"filter": {"topic": each["topic"]}} for each in ODD[:4]),
    {"filter": {"topic": {"$nin": ["tea"]}}},
    {"filter": {"$or": [{"seen": True}, {"topic": "tea", "stars": 3}]}},
    {"filter": {"#document": {"$contains": "4"}}},
    {"filter": {"created_at": {"$gte": "2024-03-04T00:00:00Z"}}},
    {"filter": {"a.b": 1}},
    {"time_range": WEEK},
    {"time_range": WEEK, "scope": {"user_id": "ann"}},
    {"time_range": ("2024-03-09", None)},
]


@stores
def test_what_is_pushed_down_is_never_too_narrow(
    face: Face, kind: str, postgres: Callable[[], int]
) -> None:
    knows_missing = kind == "qdrant" or (face.is_langchain and kind != "chroma")
    odd = [*ODD, BARE] if knows_missing else ODD
    if kind in ("pgvector", "in memory"):  # they take all values of a key for numbers, or raise
        odd = [row for row in odd if type(row.get("stars", 0)) in (int, float)]
    stored = [(str(n), f"the dentist {n}", row) for n, row in enumerate(odd)]
    source = opened_for(face, kind, stored, postgres)
    pushing, checking = (
        face.RecallRetriever(
            store=face.AnyStore(source=source, push_down=push_down, times="iso"),
            k=20,
            time_mode="require",
        )
        for push_down in ("auto", None)
    )

    def found(retriever: Any, options: dict[str, Any]) -> list[str]:
        return sorted(each.content for each in face.ask(retriever, "the dentist", **options))

    for options in QUESTIONS:
        assert found(pushing, options) == found(checking, options), options
    assert len(found(checking, {"time_range": WEEK})) == 4 + knows_missing


ISO = ("1", "the dentist", {"user_id": "ann", "created_at": "2024-03-05"})
NAMELESS = ("1", "the dentist", {**BARE, "created_at": WEEK[0].timestamp()})


@once
@pytest.mark.parametrize(
    ("row", "why"), [(ISO, "'created_at' is '2024-03-05'"), (NAMELESS, "has event_ranges")]
)
@pytest.mark.parametrize("within", [False, True])
def test_a_memory_that_the_store_would_not_find_by_its_time_is_an_error(
    face: Face, row: Row, why: str, within: bool, postgres: Callable[[], int]
) -> None:
    store = face.AnyStore(source=opened_for(face, "chroma", [row], postgres))
    april = [TimeRange(datetime(2024, 4, 1, tzinfo=UTC), None, "april")] if within else []

    with pytest.raises(StoreError, match=f"it is 'seconds', .*{why}.* \"mixed\""):
        store.find([Search("dentist", 3, within=tuple(april))])
    mixed = face.AnyStore(source=store.source, times="mixed")
    assert len(mixed.find([Search("dentist", 3)])[0]) == 1


@pytest.mark.parametrize("face", [LLAMAINDEX], ids=str)
def test_the_error_of_a_store_that_refuses_a_filter_says_that_it_got_one(
    face: Face, opened: Open
) -> None:
    store = face.AnyStore(source=opened(), push_down="filters")  # it knows no "or"

    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the store's own words
        face.ask(face.RecallRetriever(store=store), "dentist", time_range=WEEK)

    assert "AnyStore(push_down=None)" in raised.value.__notes__[0]


@both
def test_a_function_may_narrow_by_the_whole_search(face: Face, opened: Open) -> None:
    from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

    seen = []

    def push_down(search: Any) -> dict[str, Any]:
        seen.append(search)
        if face.is_langchain:
            return {"filter": lambda document: document.metadata["user_id"] == "ann"}
        return {"filters": MetadataFilters(filters=[MetadataFilter(key="user_id", value="ann")])}

    store = face.AnyStore(source=opened(), push_down=push_down)
    conditions = {"scope": {"user_id": "ann"}, "filter": {"stars": 4}, "time_range": WEEK}
    [tea] = face.ask(face.RecallRetriever(store=store), "tea", time_mode="require", **conditions)

    assert tea.id == "tea"
    assert seen[0].scope.user_id == "ann"
    assert seen[0].filter == {"stars": 4}
    assert [(each.start, each.end) for each in seen[0].within] == [WEEK]


@once
def test_errors_of_a_function_of_the_user_are_raised(face: Face, opened: Open) -> None:
    store = face.AnyStore(source=opened(), push_down=lambda search: {"no_such_argument": 1 / 0})

    with pytest.raises(ZeroDivisionError):
        face.ask(face.RecallRetriever(store=store), "dentist")
