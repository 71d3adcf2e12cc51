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
RECENTLY = TimeRange(datetime(2024, 2, 8, tzinfo=UTC), NOW, "day", soft=True)


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


def test_a_vague_time_is_not_searched() -> None:
    query = Query(text="x", reference_time=NOW, time_ranges=(RECENTLY,))

    assert [search.within for search in ask(Retrieve(), query, [], [])[1]] == [(), ()]


def test_a_required_time_is_all_that_is_searched() -> None:
    query = Query(text="x", reference_time=NOW, time_ranges=(TUESDAY,))

    _, asked = ask(Retrieve(require_time=True), query, [], [])

    assert [search.within for search in asked] == [(TUESDAY,), (TUESDAY,)]


def test_the_pool_is_four_times_k_at_least() -> None:
    _, asked = ask(Retrieve(fetch_k=10), Query(text="x", reference_time=NOW, k=20), [], [])

    assert asked[0].limit == 80


def test_arms_are_fused_without_counting_twice() -> None:
    a = Hit(Candidate(content="a", id="a"), 0.9)
    b = Hit(Candidate(content="b", id="b", created_at=TUESDAY.start), 0.4)
    query = Query(text="x", reference_time=NOW, time_ranges=(TUESDAY,))

    recall, _ = ask(Retrieve(method="semantic"), query, [a], [b, a])

    assert [(memory.id, memory.score) for memory in recall.memories] == [("a", 0.9), ("b", 0.4)]


def test_the_threshold_is_on_similarity() -> None:
    similar = [_similar("a", 0.3), _similar("b", 0.29)]
    worded = [_worded("c", 9.0)]
    query = Query(text="x", reference_time=NOW)

    for method, answers in (("hybrid", (similar, worded)), ("semantic", (similar,))):
        recall, _ = ask(Retrieve(method=method, threshold_score=0.3), query, *answers)
        assert [memory.id for memory in recall.memories] == ["a"]


def test_a_threshold_needs_a_method_that_knows_similarities() -> None:
    with pytest.raises(ValueError, match="threshold_score compares similarities"):
        Retrieve(method="keyword", threshold_score=0.3)


def test_meaning_counts_three_fifths_in_a_hybrid_search_and_words_the_rest() -> None:
    both = _similar("both", 0.6), _worded("both", 2.0)
    worded = _worded("worded", 4.0)

    recall, _ = ask(
        Retrieve(),
        Query(text="x", reference_time=NOW),
        [_similar("similar", 0.8), both[0]],
        [worded, both[1]],
    )

    scores = {memory.id: memory.score for memory in recall.memories}
    assert scores == pytest.approx({"both": 0.6 * 0.75 + 0.4 * 0.5, "similar": 0.6, "worded": 0.4})
    assert recall.memories[0].trace == pytest.approx(
        {"similarity": 0.6, "keyword": 2.0, "by_meaning": 0.6 * 0.75, "by_words": 0.4 * 0.5}
    )


def test_the_share_of_meaning_is_a_setting() -> None:
    worded = _worded("worded", 4.0)

    recall, _ = ask(Retrieve(semantic_weight=0.3), ASKED, [_similar("similar", 0.8)], [worded])

    assert {each.id: each.score for each in recall.memories} == {"worded": 0.7, "similar": 0.3}


def test_what_only_words_found_is_as_similar_as_the_last_that_was_shown() -> None:
    # Of four at the most, four came: the fifth may be as similar as the last, and is not 0.
    found = [_similar(name, 0.8 - 0.1 * place) for place, name in enumerate("abcd")]
    worded = _worded("worded", 4.0)
    query = Query(text="x", reference_time=NOW, k=1)

    full, _ = ask(Retrieve(fetch_k=4), query, found, [worded])
    short, _ = ask(Retrieve(fetch_k=5), query, found, [worded])

    assert _score_of("worded", full) == pytest.approx(0.6 * 0.5 / 0.8 + 0.4)
    assert _score_of("worded", short) == pytest.approx(0.4)


def test_what_only_the_meaning_found_has_as_many_words_as_the_last_that_was_shown() -> None:
    worded = [
        _worded(name, score) for name, score in (("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0))
    ]
    query = Query(text="x", reference_time=NOW, k=1)

    full, _ = ask(Retrieve(fetch_k=4), query, [_similar("similar", 0.8)], worded)
    short, _ = ask(Retrieve(fetch_k=5), query, [_similar("similar", 0.8)], worded)

    assert _score_of("similar", full) == pytest.approx(0.6 + 0.4 * 0.25)
    assert _score_of("similar", short) == pytest.approx(0.6)


def test_fused_by_rank_only_the_places_count() -> None:
    def scored(*similarities):
        found = [_similar(name, each) for name, each in zip("abc", similarities, strict=True)]
        worded = [_worded("b", 9.0)]
        return ask(Retrieve(fusion="ranks"), ASKED, found, worded)[0].memories

    assert [(each.id, each.score) for each in scored(0.9, 0.2, 0.1)] == [
        (each.id, each.score) for each in scored(0.9, 0.8, 0.7)
    ]
    assert [each.id for each in scored(0.9, 0.2, 0.1)] == ["b", "a", "c"]
    assert scored(0.9, 0.2, 0.1)[0].score == pytest.approx(0.6 * 61 / 62 + 0.4)


def test_a_turn_is_lifted_by_its_reply() -> None:
    turn, other = _similar("turn", 0.5), _similar("other", 0.5)
    reply = Hit(Candidate(content="reply", id="reply", turn_before="turn"), 0.8)

    recall, _ = ask(Retrieve(semantic_weight=1.0), ASKED, [reply, turn, other], [])

    assert _score_of("turn", recall) == pytest.approx(_score_of("other", recall) + 0.2)


def test_near_copies_are_left_out_and_named() -> None:
    said = "The dentist on Elm Street filled the tooth that had hurt me since the middle of winter"
    found = [
        _told("new", said + "!", 0.9, "2024-03-02"),
        _told("old", said.lower().replace("elm street", "Elm Street"), 0.8, "2024-03-01"),
        _told("other", said.replace("dentist", "doctor").replace("tooth", "knee"), 0.7),
    ]

    recall, _ = ask(Retrieve(method="semantic"), ASKED, found)
    every, _ = ask(Retrieve(method="semantic", duplicate_threshold=None), ASKED, found)

    assert [each.id for each in recall.memories] == ["new", "other"]
    assert recall.memories[0].trace["duplicates"] == "old"
    assert [each.id for each in every.memories] == ["new", "old", "other"]


def test_a_near_copy_below_the_threshold_takes_nothing_with_it() -> None:
    said = "The dentist on Elm Street filled the tooth that had hurt me since the middle of winter"
    found = [_told("old", said, 0.31, "2024-03-01"), _told("new", said + "!", 0.29, "2024-03-02")]

    recall, _ = ask(Retrieve(method="semantic", threshold_score=0.3), ASKED, found)

    assert [each.id for each in recall.memories] == ["old"]


def test_the_same_said_by_two_people_is_no_copy() -> None:
    found = [
        Hit(replace(_told(name, "I eat no meat.", 0.9).memory, author=name), 0.9)
        for name in ("Ann", "Bob")
    ]

    recall, _ = ask(Retrieve(method="semantic"), ASKED, found)

    assert {each.id for each in recall.memories} == {"Ann", "Bob"}


def test_the_same_of_two_users_is_no_copy() -> None:
    found = [
        Hit(replace(_told(name, "I eat no meat.", 0.9).memory, scope=Scope(user_id=name)), 0.9)
        for name in ("ann", "bob")
    ]

    recall, _ = ask(Retrieve(method="semantic"), ASKED, found)

    assert {each.id for each in recall.memories} == {"ann", "bob"}


def test_what_stays_of_copies_has_the_best_score_of_them() -> None:
    found = [
        _told("old", "I eat no meat.", 0.9, "2024-03-01"),
        _told("new", "I eat no meat.", 0.5, "2024-03-02"),
    ]

    recall, _ = ask(Retrieve(method="semantic"), ASKED, found)

    assert [(each.id, each.score) for each in recall.memories] == [("new", 0.9)]


def test_a_lambda_below_one_prefers_what_has_not_been_said() -> None:
    found = [
        _told("tea", "I like green tea with lemon.", 0.9),
        _told("again", "I like green tea with honey.", 0.8),
        _told("place", "Anna drinks it at the harbour.", 0.7),
    ]

    def ranked(**settings):
        recall, _ = ask(Retrieve(method="semantic", **settings), ASKED, found)
        return [each.id for each in recall.memories]

    assert ranked() == ["tea", "again", "place"]
    assert ranked(mmr_lambda=0.5) == ["tea", "place", "again"]


def _told(name: str, content: str, similarity: float, day: str = "2024-03-01") -> Hit:
    created_at = datetime.fromisoformat(f"{day}T00:00:00Z")
    return Hit(Candidate(content=content, id=name, created_at=created_at), similarity)


def _score_of(name: str, recall: Recall) -> float:
    [score] = [each.score for each in recall.memories if each.id == name]
    return score or 0.0


def _similar(name: str, similarity: float) -> Hit:
    return Hit(Candidate(content=name, id=name), similarity)


def _worded(name: str, score: float) -> Hit:
    return Hit(Candidate(content=name, id=name), score)
