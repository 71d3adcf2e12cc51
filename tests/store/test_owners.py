"""The columns of owners and times: compared once a question, no larger than the rows need."""

import tracemalloc
from datetime import timedelta

from store.kit import NOON

from recall_stages.core.memory import Memory, Scope
from recall_stages.store.rows.owners import Roster
from recall_stages.timeline import TimeRange

ANN = Scope(user_id="ann")
TODAY = TimeRange(NOON - timedelta(hours=12), NOON + timedelta(hours=12), "day")


def put(roster: Roster, row_id: str, **fields: object) -> None:
    memory = Memory(**{"id": row_id, "content": "tea", "created_at": NOON, "scope": ANN, **fields})
    roster.put(row_id, memory, 0)


def test_the_rows_of_one_condition_are_looked_for_once() -> None:
    """A question asks for them when it plans, and again when it compares."""
    roster = Roster()
    put(roster, "a")
    assert roster.matching(ANN, [TODAY]) is roster.matching(ANN, [TODAY])


def test_a_change_of_any_row_is_seen_by_the_next_question() -> None:
    roster = Roster()

    def matching() -> list[str]:
        return roster.ids_at(roster.matching(ANN, [TODAY]))

    put(roster, "a")
    assert matching() == ["a"]
    put(roster, "b")
    assert matching() == ["a", "b"]
    put(roster, "a", scope=Scope(user_id="bob"))
    assert matching() == ["b"]
    put(roster, "b", created_at=NOON - timedelta(days=1))
    assert matching() == []
    put(roster, "b")
    roster.drop("b")
    assert matching() == []


def test_many_conditions_at_once_do_not_disturb_each_other() -> None:
    roster = Roster()
    scopes = {f"m{n}": Scope(user_id=f"user{n}") for n in range(20)}
    for row_id, scope in scopes.items():
        put(roster, row_id, scope=scope)
    for _ in range(2):
        for row_id, scope in scopes.items():
            assert roster.ids_at(roster.matching(scope, [])) == [row_id]


def test_owners_whose_rows_are_gone_take_no_room() -> None:
    roster = Roster()
    put(roster, "stays")

    def come_and_go(first: int) -> None:
        for n in range(first, first + 5_000):
            put(roster, "guest", scope=Scope(user_id=f"{n:01000}"))
            roster.drop("guest")

    come_and_go(0)
    tracemalloc.start()
    come_and_go(5_000)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 2_500_000  # bytes; their ids alone are 5 MB
    assert roster.ids_at(roster.matching(ANN, [])) == ["stays"]
