"""A view of a scope reads, writes and deletes its own memories, and no others."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store.kit import SmallEmbedding, contents, ids

from recall_retrievers.core.errors import MissingMemoryError, ScopeError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import Position, RecallStore, ScopedStore
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


EARLY, LATE = DAY, DAY + timedelta(days=1)  # before and after some have expired


class Clock:
    now = LATE

    def __call__(self) -> datetime:
        return self.now


clock = Clock()


@pytest.fixture(scope="module")
def whole() -> Iterator[RecallStore]:
    with RecallStore(embedding=SmallEmbedding(), clock=clock) as store:
        yield store


def stored(store: RecallStore) -> list[Memory]:
    """All memories, those that have expired as well."""
    clock.now = EARLY
    try:
        return list(store.memories())
    finally:
        clock.now = LATE


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


some_ids = st.lists(st.sampled_from([*IDS, "new", "nobody"]), max_size=4, unique=True)
narrower = st.sampled_from([None, *SCOPES])
conditions = st.fixed_dictionaries(
    {
        "scope": narrower,
        "time_range": st.sampled_from([None, (DAY + timedelta(hours=3), None)]),
        "filter": st.sampled_from([None, {"user_id": "bob"}, {"stars": {"$gte": 1}}]),
        "memory_type": st.sampled_from([None, "event"]),
    }
)
rows = st.lists(
    st.fixed_dictionaries(
        {"content": st.sampled_from(["tea", "rum"]), "scope": st.sampled_from(SCOPES)},
        optional={"id": st.sampled_from([*IDS, "new"])},
    ),
    max_size=2,
    unique_by=lambda row: row.get("id", id(row)),
)

Call = Callable[[ScopedStore], Any]
calls: st.SearchStrategy[Call] = st.one_of(
    st.builds(lambda x, scope: lambda view: view.get(x, scope=scope), some_ids, narrower),
    st.builds(lambda x: lambda view: view.add(x), rows),
    st.builds(
        lambda x, scope: lambda view: view.add_conversation(x, scope=scope),
        rows.map(lambda each: [Memory.model_validate(row) for row in each]),
        narrower,
    ),
    st.builds(
        lambda x, order, limit, after: (
            lambda view: list(view.memories(**x, order=order, limit=limit, after=after))
        ),
        conditions,
        st.sampled_from(["newest", "oldest"]),
        st.sampled_from([None, 2]),
        st.sampled_from([None, Position(DAY + timedelta(hours=4), "m8")]),
    ),
    st.builds(lambda x: lambda view: view.count(**x), conditions),
    st.builds(lambda x, y: lambda view: view.delete(x, **y), some_ids, conditions),
    st.builds(
        lambda x: lambda view: view.delete(**x),
        conditions.filter(lambda x: x["time_range"] or x["filter"] or x["memory_type"]),
    ),
    st.builds(lambda scope: lambda view: view.delete(everything=True, scope=scope), narrower),
    st.builds(
        lambda x, scope, text: lambda view: [view.update(x, text=text, scope=scope)],
        st.sampled_from(IDS),
        narrower,
        st.sampled_from(["gin", "tea"]),
    ),
    st.builds(lambda scope: lambda view: view.purge(scope=scope), narrower),
    st.builds(
        lambda scope, method: (
            lambda view: [
                hit.memory for hit in view.find([Search("tea", 50, scope, method=method)])[0]
            ]
        ),
        st.sampled_from(SCOPES).map(Scope.model_validate),
        st.sampled_from(["semantic", "keyword"]),
    ),
    st.builds(
        lambda scope: lambda view: list(view.for_scope(**scope).memories()),
        st.sampled_from(SCOPES[1:]),
    ),
)


def whose(answer: Any, whole: RecallStore) -> list[Scope]:
    """The scopes of the memories in an answer, or with the ids in it."""
    if isinstance(answer, int):
        return []
    if answer and isinstance(answer[0], str):
        answer = whole.get(answer)
    return [each.scope for each in answer]


@pytest.mark.parametrize("scope", [{"user_id": "ann"}, {"user_id": "ann", "session_id": "s"}])
def test_no_call_leaves_the_scope(whole: RecallStore, scope: Any) -> None:
    mine = Scope.model_validate(scope)

    @given(st.lists(calls, min_size=1, max_size=5))
    @settings(max_examples=25)
    def holds(chosen: list[Call]) -> None:
        fill(whole)
        view = whole.for_scope(**scope)
        others = [each for each in stored(whole) if not mine.holds(each.scope)]
        for call in chosen:
            own = len(stored(whole)) - len(others)
            try:
                answer = call(view)
            except (ScopeError, MissingMemoryError):
                continue
            assert not isinstance(answer, int) or answer <= own
            assert all(mine.holds(each) for each in whose(answer, whole))
            assert [each for each in stored(whole) if not mine.holds(each.scope)] == others

    holds()


def test_a_view_fills_in_its_scope_and_can_be_narrowed(whole: RecallStore) -> None:
    fill(whole)
    ann = whole.for_scope(user_id="ann")
    [made] = ann.add(["rum"])
    [turn] = ann.for_scope(session_id="x").add_conversation([{"role": "user", "content": "gin"}])

    assert whole.get([made])[0].scope == Scope(user_id="ann")
    assert whole.get([turn])[0].scope == Scope(user_id="ann", session_id="x")
    assert ids(list(ann.memories(scope={"session_id": "x"}))) == [turn]
    for wider in ({"user_id": "bob"}, {"user_id": "bob", "session_id": "s"}):
        with pytest.raises(ScopeError):
            ann.count(scope=wider)
        with pytest.raises(ScopeError):
            ann.for_scope(**wider)


def test_where_a_scope_is_required_an_id_of_another_user_is_not_replaced() -> None:
    with RecallStore(embedding=SmallEmbedding(), require_scope=("user_id",)) as strict:
        strict.add([{"id": "m1", "content": "tea", "user_id": "ann"}])
        with pytest.raises(ScopeError, match="'m1' is there already, outside the scope"):
            strict.add([{"id": "m1", "content": "rum", "user_id": "bob"}])
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
