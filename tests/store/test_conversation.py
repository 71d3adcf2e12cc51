"""A conversation stored: what is found by what, what is returned, and storing it twice."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from store.places import by_words

from recall_retrievers.core.errors import MemoryFormatError, StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

WHEN = "2024-03-12T15:20:00Z"
PETS = [
    {"role": "system", "content": "You are kind."},
    {"role": "assistant", "content": "Which pets do you have at home?"},
    {"role": "user", "content": "Three of them, all tabby.", "name": "Ann"},
    {"role": "tool", "content": "42"},
    {"role": "assistant", "content": ""},
    {"role": "assistant", "content": "What a crowd."},
]


def test_a_turn_is_found_by_what_was_said_before_it_and_returned_alone(words: Any) -> None:
    with RecallStore(embedding=words) as store:
        ids = store.add_conversation(PETS, scope={"session_id": "one"}, created_at=WHEN)
        found = by_words(store, "pets at home")
        turns = store.get(ids)

    assert [each.content for each in turns] == [
        "Which pets do you have at home?",
        "Three of them, all tabby.",
        "What a crowd.",
    ]
    assert found == ids  # its own words first, then one turn away, then two
    assert [each.author for each in turns] == ["assistant", "Ann", "assistant"]
    assert {each.memory_type for each in turns} == {"conversation"}
    assert {each.scope for each in turns} == {Scope(session_id="one")}
    assert [each.turn_before for each in turns] == ["", *ids[:2]]
    assert [each.created_at for each in turns] == [
        datetime(2024, 3, 12, 15, 20, 0, 1000 * place, tzinfo=UTC) for place in range(3)
    ]


@pytest.mark.parametrize("created_at", [WHEN, None])
def test_storing_it_again_or_more_of_it_stores_nothing_twice(
    words: Any, created_at: str | None
) -> None:
    hours = iter(range(9, 20))
    clock = lambda: datetime(2024, 3, 12, next(hours), tzinfo=UTC)  # noqa: E731
    with RecallStore(embedding=words, clock=clock) as store:
        first = store.add_conversation(PETS[:3], created_at=created_at)
        told = store.get(first)
        again = store.add_conversation(PETS, created_at=created_at)

        assert again[:2] == first
        assert asyncio.run(store.aadd_conversation(PETS, created_at=created_at)) == again
        assert store.count() == 3
        assert [each.created_at for each in store.get(first)] == [each.created_at for each in told]


def test_courtesies_are_no_memories_but_an_answer_is(words: Any) -> None:
    said = [
        ("user", "Hello!"),
        ("assistant", "Do you have cats?"),
        ("user", "Yes."),
        ("assistant", "I will remember that."),
        ("user", "谢谢"),
        ("user", "Vielen Dank für die Hilfe, und grüß den Zahnarzt."),
    ]
    with RecallStore(embedding=words) as store:
        ids = store.add_conversation([{"role": role, "content": text} for role, text in said])

        assert [each.content for each in store.get(ids)] == [said[n][1] for n in (1, 2, 5)]


def test_it_goes_on_where_an_earlier_call_ended(words: Any) -> None:
    with RecallStore(embedding=words) as store:
        asked = store.add_conversation(PETS[:2], created_at=WHEN)
        told = store.add_conversation(PETS[2:3], created_at=WHEN, turn_before=asked[-1])

        assert set(by_words(store, "pets at home")) == {*asked, *told}
        with pytest.raises(StoreError, match="'gone', which is not stored"):
            store.add_conversation(PETS, turn_before="gone")


@pytest.mark.parametrize(
    ("changed", "joined"),
    [
        ({"created_at": "2024-03-12T15:25:00Z"}, True),
        ({"created_at": "2024-03-12T16:20:00Z"}, False),
        ({"scope": Scope(session_id="two")}, False),
    ],
)
def test_only_the_same_conversation_and_hour_is_before(
    words: Any, changed: dict[str, Any], joined: bool
) -> None:
    asked = Memory(content="Which pets do you have?", created_at=WHEN, author="Bob")
    told = Memory(**{"content": "Three of them.", "created_at": WHEN, **changed})
    with RecallStore(embedding=words) as store:
        ids = store.add_conversation([asked, told])
        assert bool(store.get(ids)[1].said_before) is joined


def test_several_turns_of_one_speaker_answer_the_same_turn(words: Any) -> None:
    said = [
        ("Bob", "Any pets?"),
        ("Ann", "Three."),
        ("Ann", "All tabby."),
        ("Bob", "What a crowd."),
    ]
    with RecallStore(embedding=words) as store:
        messages = [{"role": "user", "name": name, "content": text} for name, text in said]
        ids = store.add_conversation(messages, created_at=WHEN)
        turns = store.get(ids)

    assert [each.turn_before for each in turns] == ["", ids[0], ids[0], ids[2]]
    assert [each.said_before for each in turns] == ["", *["Bob: Any pets?"] * 2, "Ann: All tabby."]


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ("hello", "put it in a list"),
        ({"role": "user", "content": "hello"}, "put it in a list"),
        ([{"role": "user"}], "a role and a content; got dict with role"),
        ([{"content": "hello"}], "role"),
        (["hello"], "got str"),
        ([{"role": "user", "content": "x", "created_at": "tomorrow"}], "created_at must be"),
    ],
)
def test_what_is_no_conversation_is_refused(words: Any, messages: Any, complaint: str) -> None:
    with RecallStore(embedding=words) as store:
        with pytest.raises(MemoryFormatError, match=complaint):
            store.add_conversation(messages)
        assert store.count() == 0


def test_only_the_end_of_a_long_turn_is_kept(words: Any) -> None:
    long = " ".join(f"word{number}" for number in range(100))
    with RecallStore(embedding=words) as store:
        for text, end in ((long, long.split()[-20:]), ("茶" * 90, ["茶" * 40])):
            said = [
                {"role": "assistant", "content": text},
                {"role": "user", "content": "With milk."},
            ]
            [_, turn] = store.get(store.add_conversation(said, created_at=WHEN))
            assert turn.said_before.split() == end


SAID = [
    ("Ann", "Look at the picture of my kittens!"),
    ("Bob", "Adorable."),
    ("Bob", "How many?"),
    ("Ann", "Three of them."),
    ("Ann", "All tabby."),
    ("Bob", "What does the vet say?"),
    ("Ann", "They thrive."),
]
TURNS = [{"id": f"t{n}", "name": name, "content": text} for n, (name, text) in enumerate(SAID)]


def scores(store: RecallStore, text: str, **search: Any) -> dict[str, float]:
    [hits] = store.find([Search(text, 20, method="keyword", **search)])
    found = {hit.memory.id: hit.score for hit in hits}
    assert len(found) == len(hits), "a row is found twice: by its old words, too"
    return found


def test_a_turn_is_found_by_the_words_around_it_after_those_that_have_them(words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add_conversation(TURNS, created_at=WHEN)

        assert list(scores(store, "vet")) == ["t5", "t6", "t4"]
        assert list(scores(store, "kittens")) == ["t0", "t1", "t2"]
        assert list(scores(store, "tabby")) == ["t4", "t5", "t3", "t6"]


def test_of_several_turns_of_one_speaker_the_last_stands_before(words: Any) -> None:
    said = ["Which cake?", "The lemon one.", "With poppy seeds.", "No icing.", "A big one."]
    turns = [
        {"id": str(n), "name": "Ann" if n else "Bob", "content": text}
        for n, text in enumerate(said)
    ]
    with RecallStore(embedding=words) as store:
        store.add_conversation(turns, created_at=WHEN)

        assert list(scores(store, "lemon")) == ["1", "2", "0", "3"]
        assert list(scores(store, "poppy")) == ["2", "3", "1", "4"]


def test_notes_and_what_is_shown_have_no_words_of_others(words: Any) -> None:
    notes = [Memory(id=str(n), content=text, created_at=WHEN) for n, (_, text) in enumerate(SAID)]
    with RecallStore(embedding=words) as store:
        store.add(notes)
        assert list(scores(store, "vet")) == ["5"]
    with RecallStore(embedding=words) as store:
        store.add_conversation(TURNS, created_at=WHEN)
        [[first, second, *_]] = store.find([Search("vet", 3, method="keyword")])
        assert [first.memory.content, second.memory.content] == [SAID[5][1], SAID[6][1]]


def test_words_of_a_turn_that_is_gone_or_replaced_find_nothing(words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add_conversation(TURNS, created_at=WHEN)
        [fourth] = store.get(["t4"])
        store.add([fourth.model_copy(update={"content": "All ginger."})])
        assert "t3" not in scores(store, "tabby")
        assert "t3" in scores(store, "ginger")

        store.delete(["t4"])
        assert scores(store, "ginger") == {}
