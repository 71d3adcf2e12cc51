"""Memories are listed, counted and deleted by the same conditions, wherever they lie."""

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kit import SmallEmbedding, ids
from store.places import store_in
from tables import table

from recall_retrievers.core.errors import ScopeError, StoreClosedError
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import Recurrence, TimeRange

DAY = datetime(2024, 3, 5, tzinfo=UTC)
USERS = [None, "ann", "bob"]


def memory(n: int) -> dict[str, Any]:
    scope = {"user_id": USERS[n % 3], "session_id": "s" if n % 2 else None}
    return {
        "id": f"m{n * 7 % 60:02}",
        "content": f"tea {n}",
        "memory_type": ("insight", "event", "observation")[n % 3],
        # Some at one moment; the events are of other days.
        "created_at": DAY + timedelta(hours=8 * (n // 4)),
        "events": [{"start": DAY, "end": DAY + timedelta(days=1), "grain": "day"}] if n % 5 else [],
        "scope": {name: value for name, value in scope.items() if value},
        "metadata": {"stars": n % 4, "topic": ("a", "b")[n % 2]},
    }


ROWS = [memory(n) for n in range(60)]
FILTERS: list[Any] = [
    None,
    {"stars": {"$gte": 2}},
    {"$or": [{"topic": "a"}, {"stars": 3}]},
    {"#document": {"$contains": "tea 1"}},
]
RANGES = [
    None,
    (DAY + timedelta(days=1), DAY + timedelta(days=3)),
    (DAY + timedelta(days=2, hours=7), None),
    TimeRange(None, DAY + timedelta(hours=17), "day"),
    (DAY + timedelta(hours=8, microseconds=1), None),
    TimeRange(None, None, "hour", recurrence=Recurrence(hours=frozenset({8}), timezone=UTC)),
]
SCOPES: list[Any] = [None, {"user_id": "ann"}, {"user_id": "bob", "session_id": "s"}]
TYPES: list[Any] = [None, "insight", ["event", "observation"]]


def _fits(row: dict[str, Any], scope: Any, time: Any, given: Any, kind: Any) -> bool:
    start, end = (time.start, time.end) if isinstance(time, TimeRange) else time or (None, None)
    hours = time.recurrence and time.recurrence.hours if isinstance(time, TimeRange) else None
    stars, topic = row["metadata"]["stars"], row["metadata"]["topic"]
    filters = [True, stars >= 2, topic == "a" or stars == 3, "tea 1" in row["content"]]
    return (
        (scope or {}).items() <= row["scope"].items()
        and (start is None or row["created_at"] >= start)
        and (end is None or row["created_at"] < end)
        and (not hours or row["created_at"].hour in hours)
        and (kind is None or row["memory_type"] in kind)
        and filters[FILTERS.index(given)]
    )


@pytest.fixture(scope="module", params=["path", "server"])
def shelf(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[RecallStore]:
    """The same memories in both kinds of row index; no test changes them."""
    folder: Path = tmp_path_factory.mktemp("shelf")
    with store_in(request.param, request, folder, "shelf", SmallEmbedding()) as store:
        store.add(ROWS)
        yield store


def test_lists_and_counts_what_fulfils_all_conditions(
    shelf: RecallStore, request: pytest.FixtureRequest
) -> None:
    every = list(itertools.product(SCOPES, RANGES, FILTERS, TYPES))
    elsewhere = request.node.callspec.params["shelf"] == "server"
    for scope, time, given_filter, kind in every[:: 11 if elsewhere else 1]:
        chosen: Any = {
            "scope": scope,
            "time_range": time,
            "filter": given_filter,
            "memory_type": kind,
        }
        fits = [row for row in ROWS if _fits(row, scope, time, given_filter, kind)]
        ordered = [x["id"] for x in sorted(fits, key=lambda x: (x["created_at"], x["id"]))]

        assert ids(list(shelf.memories(**chosen, order="oldest"))) == ordered
        assert ids(list(shelf.memories(**chosen, limit=3))) == ordered[:-4:-1]
        assert shelf.count(**chosen) == len(ordered)


def test_scopes_are_counted(shelf: RecallStore) -> None:
    by_user = {each.scope.user_id: each.memories for each in shelf.scopes(by="user_id")}
    whole = {tuple(each.scope.fields().values()): each.memories for each in shelf.scopes()}

    assert by_user == {"ann": 20, "bob": 20}
    assert whole == dict.fromkeys([(), ("s",), *itertools.product(["ann", "bob"], ["s"])], 10) | {
        ("ann",): 10,
        ("bob",): 10,
    }


OPEN = TimeRange(None, None, "day")
SOME: dict[str, list[Any]] = {  # of each argument, what limits and what is empty
    "ids": [["m00", "m07", "nobody"], [], "", None],
    "scope": [{"user_id": "ann"}, {}, None, {"user_id": ""}],
    "time_range": [*RANGES, (None, None), ("", ""), (), OPEN],
    "filter": [*FILTERS, {}, {"$or": [{}, {"stars": 1}]}, "", []],
    "memory_type": [*TYPES, "", []],
    "everything": [True, False, "no", "false", 1, None],
}
arguments = st.fixed_dictionaries({}, optional={k: st.sampled_from(x) for k, x in SOME.items()})


def test_no_more_is_deleted_than_the_same_arguments_list(small: SmallEmbedding) -> None:
    with RecallStore(embedding=small) as store:

        @settings(max_examples=60)
        @given(arguments)
        def holds(named: dict[str, Any]) -> None:
            store.add(ROWS)
            conditions = {k: x for k, x in named.items() if k not in ("ids", "everything")}
            try:
                listed = ids(list(store.memories(**conditions)))
                deleted = store.delete(**named)
            except (ValueError, TypeError, ScopeError):
                assert store.count() == 60
                return
            gone = {row["id"] for row in ROWS} - set(ids(list(store.memories())))
            wanted = named.get("ids")
            limits = [x for name, x in conditions.items() if x and name != "scope"]

            assert (named.get("everything") is True) is not (bool(limits) or wanted is not None)
            assert gone <= set(listed if wanted is None else wanted) & set(listed)
            assert len(gone) == deleted

        holds()


@table(
    ("arguments", "wrong"),
    [
        ({}, "got neither"),
        ({"scope": {"user_id": "ann"}}, "or everything=True for all of the scope; got neither"),
        ({"everything": True, "filter": {"a": 1}}, "got both"),
        ({"everything": "no"}, "everything must be True or False; got 'no'"),
        ({"scope": {"user_id": "ann"}, "filter": {}}, "filter must be a condition; got {}"),
        ({"filter": {"$or": [{}, {"a": 1}]}}, "filter must be a condition"),
        ({"ids": ["tea"], "filter": {}}, "filter must be a condition"),
        ({"time_range": OPEN}, "time_range must have a start or an end"),
        ({"memory_type": []}, "memory_type must be a text"),
    ],
)
def test_deleting_all_has_to_be_meant(
    in_memory: RecallStore, arguments: dict[str, Any], wrong: str
) -> None:
    in_memory.add([{"id": "tea", "content": "tea", "user_id": "ann"}])
    for store in (in_memory, in_memory.for_scope(user_id="ann")):
        with pytest.raises(ValueError, match=re.escape(wrong)):
            store.delete(**arguments)
    assert in_memory.delete([]) == 0
    assert in_memory.count() == 1


def test_pages_survive_writes_in_between(in_memory: RecallStore) -> None:
    in_memory.add(ROWS)
    seen: list[str] = []
    page = list(in_memory.memories(limit=10))
    while page:
        seen += ids(page)
        newer = {"id": f"new{len(seen)}", "content": "tea", "created_at": DAY + timedelta(days=99)}
        in_memory.add([newer])
        last = page[-1]
        in_memory.delete([last.id, page[0].id])  # also the one that the next page is asked after
        page = list(in_memory.memories(limit=10, after=last))

    expected = sorted(ROWS, key=lambda row: (row["created_at"], row["id"]), reverse=True)
    assert seen == [row["id"] for row in expected]


def test_a_list_goes_on_while_memories_change(in_memory: RecallStore) -> None:
    in_memory.add(ROWS)
    listed = in_memory.memories(order="oldest")
    first = next(listed)
    # In a path and in memory rows are read 250 at a time; what is replaced meanwhile comes once.
    in_memory.add([{**row, "content": "rum"} for row in ROWS if row["id"] != first.id])

    rest = ids(list(listed))
    assert len(rest) == len(set(rest)) == 59


async def test_async_twins(store: RecallStore) -> None:
    async with store:
        made = await store.aadd(ROWS)
        assert [each.id async for each in store.amemories(limit=3)] == ids(
            list(store.memories(limit=3))
        )
        assert await store.aget(made[:2]) == store.get(made[:2])
        assert await store.acount(memory_type="event") == 20
        asked = [Search("tea 1", 2), Search("tea 2", 1)]
        assert await store.afind(asked) == store.find(asked)
        assert (await store.aupdate(made[0], expires_at=DAY)).expires_at == DAY
        assert await store.apurge() == 1
        assert await store.adelete(scope={"user_id": "ann"}, everything=True) == 20
        assert await store.acount() == 39
        assert len(await store.ascopes()) == 4
    with pytest.raises(StoreClosedError):
        store.count()
