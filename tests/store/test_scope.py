"""Nobody sees a memory outside the scope: no filter, no limit and no time widens it."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kit import SmallEmbedding

from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

NAMES = [None, "ann", "bob", "'; drop", "安"]
PARTS = list(Scope.model_fields)
DAY = datetime(2024, 3, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared() -> Iterator[RecallStore]:
    """One collection of many people, and of memories that are nobody's."""
    with RecallStore(embedding=SmallEmbedding()) as store:
        store.add(
            {
                "content": f"tea {number}",
                "created_at": DAY + timedelta(days=number % 5),
                "scope": {part: name for part, name in zip(PARTS, names, strict=True) if name},
                "metadata": {"stars": number % 4},
            }
            for number, names in enumerate(itertools.product(NAMES, NAMES, NAMES[:3], NAMES[:2]))
        )
        yield store


names = st.sampled_from(NAMES[1:])
scopes = st.dictionaries(st.sampled_from(PARTS), names).map(Scope.model_validate)
conditions = (
    names
    | st.fixed_dictionaries({"$ne": names})
    | st.fixed_dictionaries({"$in": st.lists(names, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"$nin": st.lists(names, min_size=1, max_size=3)})
)
leaves: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(PARTS), conditions, max_size=2
) | st.fixed_dictionaries({"stars": st.fixed_dictionaries({"$gte": st.integers(0, 3)})})
filters = st.recursive(
    leaves,
    lambda inner: st.dictionaries(
        st.sampled_from(["$and", "$or"]), st.lists(inner, min_size=1, max_size=3), min_size=1
    ),
    max_leaves=5,
)
days = st.integers(0, 4).map(
    lambda day: TimeRange(DAY + timedelta(days=day), DAY + timedelta(days=day + 1), "day")
)
anywhere = st.just(TimeRange(None, None, "day"))


def test_a_search_never_leaves_its_scope(shared: RecallStore) -> None:
    @given(
        scope=scopes,
        given_filter=st.none() | filters,
        limit=st.sampled_from([1, 5, 1000]),
        within=st.lists(days | anywhere, max_size=2).map(tuple),
    )
    @settings(max_examples=60)
    def holds(scope: Scope, given_filter: Any, limit: int, within: tuple[TimeRange, ...]) -> None:
        found = shared.find([Search("tea", limit, scope, given_filter, within)])[0]
        for memory in (hit.memory for hit in found):
            assert memory.scope.fields().items() >= scope.fields().items()

    holds()


def test_everything_in_the_scope_is_found(shared: RecallStore) -> None:
    everything = shared.find([Search("tea", limit=1000)])[0]
    for scope in [Scope(), Scope(user_id="安"), Scope(user_id="ann", agent_id="'; drop")]:
        inside = [
            each
            for each in everything
            if each.memory.scope.fields().items() >= scope.fields().items()
        ]
        found = shared.find([Search("tea", limit=1000, scope=scope)])[0]
        assert {each.id for each in found} == {each.id for each in inside}
