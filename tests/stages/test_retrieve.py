"""Retrieve: which searches it asks for, and what it makes of the answers."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from stages.worlds import Scripted

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.query import Query
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Recall, Search
from recall_retrievers.core.world import run
from recall_retrievers.stages.retrieve import Retrieve
from recall_retrievers.timeline import TimeRange

NOW = datetime(2024, 3, 8, tzinfo=UTC)
TUESDAY = TimeRange(datetime(2024, 3, 5, tzinfo=UTC), datetime(2024, 3, 6, tzinfo=UTC), "day")
ASKED = Query(text="x", reference_time=NOW)
SAID = "The dentist on Elm Street filled the tooth that had hurt me since the middle of winter"
RECENTLY = TimeRange(datetime(2024, 2, 8, tzinfo=UTC), NOW, "day", soft=True)


def hit(name: str, score: float) -> Hit:
    return Hit(Candidate(content=name, id=name), score)


def ask(stage: Retrieve, query: Query, *answers: list[Hit]) -> tuple[Recall, list[Search]]:
    asked: list[Search] = []

    def find(searches):
        asked.extend(searches)
        return answers[: len(searches)]

    return run(stage.apply(Recall(query)), Scripted(find=find)), asked


def test_the_whole_and_the_time_named_are_searched_at_once() -> None:
    query = Query(
        text="the dentist on Tuesday",
        search_text="the dentist",
        reference_time=NOW,
        time_ranges=(TUESDAY,),
        scope=Scope(user_id="ann"),
        filter={"topic": "health"},
        k=5,
    )

    whole = Search(
        "the dentist",
        50,
        Scope(user_id="ann"),
        {"topic": "health"},
        timezone=NOW.tzinfo,
        moment=NOW,
        by_tokens=True,
    )
    arms = [whole, replace(whole, within=(TUESDAY,))]
    by_words = [replace(arm, method="keyword") for arm in arms]

    assert ask(Retrieve(), query, [], [], [], [])[1] == arms + by_words
    alone = [replace(arm, by_tokens=False) for arm in arms]  # in a hybrid search only
    assert ask(Retrieve(method="semantic"), query, [], [])[1] == alone
    worded = [replace(arm, method="keyword") for arm in alone]
    assert ask(Retrieve(method="keyword"), query, [], [])[1] == worded


def test_a_vague_time_is_not_searched_and_a_required_one_is_all_that_is() -> None:
    vague = ASKED.model_copy(update={"time_ranges": (RECENTLY,)})
    assert [search.within for search in ask(Retrieve(), vague, [], [])[1]] == [(), ()]

    named = ASKED.model_copy(update={"time_ranges": (TUESDAY,)})
    _, asked = ask(Retrieve(require_time=True), named, [], [])
    assert [search.within for search in asked] == [(TUESDAY,), (TUESDAY,)]


def test_the_pool_is_four_times_k_at_least() -> None:
    assert ask(Retrieve(fetch_k=10), ASKED.model_copy(update={"k": 20}), [], [])[1][0].limit == 80


def test_arms_are_fused_without_counting_twice() -> None:
    a = Hit(Candidate(content="a", id="a"), 0.9)
    b = Hit(Candidate(content="b", id="b", created_at=TUESDAY.start), 0.4)
    query = Query(text="x", reference_time=NOW, time_ranges=(TUESDAY,))

    recall, _ = ask(Retrieve(method="semantic"), query, [a], [b, a])

    assert [(memory.id, memory.score) for memory in recall.memories] == [("a", 0.9), ("b", 0.4)]


def test_the_threshold_is_on_similarity() -> None:
    similar, worded = [hit("a", 0.3), hit("b", 0.29)], [hit("c", 9.0)]

    for method, answers in (("hybrid", (similar, worded)), ("semantic", (similar,))):
        recall, _ = ask(Retrieve(method=method, threshold_score=0.3), ASKED, *answers)
        assert [memory.id for memory in recall.memories] == ["a"]


def test_a_threshold_needs_a_method_that_knows_similarities() -> None:
    with pytest.raises(ValueError, match="threshold_score compares similarities"):
        Retrieve(method="keyword", threshold_score=0.3)


def test_meaning_counts_three_fifths_in_a_hybrid_search_and_words_the_rest() -> None:
    similar = [hit("similar", 0.8), hit("both", 0.6)]

    recall, _ = ask(Retrieve(), ASKED, similar, [hit("worded", 4.0), hit("both", 2.0)])

    scores = {memory.id: memory.score for memory in recall.memories}
    assert scores == pytest.approx({"both": 0.6 * 0.75 + 0.4 * 0.5, "similar": 0.6, "worded": 0.4})
    assert recall.memories[0].trace == pytest.approx(
        {"similarity": 0.6, "keyword": 2.0, "by_meaning": 0.6 * 0.75, "by_words": 0.4 * 0.5}
    )


def test_the_share_of_meaning_is_a_setting() -> None:
    arms = [hit("similar", 0.8)], [hit("worded", 4.0)]

    recall, _ = ask(Retrieve(semantic_weight=0.3), ASKED, *arms)

    assert {each.id: each.score for each in recall.memories} == {"worded": 0.7, "similar": 0.3}


def test_what_only_one_arm_found_counts_in_the_other_as_the_last_that_was_shown() -> None:
    # Of four at the most, four came: the fifth may be as good as the last, and is not 0.
    similar = [hit(name, 0.8 - 0.1 * place) for place, name in enumerate("abcd")]
    worded = [hit(name, 4.0 - place) for place, name in enumerate("abcd")]
    query = ASKED.model_copy(update={"k": 1})

    def score(fetch_k: int, *arms: list[Hit]) -> float:
        return score_of("other", ask(Retrieve(fetch_k=fetch_k), query, *arms)[0])

    other = [hit("other", 5.0)]
    assert score(4, similar, other) == pytest.approx(0.6 * 0.5 / 0.8 + 0.4)
    assert score(5, similar, other) == pytest.approx(0.4)
    assert score(4, other, worded) == pytest.approx(0.6 + 0.4 * 0.25)
    assert score(5, other, worded) == pytest.approx(0.6)


def test_fused_by_rank_only_the_places_count() -> None:
    def scored(*similarities):
        found = [hit(name, each) for name, each in zip("abc", similarities, strict=True)]
        worded = [hit("b", 9.0)]
        return ask(Retrieve(fusion="ranks"), ASKED, found, worded)[0].memories

    assert [(each.id, each.score) for each in scored(0.9, 0.2, 0.1)] == [
        (each.id, each.score) for each in scored(0.9, 0.8, 0.7)
    ]
    assert [each.id for each in scored(0.9, 0.2, 0.1)] == ["b", "a", "c"]
    assert scored(0.9, 0.2, 0.1)[0].score == pytest.approx(0.6 * 61 / 62 + 0.4)


def test_near_copies_are_left_out_and_named() -> None:
    found = [
        told("new", SAID + "!", 0.9, "2024-03-02"),
        told("old", SAID.lower().replace("elm street", "Elm Street"), 0.8, "2024-03-01"),
        told("other", SAID.replace("dentist", "doctor").replace("tooth", "knee"), 0.7),
    ]

    recall, _ = ask(Retrieve(method="semantic"), ASKED, found)
    every, _ = ask(Retrieve(method="semantic", duplicate_threshold=None), ASKED, found)

    assert [each.id for each in recall.memories] == ["new", "other"]
    assert recall.memories[0].trace["duplicates"] == "old"
    assert [each.id for each in every.memories] == ["new", "old", "other"]


def test_a_near_copy_below_the_threshold_takes_nothing_with_it() -> None:
    found = [told("old", SAID, 0.31, "2024-03-01"), told("new", SAID + "!", 0.29, "2024-03-02")]

    recall, _ = ask(Retrieve(method="semantic", threshold_score=0.3), ASKED, found)

    assert [each.id for each in recall.memories] == ["old"]


def test_the_same_said_by_two_people_or_of_two_users_is_no_copy() -> None:
    meat = told("a", "I eat no meat.", 0.9).memory
    for field, ann, bob in (("author", "Ann", "Bob"), ("scope", Scope(user_id="ann"), Scope())):
        found = [replace(meat, id=name, **{field: of}) for name, of in (("1", ann), ("2", bob))]

        recall, _ = ask(Retrieve(method="semantic"), ASKED, [Hit(each, 0.9) for each in found])

        assert {each.id for each in recall.memories} == {"1", "2"}


def test_what_stays_of_copies_has_the_best_score_of_them() -> None:
    found = [
        told("old", "I eat no meat.", 0.9, "2024-03-01"),
        told("new", "I eat no meat.", 0.5, "2024-03-02"),
    ]

    recall, _ = ask(Retrieve(method="semantic"), ASKED, found)

    assert [(each.id, each.score) for each in recall.memories] == [("new", 0.9)]


def test_a_lambda_below_one_prefers_what_has_not_been_said() -> None:
    found = [
        told("tea", "I like green tea with lemon.", 0.9),
        told("again", "I like green tea with honey.", 0.8),
        told("place", "Anna drinks it at the harbour.", 0.7),
    ]

    def ranked(**settings):
        recall, _ = ask(Retrieve(method="semantic", **settings), ASKED, found)
        return [each.id for each in recall.memories]

    assert ranked() == ["tea", "again", "place"]
    assert ranked(mmr_lambda=0.5) == ["tea", "place", "again"]


def told(name: str, content: str, similarity: float, day: str = "2024-03-01") -> Hit:
    created_at = datetime.fromisoformat(f"{day}T00:00:00Z")
    return Hit(Candidate(content=content, id=name, created_at=created_at), similarity)


def score_of(name: str, recall: Recall) -> float:
    [score] = [each.score for each in recall.memories if each.id == name]
    return score or 0.0
