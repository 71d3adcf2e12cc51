"""A question that names a session is answered from it: "our 4th session", "two chats ago"."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from stages.worlds import Scripted
from tables import table

from benchmarks.sessions import FILE, shares
from recall_retrievers.core.query import Query
from recall_retrievers.core.requests import Sessions
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import run
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.store import RecallStore
from recall_retrievers.text.sessions import named_sessions

ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
WORDS = {row["words"]: row["session"] for row in ROWS if "words" in row}


@table("text", WORDS)
def test_the_session_that_words_name(text: str) -> None:
    named = {each.number for each in named_sessions(text)}
    assert named == {WORDS[text]} - {None}


ANN, MONDAY = {"user_id": "ann"}, datetime(2024, 3, 4, 18, tzinfo=UTC)
LATER, SECOND = MONDAY + timedelta(days=30), MONDAY + timedelta(days=7)


@pytest.fixture(scope="module")
def talks() -> Any:
    """Three sessions of three turns, a week apart; and memories that begin none."""
    with RecallStore() as store:
        other = {"content": "tea", "created_at": MONDAY + timedelta(days=3), "scope": ANN}
        turn = {**other, "memory_type": "conversation"}
        store.add([other, {**turn, "expires_at": SECOND}, {**turn, "scope": {"user_id": "bob"}}])
        for week in range(3):
            for n in range(3):
                at = MONDAY + timedelta(days=7 * week, minutes=50 * n)
                text = f"tea {week + 1}{n} at 7 pm on 11 March"
                store.add([{**turn, "content": text, "created_at": at}])
        yield store


def asked(store: RecallStore, text: str, after: timedelta = LATER - SECOND, **call: Any) -> Recall:
    retriever = MemoryRetriever(store=store, scope=ANN, k=3)
    return retriever.recall_without_model(text, timestamp=SECOND + after, **call)


@table(
    ("text", "after", "sessions"),
    [
        ("What did we say about tea in our second session?", LATER - SECOND, "2"),
        ("What did we say 3 sessions ago?", LATER - SECOND, "1"),
        # The second session goes on, and the third has not begun.
        ("What did we say last time?", timedelta(minutes=110), "1"),
        ("What did we say in our second session?", timedelta(minutes=110), "2"),
        ("What did we say last time?", timedelta(minutes=160), "2"),
    ],
)
def test_the_memories_of_the_session_come_first(
    talks: RecallStore, text: str, after: timedelta, sessions: str
) -> None:
    found = asked(talks, text, after)

    assert {memory.content[4] for memory in found.memories} <= {*sessions}
    assert found.fallbacks == ()


def test_a_session_is_the_time_from_its_first_turn_to_its_last(talks: RecallStore) -> None:
    found = asked(talks, "What did we say in our second session?", time_mode="require", k=9)

    [time] = found.query.time_ranges
    assert (time.start, time.grain) == (SECOND, "session")
    assert time.end == SECOND + timedelta(minutes=100, milliseconds=1)
    assert found.query.search_text == "What did we say?"
    assert len(found.memories) == 3


def test_a_session_that_does_not_exist_names_no_time(talks: RecallStore) -> None:
    found = asked(talks, "What did we say about tea in our 40th session?")

    assert found.query.time_ranges == ()
    assert "as there are 3 sessions" in str(found.memories[0].noted("degraded"))


def test_without_turns_all_memories_make_the_sessions() -> None:
    with RecallStore() as store:
        assert not store.listed(Sessions(LATER))
        store.add({"content": "x", "created_at": MONDAY + timedelta(days=n)} for n in range(3))
        assert len(store.listed(Sessions(LATER))) == 3


def test_turns_of_one_session_id_are_one_session_over_a_pause_and_beside_another() -> None:
    def turn(hours: int, session: str) -> dict[str, Any]:
        text, at = f"tea {hours}", MONDAY + timedelta(hours=hours)
        kept = {"content": text, "created_at": at, "memory_type": "conversation"}
        return {**kept, "scope": {**ANN, "session_id": session} if session else ANN}

    with RecallStore() as store:
        store.add([turn(0, "a"), turn(9, "a")])
        assert not store.listed(Sessions(MONDAY - timedelta(days=1)))
        assert len(store.listed(Sessions(LATER))) == 2  # all turns have the same
        store.add([turn(1, "b"), turn(3, "b"), turn(20, ""), turn(30, "")])
        assert len(store.listed(Sessions(LATER))) == 4
        found = asked(store, "What did we say in our second session?", time_mode="require")

    assert {memory.content for memory in found.memories} == {"tea 1", "tea 3"}


@table(
    ("text", "asks"),
    [("What did we say last time?", 1), ("What was said in our chat last week?", 0)],
)
def test_only_words_of_a_session_ask_the_store(text: str, asks: int) -> None:
    requests: list[object] = []
    world = Scripted(listed=lambda request: requests.append(request) or ())
    flow = ExtractTime().flow(Recall(Query(text=text, reference_time=LATER)))
    run(flow, world)
    alone = run(ExtractTime().flow(Recall(Query(text=text, reference_time=LATER))))

    assert len(requests) == len(alone.fallbacks) == asks
    assert len(alone.query.time_ranges) == 1 - asks


def test_nineteen_of_twenty_are_of_the_session() -> None:
    with RecallStore() as store:
        found = [share for _, share in shares(store)]

    assert len(found) == 60
    assert sum(found) / len(found) >= 0.95
