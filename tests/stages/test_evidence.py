"""The sign of whether any memory is about a question, and results that are held back for it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from conftest import WordsEmbedding
from tables import table

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.query import Evidence
from recall_retrievers.core.scope import Scope
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore

NOW = "2024-03-08T12:00Z"
ANN, BEN = {"user_id": "ann"}, {"user_id": "ben"}
TOLD = [
    {"content": "I parked the car in Elm Street.", "author": "Ann", "created_at": "2024-03-05"},
    {"content": "My sister moved to Bath.", "author": "Ben", "created_at": "2024-03-02"},
    {"content": "The cello sounds fine.", "author": "Ann", "created_at": "2024-03-03"},
    {"content": "The dentist filled a tooth.", "created_at": "2024-03-01"},
]


@pytest.fixture(scope="module")
def store() -> Iterator[RecallStore]:
    with RecallStore() as opened:
        opened.add([{"id": f"m{n}", **each, "scope": ANN} for n, each in enumerate(TOLD)])
        opened.add(
            [{"id": "lisbon", "content": "In Lisbon my sister has a zinc bar.", "scope": BEN}]
        )
        yield opened


def evidence(store: Any, question: str, **options: Any) -> Evidence:
    settings = {"timestamp": NOW, "timezone": "UTC", "scope": ANN, **options}
    found = MemoryRetriever(store=store).recall_without_model(question, **settings).evidence
    assert found is not None
    return found


@table(
    ("question", "sign", "about"),
    [
        ("Who moved to Bath?", "strong", ""),
        ("dentist", "strong", ""),
        ("What did I do in Lisbon?", "some", 'no memory has "Lisbon"'),  # Ben has it
        ("What did I do in Lisbon last week?", "some", 'no memory has "Lisbon"'),
        ("Who at the U.K. Bank moved to Bath?", "some", 'no memory has "Bank"'),  # else strong
        ("What is the capital of Mongolia?", "none", 'no memory has "Mongolia", "capital"'),
        ("zxqv wqpt QQQQ", "none", 'no memory has "QQQQ", "zxqv", "wqpt"'),
        ("lisbon", "some", 'no memory has "lisbon"'),  # one word is little to go by
        ("Where did Ann's sister move?", "some", "said by Ben, not by Ann"),  # both have a sister
        ("What happened last Saturday?", "some", "the question names no topic"),
        ("What should I cook for Mia?", "some", 'no memory has "Mia", "cook"'),
        ("I am so happy about my new zebra.", "some", 'no memory has "happy", "zebra"'),
        (
            "我的牙医在哪里？",
            "some",
            "how near they come is not known for this embedding or language",
        ),
        ("Wo ist mein Zahnarzt in Köln?", "some", None),
    ],
)
def test_the_sign_and_its_sentence(
    store: RecallStore, question: str, sign: str, about: str | None
) -> None:
    found = evidence(store, question)

    assert found.sign == sign
    assert about is None or found.about == about


@table("asked", ["Who moved to Bath{}?", "Where did Ann's sister move{}?", "Who sold Rio{}?"])
def test_a_time_changes_nothing(store: RecallStore, asked: str) -> None:
    plain, timed = (evidence(store, asked.format(when)) for when in ("", " last week"))

    assert (timed.sign, timed.about) == (plain.sign, plain.about)
    assert timed.number == pytest.approx(plain.number)


@table(
    ("time", "described"),
    [
        ({}, "2024-01-07 (Sunday)"),
        ({"time_range": ("2024-01-07", "2024-01-08")}, "2024-01-07 (Sunday)"),
        ({"time_range": "last January"}, "2024-01-01 to 2024-01-31"),
    ],
)
def test_where_a_named_time_has_no_memory_the_sentence_says_so(
    store: RecallStore, time: dict[str, Any], described: str
) -> None:
    question = f"Who moved to Bath{'' if time else ' on 7 January'}?"
    found = evidence(store, question, **time)
    nothing = f"nothing is recorded of {described}, and what follows is of other times"

    assert found == replace(evidence(store, "Who moved to Bath?"), about=nothing)


def test_a_name_that_is_spelt_otherwise_is_no_stranger(store: RecallStore) -> None:
    with RecallStore() as one:
        one.add([{"content": "The concert was loud.", "author": "Mohammed"}])

        spelt, other = (
            evidence(one, f"When was {name} at a concert?", scope=None)
            for name in ("Muhammad", "Beatrice")
        )

    assert spelt.number > other.number
    assert spelt.sign != "none"


def test_a_small_store_is_not_called_empty() -> None:
    with RecallStore() as store:
        assert evidence(store, "Where do I live?", scope=None).sign == "none"
        store.add(["I bought a puppy."])

        assert evidence(store, "Which pets do I have?", scope=None).sign == "some"
        assert evidence(store, "What does Ann own?", scope=None).sign == "some"
        assert evidence(store, "Explain photosynthesis.", scope=None).sign == "none"


def test_the_exchange_before_it_counts_for_a_question(store: RecallStore) -> None:
    said = [("user", "Where did I park?"), ("assistant", "You parked the car in Elm Street.")]
    assert (
        evidence(store, "So, what do I owe?", messages=said).number
        > evidence(store, "So, what do I owe?").number
    )


def test_thanks_in_a_talk_have_none_and_a_yes_to_a_question_has_some(store: RecallStore) -> None:
    said = [("user", "Where did I park?"), ("assistant", "In Elm Street.")]
    asked = [*said, ("user", "Oh?"), ("assistant", "Shall I say where the dentist is?")]
    assert evidence(store, "Thanks!", messages=said).sign == "none"
    assert evidence(store, "谢谢", messages=said).sign == "none"
    assert evidence(store, "Yes, please.", messages=asked).sign != "none"


@table("settings", [{"method": "semantic"}, {"method": "keyword"}, {}], ids=str)
def test_where_the_scale_is_not_known_nothing_is_denied(settings: dict[str, Any]) -> None:
    with RecallStore(embedding=WordsEmbedding()) as store:
        store.add([{"content": "The dentist filled a tooth."}, {"content": "Tea at four."}])

        found = evidence(store, "Where is the dentist in Rome?", scope=None, **settings)
        whole = evidence(store, "Who filled a tooth, the dentist?", scope=None, **settings)

    assert found.sign == "some"
    assert "not known" in found.about
    assert ('no memory has "Rome"' in found.about) == (settings.get("method") != "semantic")
    assert whole.sign == "some"


class Elsewhere(RecallStore):
    """A store that knows nothing of words and tokens."""

    def find(self, searches: Any) -> Any:
        return [[Hit(Candidate("Tea at four.", id="tea"), 0.1)] for _ in searches]


def test_another_store_gives_what_it_has() -> None:
    with Elsewhere() as store:
        found = evidence(store, "Who sells zinc in Rome?", scope=None)

    assert found == Evidence("some", found.about, found.number)
    assert "no memory has" not in found.about


def test_results_are_held_back_and_the_nearest_is_named(store: RecallStore) -> None:
    retriever = MemoryRetriever(store=store, timestamp=NOW, scope=ANN, only_with_evidence=True)

    question = "What is the capital of Mongolia?"
    held = retriever.recall_without_model(question)
    plain = retriever.recall_without_model(question, only_with_evidence=False)
    found = retriever.recall_without_model("Who moved to Bath?")

    assert not held.memories
    assert held.evidence is not None
    assert held.evidence.nearest is not None
    assert held.skipped == f"Retrieve: {held.why_nothing}"
    assert 'no memory has "Mongolia", "capital"; the nearest was \'m' in held.skipped
    assert not any(each["content"] in held.skipped for each in TOLD)
    assert [each.noted("evidence") for each in plain.memories] == ["none"] * len(plain.memories)
    assert found.memories[0].noted("evidence") == "strong"
    assert not found.why_nothing


def test_no_model_is_asked_about_what_is_held_back(store: RecallStore) -> None:
    stages = [lambda memories, query: pytest.fail("a stage has run")]
    retriever = MemoryRetriever(store=store, scope=Scope(**ANN), stages=stages)

    question = "What is the capital of Mongolia?"
    assert not retriever.recall_without_model(question, only_with_evidence=True).memories


def test_a_list_without_a_question_has_no_sign(store: RecallStore) -> None:
    listed = MemoryRetriever(store=store).recall_without_model("", time_range=("2024-03-02", None))

    assert listed.evidence is None
    assert listed.memories[0].noted("evidence") is None
