"""The turns around a turn find it, too: at once, after a restart, and after changes among them."""

from typing import Any

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore

WHEN = "2024-03-12T15:20:00Z"
SAID = [
    ("Ann", "Look at the picture of my kittens!"),
    ("Bob", "Lovely."),
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
