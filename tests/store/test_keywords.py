"""Keyword search: what the words find, in several languages, and in step with the collection."""

import random
import re
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from math import log
from pathlib import Path
from typing import Any

import pytest
from store.places import SMALL, by_meaning, by_words
from tables import table

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.store.rows import words as row_words
from recall_retrievers.text.words import indexed_words, language_of, wanted_words, words
from recall_retrievers.timeline import TimeRange

MARCH = TimeRange(datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC), "month")


@pytest.fixture
def store(words: Any, tmp_path: Path) -> Iterator[RecallStore]:
    """A few memories of two people."""
    with RecallStore(tmp_path / "store", embedding=words) as filled:
        rows = [
            ("moved", "The dentists have moved to Elm Street.", "2024-02-10T09:00:00Z", "ann"),
            ("fear", "I fear the dentist, and the dentist knows.", "2024-03-10T09:00:00Z", "bob"),
            ("tea", "Green tea at four.", "2024-03-11T09:00:00Z", "ann"),
            ("museum", "我去了博物馆。", "2024-03-12T09:00:00Z", "eve"),
        ]
        more = {"moved": {"metadata": {"topic": "health"}}, "tea": {"author": "Ann"}}
        filled.add(
            {"id": x, "content": text, "created_at": at, "user_id": user, **more.get(x, {})}
            for x, text, at, user in rows
        )
        yield filled


def test_the_memory_with_more_of_the_rarer_words_comes_first(store: RecallStore) -> None:
    assert by_words(store, "Which street is the dentist in?") == ["moved", "fear"]
    assert by_words(store, "What does Ann drink?") == ["tea"]
    assert by_words(store, "她在博物馆看到了什么？") == ["museum"]
    assert by_words(store, "the bicycle") == []
    assert by_words(store, "?!") == []


@pytest.mark.usefixtures("each_way")
def test_scope_filter_and_window_hold_for_words_too(store: RecallStore) -> None:
    assert by_words(store, "dentist", scope=Scope(user_id="bob")) == ["fear"]
    assert by_words(store, "dentist", filter={"topic": "health"}) == ["moved"]
    assert by_words(store, "dentist", within=(MARCH,)) == ["fear"]
    assert by_words(store, "dentist", within=(MARCH,), scope=Scope(user_id="ann")) == []
    assert by_words(store, "dentist", within=(replace(MARCH, start=None),)) == ["fear", "moved"]
    assert by_words(store, "dentist", within=(replace(MARCH, end=None),)) == ["fear"]
    search = Search("dentist", 5, method="keyword")
    [alone, [bobs]] = store.find([search, replace(search, scope=Scope(user_id="bob"))])
    assert bobs.score == {hit.id: hit.score for hit in alone}["fear"]


def test_writes_and_other_questions_do_not_wait_for_a_search_by_words(
    store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    search = row_words.best

    def held(*conditions: Any) -> row_words.Scored:
        begun.set()
        assert go_on.wait(60)
        return search(*conditions)

    monkeypatch.setattr(row_words, "best", held)
    with ThreadPoolExecutor() as threads:
        searching = threads.submit(by_words, store, "dentist")
        try:
            assert begun.wait(30)
            made = threads.submit(store.add, ["The dentist has a red bicycle."]).result(30)
            [memories] = threads.submit(store.find, [Search("bicycle", 1)]).result(30)
            assert [memory.id for memory in memories] == made
        finally:
            go_on.set()
        assert {"fear", "moved"} <= set(searching.result(30))


def test_a_search_takes_no_new_memory_for_one_that_was_deleted_meanwhile(
    store: RecallStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = row_words.best

    def deleted(*conditions: Any) -> row_words.Scored:
        hits = search(*conditions)
        store.delete(["tea"])
        store.add([Memory(id="new", content="A red bicycle.", author="Ann")])
        return hits

    with monkeypatch.context() as patched:
        patched.setattr(row_words, "best", deleted)
        assert by_words(store, "green tea") == []
    assert by_words(store, "bicycle") == ["new"]


def test_the_best_rows_are_those_of_plain_bm25() -> None:
    """Words of every rarity: what a search leaves unread must not change what it finds."""
    draw = random.Random(5)
    vocabulary = [f"word{n}" for n in range(200)]
    weights = [1 / (n + 1) for n in range(200)]
    texts = [draw.choices(vocabulary, weights, k=draw.randrange(1, 12)) for _ in range(4_000)]
    having = Counter(word for text in texts for word in {*text})
    mean = sum(map(len, texts)) / len(texts)

    def bm25(question: Sequence[str], text: Sequence[str]) -> float:
        return sum(
            log(1 + (len(texts) - having[word] + 0.5) / (having[word] + 0.5))
            * (often := text.count(word))
            * 2.2
            / (often + 1.2 * (0.25 + 0.75 * len(text) / mean))
            for word in question
        )

    with RecallStore(embedding=SMALL) as store:
        for start in range(0, len(texts), 2_000):
            part = texts[start : start + 2_000]
            store.add({"content": " ".join(text)} for text in part)
        for _ in range(50):
            question = draw.sample(vocabulary[: draw.choice([8, 40, 200])], draw.randrange(1, 7))
            limit = draw.choice([1, 5, 20])
            [hits] = store.find([Search(" ".join(question), limit, method="keyword")])
            best = sorted((bm25(question, text) for text in texts), reverse=True)[:limit]
            assert [hit.score for hit in hits] == pytest.approx([x for x in best if x], abs=2e-4)


MANY = 700
"""Rows; more than wait for a commit."""


def turns(seed: int) -> list[Memory]:
    """Conversations of ten turns; every word is common."""
    draw = random.Random(seed)
    return [
        Memory(
            id=f"m{n:03}",
            content=" ".join(f"word{draw.randrange(60)}" for _ in range(draw.randrange(2, 9))),
            turn_before=f"m{n - 1:03}" if n % 10 else "",
        )
        for n in range(MANY)
    ]


def ranked(store: RecallStore) -> list[list[tuple[str, float]]]:
    """Ten rows for each question, with their scores."""
    answers = []
    for n in range(40):
        text = " ".join(f"word{n + x}" for x in range(0, 20, 1 + n % 9))
        [hits] = store.find([Search(text, 10, method="keyword")])
        answers.append([(hit.memory.id, hit.score) for hit in hits])
    return answers


def test_equal_collections_answer_equally_however_they_came_about(
    words: Any, tmp_path: Path
) -> None:
    rows = turns(1)
    with RecallStore(embedding=words) as store:
        store.add(rows)
        wanted = ranked(store)
    with RecallStore(tmp_path, embedding=words) as store:
        store.add(turns(2)[: MANY // 2])
        ranked(store)
        for start in range(0, MANY, 70):  # replaces them
            store.add(rows[start : start + 70])
            if start % 140:
                ranked(store)
        store.add([x.model_copy(update={"id": f"x{x.id}"}) for x in turns(3)])
        ranked(store)
        store.delete([f"x{row.id}" for row in rows])
        assert ranked(store) == wanted
    with RecallStore(tmp_path, embedding=words) as store:
        assert ranked(store) == wanted
    shutil.rmtree(tmp_path / ".recall")
    with RecallStore(tmp_path, embedding=words) as store:
        assert ranked(store) == wanted
    with RecallStore(embedding=words) as store:
        for start in range(0, MANY, 50):
            store.add(random.Random(4).sample(rows, MANY)[start : start + 50])
        assert ranked(store) == wanted


@pytest.mark.usefixtures("each_way")
def test_of_equally_good_rows_equal_collections_choose_the_same(words: Any, tmp_path: Path) -> None:
    rows = [Memory(id=f"row{n}", content="Green tea.") for n in range(40)]
    chosen = []
    for order in (rows, rows[::-1]):
        folder = tmp_path / str(len(chosen))
        with RecallStore(folder, embedding=words) as store:
            store.add(order)
        with RecallStore(folder, embedding=words) as store:  # with its words committed
            chosen.append([by_words(store, "tea"), by_meaning(store, "tea", limit=40)])

    assert chosen[0] == chosen[1]


ENGLISH = """
We saw Die Hard in Los Angeles.
My son has a bin for the tour.
The war was on, and Mir was in space.
Une semaine is French for a week, as he said to me.
Las Vegas
I'm a fan of Le Monde and El País.
Robert De Niro
"""


def language(text: str) -> str:
    return language_of(re.findall(r"\w+", text.lower()))


@table("text", ENGLISH.strip().splitlines())
def test_english_with_words_of_others_stays_english(text: str) -> None:
    assert language(text) == "english"
    assert indexed_words(text) == wanted_words(text) == words(text)


@table(
    ("memory", "question"),
    [
        ("Wir haben zwei graue Katzen.", "Wie heißt die Katze?"),
        ("Der Tierarzt hat die Häuser gesehen.", "Wann hat er das Haus gesehen?"),
        ("Los médicos me recetaron unas pastillas.", "¿Quién me recetó la pastilla?"),
        ("Nous avons loué des vélos électriques.", "Où est mon vélo électrique ?"),
        ("Graue Katzen", "Wo sind die Katzen?"),  # too short to tell its language
        ("The dentists have moved.", "Where is the dentist?"),
    ],
)
def test_a_memory_is_found_by_other_forms_of_its_words(
    words: Any, memory: str, question: str
) -> None:
    noise = ["Der Zug kommt.", "El tren llega.", "Le train arrive.", "The train is late."]
    with RecallStore(embedding=words) as store:
        store.add([memory, *noise])
        [[first, *_]] = store.find([Search(question, 5, method="keyword")])

    assert first.memory.content == memory
