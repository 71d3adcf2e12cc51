"""Words in German, Spanish and French: recognised, stemmed, and found in another form."""

import re
from pathlib import Path
from typing import Any

import pytest
from tables import table

from benchmarks.datasets import read_retrieval_set
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.text.words import indexed_words, language_of, wanted_words, words

DATA = Path(__file__).parents[2] / "benchmarks" / "data" / "languages"
NAMES = {"de": "german", "es": "spanish", "fr": "french"}
ENGLISH = """
We saw Die Hard in Los Angeles.
No, no, no!
Ha ha, oh man.
My son has a bin for the tour.
C'mon kid, let's go.
Ok, dinner's on.
The war was on, and Mir was in space.
Une semaine is French for a week, as he said to me.
Las Vegas
Zürich
AI plan
I'm a fan of Le Monde and El País.
Robert De Niro
"""


def language(text: str) -> str:
    return language_of(re.findall(r"\w+", text.lower()))


@table("text", ENGLISH.strip().splitlines())
def test_english_with_words_of_others_stays_english(text: str) -> None:
    assert language(text) == "english"
    assert indexed_words(text) == wanted_words(text) == words(text)


@pytest.mark.parametrize("code", NAMES)
def test_most_short_memories_and_nearly_all_questions_tell_their_language(code: str) -> None:
    data = read_retrieval_set(DATA / code)
    memories = [language(memory.content) for memory in data.corpora[code]]
    questions = [language(question.text) for question in data.questions]

    assert memories.count(NAMES[code]) >= 95
    assert questions.count(NAMES[code]) >= 58


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
