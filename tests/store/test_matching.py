"""A filter looked at here lets through what Chroma would: see test_where for Chroma itself."""

from typing import Any

import pytest
from hypothesis import given, settings
from store.test_where import ROWS, filters, holds

from recall_retrievers.store.chroma.where import filter_where, fulfils


@settings(max_examples=50)
@given(given_filter=filters)
def test_a_filter_gives_exactly_the_rows_of_which_it_is_true(given_filter: dict[str, Any]) -> None:
    where = filter_where(given_filter)

    assert [fulfils(where, "", row) for row in ROWS] == [holds(given_filter, row) for row in ROWS]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"$contains": "tea"}, True),
        ({"$not_contains": "tea"}, False),
        ({"$contains": "Tea"}, False),
        ({"$contains": "tea", "$not_contains": "milk"}, False),
    ],
    ids=str,
)
def test_the_text_can_be_asked_for_what_it_contains(condition: Any, found: bool) -> None:
    where = filter_where({"#document": condition})

    assert fulfils(where, "green tea with milk", {}) is found


def test_values_that_no_collection_keeps_are_equal_to_nothing() -> None:
    for odd in (None, {"deep": 1}, object()):
        assert not fulfils(filter_where({"a": 1}), "", {"a": odd})
        assert not fulfils(filter_where({"a": {"$lt": 1}}), "", {"a": odd})
        assert fulfils(filter_where({"a": {"$ne": 1}}), "", {"a": odd})
