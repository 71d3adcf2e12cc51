"""A view of a scope reads, writes and deletes its own memories, and no others."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from store.kit import SmallEmbedding, contents, ids

from recall_retrievers.core.errors import MissingMemoryError, ScopeError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import Position, RecallStore
from recall_retrievers.store.chroma.collection import Collection

DAY = datetime(2024, 3, 5, tzinfo=UTC)
SCOPES: list[dict[str, str]] = [
    {},
    {"user_id": "bob"},
    {"user_id": "ann", "agent_id": "a"},
    {"user_id": "ann", "session_id": "s"},
    {"user_id": "ann", "session_id": "t"},
    {"session_id": "s"},
]
IDS = [f"m{n}" for n in range(18)]


EARLY, LATE = DAY + timedelta(hours=12), DAY + timedelta(days=1)  # some expire between them


@pytest.fixture(scope="module")
def whole() -> Iterator[RecallStore]:
    with RecallStore(embedding=SmallEmbedding(), clock=lambda: LATE) as store:
        yield store


def stored(store: RecallStore) -> list[Memory]:
    """All memories, those that have expired as well."""
    return list(store.memories(as_of=EARLY))


def fill(store: RecallStore) -> None:
    store.delete(everything=True)
    store.add(
        {
            "id": row_id,
            "content": f"tea {n}",
            "created_at": DAY + timedelta(hours=n // 2),
            "memory_type": ("event", "insight")[n % 2],
            "scope": SCOPES[n % len(SCOPES)],
            "metadata": {"stars": n % 3},
            "expires_at": LATE if n > 11 else None,
        }
        for n, row_id in enumerate(IDS)
    )


def test_no_call_leaves_the_scope(whole: RecallStore) -> None:
    fill(whole)
    ann, bob = whole.for_scope(user_id="ann"), {"user_id": "bob"}
    bobs = Search("tea", 50, Scope(user_id="bob"))
    others = [each for each in stored(whole) if each.scope.user_id != "ann"]
    calls: list[Callable[[], Any]] = [
        lambda: ann.get(IDS, scope=bob),
        lambda: [*ann.memories(scope=bob)],
        lambda: ann.count(scope=bob),
        lambda: ann.find([bobs]),
        lambda: ann.find_among(bobs, IDS),
        lambda: ann.add([{"content": "rum", **bob}]),
        lambda: ann.add([{"id": "m1", "content": "rum"}]),  # an id of Bob's
        lambda: ann.add_conversation([{"role": "user", "content": "rum"}], scope=bob),
        lambda: ann.update("m1", text="rum"),
        lambda: ann.update("m2", text="rum", scope=bob),
        lambda: ann.supersede("m1", "rum"),
        lambda: ann.supersede("m2", {"content": "rum", **bob}),
        lambda: ann.delete(IDS, scope=bob),
        lambda: ann.delete(everything=True, scope=bob),
        lambda: ann.purge(scope=bob),
        lambda: ann.for_scope(**bob),
        lambda: ann.for_scope(user_id="bob", session_id="s"),
    ]
    for call in calls:
        with pytest.raises((ScopeError, MissingMemoryError)):
            call()
    assert len(stored(whole)) == len(IDS)

    for method in ("semantic", "keyword"):
        found = [hit.memory for hit in ann.find([Search("tea", 50, method=method)])[0]]
        assert {each.scope.user_id for each in [*found, *ann.memories(), *ann.get(IDS)]} == {"ann"}
    assert ann.count() == ann.count(filter={"stars": {"$gte": 0}}) == len(found) == 6
    later = Position(DAY + timedelta(hours=4), "m9")
    assert ids([*ann.memories(after=later)]) == ["m8", "m4", "m3", "m2"]
    assert ann.for_scope(session_id="s").delete(everything=True) == 3
    assert (ann.purge(), ann.delete(IDS), ann.delete(everything=True)) == (2, 4, 0)
    assert stored(whole) == others


def test_a_view_fills_in_its_scope_and_can_be_narrowed(whole: RecallStore) -> None:
    fill(whole)
    ann = whole.for_scope(user_id="ann")
    [made] = ann.add(["rum"])
    [turn] = ann.for_scope(session_id="x").add_conversation([{"role": "user", "content": "gin"}])

    assert whole.get([made])[0].scope == Scope(user_id="ann")
    assert whole.get([turn])[0].scope == Scope(user_id="ann", session_id="x")
    assert ids(list(ann.memories(scope={"session_id": "x"}))) == [turn]


def test_where_a_scope_is_required_an_id_of_another_user_is_not_replaced() -> None:
    with RecallStore(embedding=SmallEmbedding(), require_scope=("user_id",)) as strict:
        strict.add([{"id": "m1", "content": "tea", "user_id": "ann"}])
        rum = [{"id": "m1", "content": "rum", "user_id": "bob"}]
        for add in (strict.add, lambda memories: strict.add_embedded(memories, {})):
            with pytest.raises(ScopeError, match="'m1' is there already, outside the scope"):
                add(rum)
        assert contents(strict.get(["m1"], scope={"user_id": "ann"})) == ["tea"]


def test_an_id_that_another_takes_meanwhile_is_not_replaced(
    whole: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(whole)
    with monkeypatch.context() as before_it_is_written:
        before_it_is_written.setattr(
            Collection, "read", lambda *_: {}
        )  # as if m1 had come after that
        with pytest.raises(ScopeError, match="'m1' is there already, outside the scope"):
            whole.for_scope(user_id="ann").add([{"id": "m1", "content": "rum"}])
    assert contents(whole.get(["m1"])) == ["tea 1"]


def test_a_scope_must_be_named(whole: RecallStore) -> None:
    with pytest.raises(ScopeError):
        whole.for_scope()
    strict = RecallStore(embedding=SmallEmbedding(), require_scope=("user_id",))
    with strict, pytest.raises(ScopeError, match="must name user_id"):
        strict.for_scope(session_id="s")


@pytest.mark.parametrize("method", ["semantic", "keyword"])
async def test_among_given_ids_only_those_of_the_scope_are_found(
    whole: RecallStore, method: Any
) -> None:
    """With the score that each has among all; what has expired is gone."""
    fill(whole)
    ann, wanted = whole.for_scope(user_id="ann"), [*IDS, "unknown"]
    search = Search("tea 10", len(IDS), method=method, filter={"stars": 1})
    mine = {hit.id: hit.score for hit in ann.find([search])[0]}

    found = ann.find_among(search, wanted)

    assert {hit.id for hit in found} == mine.keys()
    assert found == await ann.afind_among(search, wanted)
    assert ann.find_among(replace(search, limit=1), wanted) == found[:1]
    assert ann.find_among(search, [found[-1].id])[0].id == found[-1].id
    asked_early = replace(search, filter=None, moment=EARLY)
    assert not any(hit.memory.expires_at for hit in found)
    assert any(hit.memory.expires_at for hit in ann.find_among(asked_early, wanted))
    if method == "semantic":
        assert {hit.id: hit.score for hit in found} == pytest.approx(mine, abs=1e-6)
