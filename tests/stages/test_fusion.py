"""Fusion: what holds for any arms of a search."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.core.candidate import Candidate, Hit
from recall_retrievers.core.pool import Pool, WordsInScope, arms_of
from recall_retrievers.ranking import fusion
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.store import RecallStore

scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.001, 50), max_size=8)
fusions = st.sampled_from(["scores", "ranks"])


def arm(found: dict[str, float], name: str) -> list[Hit]:
    hits = [Hit(Candidate(content=i, id=i), s, {name: s}) for i, s in found.items()]
    return sorted(hits, key=lambda hit: -hit.score)


def fuse_arms(semantic: list[list[Hit]], keyword: list[list[Hit]], **settings: Any) -> Pool:
    arms = arms_of([*semantic, *keyword])
    return fusion.fuse_arms(arms[: len(semantic)], arms[len(semantic) :], **settings)


@given(scores, scores, fusions, st.floats(0, 1), st.integers(1, 20))
def test_every_memory_is_there_once_scored_from_0_to_1_best_first_and_no_more_than_asked_for(
    similar, worded, by, weight, limit
) -> None:
    arms = arm(similar, "similarity"), arm(worded, "keyword")
    fused = fuse_arms([arms[0]], [arms[1]], limit=limit, weight=weight, by=by)
    found = [memory.score for memory in fused]
    there = similar.keys() | worded.keys()

    assert len({memory.id for memory in fused}) == len(fused) == min(limit, len(there))
    assert {memory.id for memory in fused} <= there
    assert all(0 <= score <= 1 + 1e-9 for score in found)
    assert found == sorted(found, reverse=True)


@given(scores, scores, scores, scores, st.integers(1, 8))
def test_of_the_whole_and_of_the_time_asked_about_the_best_are_kept_each(
    similar, worded, similar_then, worded_then, limit
) -> None:
    semantic = [arm(similar, "similarity"), arm(similar_then, "similarity")]
    keyword = [arm(worded, "keyword"), arm(worded_then, "keyword")]
    # Ranks do not depend on how many were asked for.
    everything = [m.id for m in fuse_arms(semantic, keyword, limit=100, by="ranks")]
    whole, then = similar.keys() | worded.keys(), similar_then.keys() | worded_then.keys()
    best = {key for of in (whole, then) for key in [x for x in everything if x in of][:limit]}

    kept = fuse_arms(semantic, keyword, limit=limit, by="ranks")

    assert [memory.id for memory in kept] == [key for key in everything if key in best]


@given(scores.filter(len), fusions)
def test_one_kind_of_arm_alone_keeps_its_order(similar, by) -> None:
    found = arm(similar, "similarity")
    fused = fuse_arms([found], [], limit=8, by=by)

    order = sorted(found, key=lambda hit: (-hit.score, hit.memory.id))
    assert [memory.id for memory in fused] == [hit.memory.id for hit in order]
    assert fused[0].score == pytest.approx(1)


@given(scores, scores)
def test_the_unit_of_the_scores_does_not_matter(similar, worded) -> None:
    def fused(unit):
        halves = {key: score * unit for key, score in worded.items()}
        many = fuse_arms([arm(similar, "similarity")], [arm(halves, "keyword")], limit=3)
        return {memory.id: memory.score for memory in many}

    assert fused(1.0) == pytest.approx(fused(0.5))


def test_the_floor_of_an_embedding_is_taken_off_before_similarities_are_compared() -> None:
    similar = arm({"a": 0.9, "b": 0.8, "c": 0.6}, "similarity")
    by_meaning = {
        floor: {
            memory.id: memory.trace["by_meaning"]
            for memory in fuse_arms([similar], [], limit=5, similarity_floor=floor)
        }
        for floor in (0.0, 0.7, 0.95)
    }

    assert by_meaning[0.7] == pytest.approx({"a": 1, "b": 0.5, "c": 0})
    assert by_meaning[0.95] == by_meaning[0.0] == pytest.approx({"a": 1, "b": 8 / 9, "c": 6 / 9})


def test_a_nearness_has_no_floor() -> None:
    near = arm({"a": 0.9, "b": 0.8}, "nearness")

    floored = fuse_arms([near], [], limit=5, similarity_floor=0.7)
    assert [*floored] == [*fuse_arms([near], [], limit=5)]


def near(memory: Candidate, similarity: float, of_words: float | None) -> Hit:
    known = {} if of_words is None else {"token_similarity": of_words}
    return Hit(memory, similarity, {"similarity": similarity, **known})


def test_single_words_take_their_share_from_the_similarity_and_none_from_the_words() -> None:
    tea, cup = Candidate(content="Tea.", id="tea"), Candidate(content="A cup.", id="cup")
    semantic = [near(tea, 0.8, 0.3), near(cup, 0.4, 0.6)]
    keyword = [Hit(tea, 2.0, {"keyword": 2.0}), Hit(cup, 1.0, {"keyword": 1.0})]

    fused = fuse_arms([semantic], [keyword], limit=2, weight=0.6, token_weight=0.4)

    shares = {
        each.id: [each.trace[f"by_{x}"] for x in ("meaning", "tokens", "words")] for each in fused
    }
    assert shares["tea"] == pytest.approx([0.36, 0.12, 0.4])
    assert shares["cup"] == pytest.approx([0.18, 0.24, 0.2])
    assert [each.score for each in fused] == pytest.approx([0.88, 0.62])


@table(("known", "counts"), [(10, True), (9, True), (8, False)])
def test_single_words_count_where_nine_of_ten_candidates_have_them(
    known: int, counts: bool
) -> None:
    pool = [Candidate(content=str(n), id=str(n)) for n in range(10)]
    hits = [near(each, 0.5, 0.5 if n < known else None) for n, each in enumerate(pool)]

    [first, *_] = fuse_arms([hits], [], limit=10, token_weight=0.4)

    assert ("by_tokens" in first.trace) is counts
    assert first.trace["by_meaning"] == pytest.approx(0.6 if counts else 1.0)


def test_a_turn_is_lifted_towards_its_best_reply_by_either_measure() -> None:
    asked = Candidate(content="Any pets?", id="asked")
    reply = Candidate(content="Three cats.", id="reply", turn_before="asked")
    later = Candidate(content="Why?", id="later", turn_before="asked")
    hits = [near(reply, 0.8, 0.6), near(asked, 0.4, 0.3), near(later, 0.2, 0.1)]

    fused = {each.id: each for each in fuse_arms([hits], [], limit=3, token_weight=0.5)}

    for measure in ("by_meaning", "by_tokens"):
        assert fused["reply"].trace[measure] == pytest.approx(0.5)
        assert fused["asked"].trace[measure] == pytest.approx(0.5 * (0.5 + 0.4 * 0.5))


def test_a_reply_that_is_less_similar_is_lifted_a_fifth_of_the_way() -> None:
    asked = Candidate(content="Any pets?", id="asked")
    reply = Candidate(content="Three cats.", id="reply", turn_before="asked")

    with_reply = fuse_arms([[near(asked, 0.8, 0.6), near(reply, 0.4, 0.3)]], [], limit=2)

    assert [each.score for each in with_reply] == pytest.approx([1.0, 0.6])


@table(
    ("matched", "meaning", "tokens"),
    [(0.5, 0.65, 0.5), (0.25, 0.65, 0.5), (0.2, 0.775, 0.5), (0.1, 0.9, 0.5), (0.04, 0.9, 0.25)],
)
def test_meaning_has_more_where_no_memory_has_much_of_the_words(
    matched: float, meaning: float, tokens: float
) -> None:
    memory = Candidate(content="A film", id="film")
    [similar, worded] = arms_of([[near(memory, 0.8, 0.6)], [Hit(memory, 2.2 * 10 * matched, {})]])
    worded = replace(worded, words=WordsInScope(frozenset(), 10.0))
    shares = {"weight": 0.65, "token_weight": 0.5, "unmatched_weight": 0.9}

    [found] = fusion.fuse_arms([similar], [worded], limit=5, **shares)

    assert found.trace["by_tokens"] == pytest.approx(meaning * tokens)
    assert found.trace["by_meaning"] == pytest.approx(meaning * (1 - tokens))
    assert found.trace["by_words"] == pytest.approx(1 - meaning)


def test_a_question_that_only_asks_is_answered_by_meaning() -> None:
    with RecallStore() as store:
        store.add(["We options-traded some shares.", "I never eat meat or fish."])
        asked = (
            "Can you recommend some good dinner options for a picnic near Leeds tomorrow evening?"
        )
        found = MemoryRetriever(store=store).recall_without_model(asked).memories
        fixed = MemoryRetriever(store=store, semantic_weight=0.3).recall_without_model(asked)

    assert found[0].content == "I never eat meat or fish."
    assert fixed.memories[0].content == "We options-traded some shares."


@table(("words", "share"), [(1, 0.5), (8, 0.5), (16, 0.25), (32, 0.125)])
def test_in_a_long_question_all_words_together_count_less(words: int, share: float) -> None:
    with RecallStore() as store:
        store.add(["Tea at four.", "A walk by the river."])
        question = " ".join(["tea", *(f"cup{n}" for n in range(words - 1))])
        retriever = MemoryRetriever(store=store, stages=[], semantic_weight=0.65)
        found = retriever.recall_without_model(question).memories

    assert max(each.trace["by_tokens"] for each in found) == pytest.approx(0.65 * share)
