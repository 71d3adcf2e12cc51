"""What a search found: columns say what the memories say, which are read where somebody looks."""

from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import timedelta

import numpy as np
import pytest
from store.kit import NOON, SmallEmbedding

from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.pool import Arm, arms_of, facts_of
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.ranking.fusion import fuse_arms
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import table
from recall_retrievers.timeline import TimeRange

MARCH = TimeRange(NOON - timedelta(days=9), NOON + timedelta(days=9), "month")
TEA = Search("tea", 5, in_columns=True)
WORDS = replace(TEA, method="keyword")


@pytest.fixture
def store() -> Iterator[RecallStore]:
    with RecallStore(embedding=SmallEmbedding(), clock=lambda: NOON) as opened:
        opened.add(
            [
                {"id": "b", "content": "Any tea?", "author": "Ann", "memory_type": "conversation"},
                {"id": "a", "content": "Tea, and a cake that " + "we " * 300, "author": "user"},
                {
                    "id": "c",
                    "content": "Tea at four.",
                    "memory_type": "conversation",
                    "turn_before": "b",
                    "events": [MARCH],
                    "created_at": NOON - timedelta(days=400),
                    "scope": {"user_id": "bob", "session_id": "x"},
                },
            ]
        )
        yield opened


def found(store: RecallStore, *searches: Search) -> list[Arm]:
    return arms_of(store.find(searches))


def test_the_columns_of_rows_say_what_their_memories_say(store: RecallStore) -> None:
    [arm, _] = found(store, TEA, WORDS)
    rows = arm.source.facts(np.unique(arm.keys))
    memories = [memory for memory in rows.candidates(range(3)) if memory is not None]
    read = facts_of(memories)

    assert rows.ids == ("a", "b", "c")
    named = {each.name for each in fields(rows)} - {"source", "keys", "owners", "profiles"}
    assert all([*getattr(rows, name)] == [*getattr(read, name)] for name in named)
    assert rows.profiles is not None
    assert rows.profiles.tolist() == [[*each.wording.profile] for each in memories]
    assert [bool(any(owner)) for owner in rows.owners] == [False, False, True]
    assert rows.matches([MARCH]) == [["recorded"], ["recorded"], ["event"]]


def test_a_memory_that_is_deleted_meanwhile_is_left_out(store: RecallStore) -> None:
    semantic, keyword = found(store, TEA, WORDS)
    store.delete(["c"])

    assert {hit.id for hit in semantic} == {"a", "b"}
    assert {memory.id for memory in fuse_arms([semantic], [keyword], limit=5)} == {"a", "b"}


def test_rows_that_are_let_go_meanwhile_are_read_from_the_collection(
    store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    arms = found(store, TEA, WORDS)
    before = [[*arm] for arm in arms]

    def closed(*_: object) -> None:
        raise StoreClosedError("the rows of this scope were let go")

    monkeypatch.setattr(table.Table, "memories", closed)
    assert [[*arm] for arm in arms] == before


def test_a_time_between_two_events_of_a_memory_does_not_find_it(store: RecallStore) -> None:
    far = [
        TimeRange(NOON + timedelta(days=n), NOON + timedelta(days=n + 1), "day") for n in (90, 190)
    ]
    between = TimeRange(NOON + timedelta(days=120), NOON + timedelta(days=121), "day")
    store.add([{"id": "d", "content": "Tea with Bob, twice.", "events": far}])

    for each in (TEA, WORDS):
        [before, middle] = found(
            store, replace(each, within=(far[0],)), replace(each, within=(between,))
        )
        assert [hit.id for hit in before] == ["d"]
        assert len(middle) == 0


def test_owners_are_compared_as_they_are_before_a_memory_is_shown(
    store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table.Table, "select", lambda rows, _: [all_of(rows)])
    bobs = replace(TEA, scope=Scope(user_id="bob"))

    assert [hit.id for hit in found(store, bobs)[0]] == ["c"]


def all_of(rows: table.Table) -> table.Selection:
    """As where the numbers of two owners are equal."""
    return table.Selection(np.ones(rows.living().max() + 1, dtype=np.bool_), whole=False)
