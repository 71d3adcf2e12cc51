"""Filters: always accepted by Chroma, and meaning what they say."""

import itertools
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kit import SmallEmbedding
from tables import table

from recall_retrievers.core.errors import FilterError
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.chroma.where import filter_where, fulfils

MISSING = object()
SCALARS: list[Any] = [-2, -1, 0, 1, 2, -1.5, -0.5, -1.0, 0.5, 1.0, 1.5, "x", "1", True, False]
LISTS: list[Any] = [[1, 2], [1.0, 2.5], ["x", "y"]]
VALUES = [*SCALARS, *LISTS, MISSING]
ROWS = [
    {key: value for key, value in zip("ab", pair, strict=True) if value is not MISSING}
    for pair in itertools.product(VALUES, VALUES)
]


@pytest.fixture(scope="module")
def rows() -> Iterator[RecallStore]:
    """Every pair of values that there is."""
    with RecallStore(embedding=SmallEmbedding()) as store:
        # Texts of their own: Chroma's graph loses a row now and then among hundreds of copies.
        store.add(
            {"content": f"row {n}", "id": str(n), "metadata": row} for n, row in enumerate(ROWS)
        )
        yield store


def found(store: RecallStore, given_filter: object) -> set[int]:
    search = Search("row", limit=len(ROWS), filter=given_filter)  # type: ignore[arg-type]
    return {int(memory.id) for memory in store.find([search])[0]}


def holds(given_filter: dict[str, Any], row: dict[str, Any]) -> bool:
    """What a filter says, in plain Python."""
    return all(_condition(key, wanted, row) for key, wanted in given_filter.items())


def _condition(key: str, wanted: Any, row: dict[str, Any]) -> bool:
    if key == "$and":
        return all(holds(arm, row) for arm in wanted)
    if key == "$or":
        return any(holds(arm, row) for arm in wanted)
    value = row.get(key, MISSING)
    operators = wanted if isinstance(wanted, dict) else {"$eq": wanted}
    return all(_operator(operator, value, bound) for operator, bound in operators.items())


def _operator(operator: str, value: Any, bound: Any) -> bool:
    if operator in ("$ne", "$nin", "$not_contains"):
        positive = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}[operator]
        return not _operator(positive, value, bound)
    if operator == "$eq":
        return _equal(value, bound)
    if operator == "$in":
        return any(_equal(value, each) for each in bound)
    if operator == "$contains":
        return isinstance(value, list) and any(_equal(each, bound) for each in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return {
        "$lt": value < bound,
        "$lte": value <= bound,
        "$gt": value > bound,
        "$gte": value >= bound,
    }[operator]


def _equal(value: Any, bound: Any) -> bool:
    for kind in (bool, str, int | float):  # a truth is no number
        if isinstance(bound, kind):
            return (
                isinstance(value, kind)
                and (kind is bool or not isinstance(value, bool))
                and (value == bound)
            )
    raise AssertionError(bound)


numbers = st.sampled_from([*SCALARS[:11], 2.5, -9, 9e99])
scalars = st.sampled_from(SCALARS)
equals = st.fixed_dictionaries({}, optional={"$eq": scalars, "$ne": scalars})
orders = st.fixed_dictionaries(
    {}, optional={"$lt": numbers, "$lte": numbers, "$gt": numbers, "$gte": numbers}
)
several = st.lists(scalars, min_size=1, max_size=4)
members = st.fixed_dictionaries({}, optional={"$in": several, "$nin": several})
contains = st.fixed_dictionaries({}, optional={"$contains": scalars, "$not_contains": scalars})
conditions = scalars | (equals | orders | members | contains).filter(bool)
leaves = st.dictionaries(st.sampled_from("abz"), conditions, max_size=2)
filters = st.recursive(
    leaves,
    lambda inner: st.dictionaries(
        st.sampled_from(["$and", "$or"]), st.lists(inner, min_size=1, max_size=3), min_size=1
    ),
    max_leaves=5,
)


def test_a_filter_gives_exactly_the_rows_of_which_it_is_true(rows: RecallStore) -> None:
    @given(given_filter=filters)
    @settings(max_examples=60)
    def check(given_filter: dict[str, Any]) -> None:
        expected = {number for number, row in enumerate(ROWS) if holds(given_filter, row)}
        assert found(rows, given_filter) == expected
        where = filter_where(given_filter)
        assert {n for n, row in enumerate(ROWS) if fulfils(where, "", row)} == expected

    check()


def test_a_recorded_time_compares_with_a_datetime_an_iso_text_or_milliseconds(
    in_memory: RecallStore,
) -> None:
    dates = ["1969-07-20", "2024-03-04", "2024-03-05", "2024-03-06"]
    in_memory.add({"content": day, "created_at": f"{day}T00:00:00Z"} for day in dates)

    def days(condition: object) -> list[str]:
        search = Search("day", limit=9, filter={"created_at": condition})
        return sorted(each.memory.content for each in in_memory.find([search])[0])

    for moment in (datetime(2024, 3, 5, tzinfo=UTC), "2024-03-05T05:30:00+05:30", 1709596800000):
        assert days({"$gte": moment}) == ["2024-03-05", "2024-03-06"]
        assert days({"$gt": moment}) == ["2024-03-06"]
        assert days({"$lt": moment}) == ["1969-07-20", "2024-03-04"]
        assert days(moment) == ["2024-03-05"]
        assert days({"$in": [moment, "2024-03-04T00:00:00Z"]}) == ["2024-03-04", "2024-03-05"]
    with pytest.raises(FilterError, match="created_at"):
        days({"$gte": "last Tuesday"})


@table(
    ("wrong", "says"),
    [
        ({"a": {"b": 1}}, "metadata is flat"),
        ({"a": {"$like": "x"}}, "condition is one of"),
        ({"a": {}}, "is empty"),
        ({"a": {"$in": []}}, "takes a list of values"),
        ({"a": {"$in": "xyz"}}, "takes a list of values"),
        ({"a": {"$gte": "2024"}}, "compares numbers"),
        ({"a": math.nan}, "finite number"),
        ({"a": {"$in": [1.0, math.inf]}}, "finite number"),
        ({"a": 2**63}, "64 bits"),
        ({"a": None}, "text, a number or a boolean"),
        ({"a": [1, 2]}, "text, a number or a boolean"),
        ({"a": {"$eq": {"b": 1}}}, "text, a number or a boolean"),
        ({"$and": []}, "at least one filter"),
        ({"$or": "a"}, "at least one filter"),
        ({"$and": ["a"]}, "mapping of keys"),
        ({"$not": {"a": 1}}, r"combine filters with \$and and \$or"),
        ({"#document": "tea"}, r"takes \$contains"),
        ({"#document": {"$in": ["tea"]}}, r"takes \$contains"),
        ("a = 1", "mapping of keys"),
    ],
    ids=str,
)
def test_a_filter_that_cannot_match_is_an_error_that_says_why(wrong: Any, says: str) -> None:
    with pytest.raises(FilterError, match=says):
        filter_where(wrong)


# -- the same looked at by Chroma, and here -------------------------------------------------------


def test_a_filter_is_looked_at_by_chroma_as_here(collection: Any) -> None:
    """Over a server Chroma itself filters, and it truncates the fractions of a bound."""
    ids = [str(n) for n in range(len(ROWS))]
    vectors = np.ones((len(ROWS), 2), dtype=np.float32)
    collection.add(ids=ids, embeddings=vectors, metadatas=[row or None for row in ROWS])

    def check(given_filter: dict[str, Any]) -> None:
        there = collection.get(where=filter_where(given_filter), include=[])["ids"]
        expected = [n for n in ids if holds(given_filter, ROWS[int(n)])]
        assert sorted(there) == sorted(expected), given_filter

    for operator, bound in itertools.product(
        ("$lt", "$lte", "$gt", "$gte"), (-1.5, -0.5, 0.5, 1.5)
    ):
        check({"a": {operator: bound}})
    settings(max_examples=60)(given(filters)(check))()


def test_a_text_is_looked_at_here_as_by_chroma() -> None:
    for condition, found in (
        ({"$contains": "tea"}, True),
        ({"$not_contains": "tea"}, False),
        ({"$contains": "Tea"}, False),
        ({"$contains": "tea", "$not_contains": "milk"}, False),
    ):
        assert fulfils(filter_where({"#document": condition}), "green tea with milk", {}) is found
