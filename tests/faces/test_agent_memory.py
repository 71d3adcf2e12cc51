"""search_memory_with_context: profiles and events of agents and users, through both faces."""

from collections.abc import Iterator
from typing import Any

import pytest
from faces.adapters import Face, once

from recall_retrievers.core.errors import ScopeError
from recall_retrievers.store import RecallStore

KEYS = [
    "search_terms", "agent_profile_matches", "agent_event_matches", "user_profile_matches",
    "user_event_matches", "total_matches",
]  # fmt: skip
NOTHING: dict[str, Any] = {key: [] for key in KEYS} | {"total_matches": 0}
ROWS = [
    ("profile", None, "A tutor who explains Python with patience."),
    ("event", None, "Prepared a lesson about Python decorators; decorators are hard."),
    ("profile", "ann", "Ann is learning Python for computer vision."),
    ("event", "ann", "Ann asked about Python generators and got an answer."),
    ("profile", "bob", "Bob bakes bread."),
    ("event", "bob", "Bob's secret: he reads Python novels under the desk."),
    ("observation", "ann", "Ann mentioned Python in a conversation."),
]


@pytest.fixture
def shelf(words: object) -> Iterator[RecallStore]:
    with RecallStore(embedding=words) as opened:
        opened.add(
            {
                "content": content,
                "memory_type": kind,
                "scope": {"agent_id": "tutor", **({"user_id": user} if user else {})},
            }
            for kind, user, content in ROWS
        )
        yield opened


def _search(face: Face, memory: Any, *given: Any, **settings: Any) -> dict[str, Any]:
    return face.call(memory, "search_memory_with_context", *given, **settings)


def _contents(found: dict[str, Any]) -> set[str]:
    return {match["content"] for key in KEYS[1:5] for match in found[key]}


def test_the_agents_memory_sees_its_own_and_its_users(shelf: RecallStore, face: Face) -> None:
    memory = face.AgentMemory(store=shelf, agent_id="tutor").get_agent_memory()

    found = _search(face, memory, "Which Python decorators did we cover?", "You are a tutor.")

    assert list(found) == KEYS
    assert found["search_terms"] == ["cover", "decorators", "python", "tutor"]
    assert [len(found[key]) for key in KEYS[1:5]] == [1, 1, 1, 3]
    assert found["total_matches"] == 6
    [event] = found["agent_event_matches"]
    assert event == {
        "content": ROWS[1][2],
        "match_score": 2 * len("decorators") + len("python"),
        "matched_terms": ["decorators", "python"],
    }
    assert ROWS[6][2] in _contents(found)  # of a type of its own: an event


@once
def test_a_user_is_all_that_is_seen(shelf: RecallStore, face: Face) -> None:
    agent = face.AgentMemory(store=shelf, agent_id="tutor")
    anns = {ROWS[2][2], ROWS[3][2], ROWS[6][2]}

    assert _contents(_search(face, agent, "Python", user_id="ann")) == anns
    bound = agent.get_user_memory("ann")
    for named in ({}, *({"user_id": user} for user in ("ann", "bob", "nobody"))):
        assert _contents(_search(face, bound, "Python", **named)) == anns
    assert _contents(_search(face, bound.get_agent_memory(), "Python")) == anns
    with pytest.raises(ScopeError, match="of 'ann' and cannot be opened for 'bob'"):
        bound.get_user_memory("bob")


@once
def test_another_agent_and_nothing_said_find_nothing(shelf: RecallStore, face: Face) -> None:
    other = face.AgentMemory(store=shelf, agent_id="cook")
    assert _search(face, other, "Python")["total_matches"] == 0
    for nothing in ("", None, [], "what is it?"):
        assert _search(face, face.AgentMemory(store=shelf), nothing) == NOTHING


@once
def test_words_are_whole_and_stems_count(shelf: RecallStore, face: Face) -> None:
    shelf.add(
        [
            {"content": "Part of the cartoon started.", "memory_type": "event"},
            {"content": "Zoe collects art.", "memory_type": "event"},
        ]
    )

    found = _search(face, face.AgentMemory(store=shelf), "Which arts?")

    assert [match["content"] for match in found["agent_event_matches"]] == ["Zoe collects art."]


@once
def test_old_events_are_found_as_new_ones_are(words: object, face: Face) -> None:
    with RecallStore(embedding=words) as store:
        store.add(
            {
                "content": "We bought a telescope." if n == 0 else f"Lunch number {n}.",
                "memory_type": "event",
                "created_at": f"20{n // 12:02d}-{n % 12 + 1:02d}-01T00:00:00Z",
            }
            for n in range(250)
        )
        memory = face.AgentMemory(store=store)

        old = _search(face, memory, "When did we get the telescope?")
        many = _search(face, memory, "What lunch was it?", max_results=3)

    assert [match["content"] for match in old["agent_event_matches"]] == ["We bought a telescope."]
    assert len(many["agent_event_matches"]) == many["total_matches"] == 3


@once
def test_wrong_input(shelf: RecallStore, face: Face) -> None:
    memory = face.AgentMemory(store=shelf)

    with pytest.raises(ValueError, match="did you mean 'user_id'"):
        face.AgentMemory(store=shelf, userid="ann")
    with pytest.raises(TypeError, match="a text or a list of messages"):
        _search(face, memory, 7)
