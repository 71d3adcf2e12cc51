"""Filters, rankers and functions as stages: what stays, in which order, whatever they are given."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.stages.filters import Deduplicate, RelevanceThreshold, TimeDecay
from recall_retrievers.stages.foreign_stages import FunctionStage
from recall_retrievers.stages.rankers import HybridRank, RecencyRank, RelevanceRank

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
EVERY = 100

memories = st.lists(
    st.builds(
        Candidate,
        content=st.text(min_size=1).filter(str.strip),
        id=st.uuids().map(str),
        created_at=st.none()
        | st.datetimes(datetime(2023, 2, 1), datetime(2024, 6, 1), timezones=st.just(UTC)),
        score=st.none() | st.floats(-1, 5),
    ),
    max_size=12,
    unique_by=lambda memory: memory.id,
)
WEIGHING = [TimeDecay(), HybridRank(top_n=EVERY)]
RANKING = [RelevanceRank(top_n=EVERY), RecencyRank(top_n=EVERY), *WEIGHING]


def run(stage, found, k=None):
    return stage.apply(Recall(Query(text="x", reference_time=NOW, k=k), tuple(found))).memories


def told(name, score=None, days_old=None):
    created_at = None if days_old is None else NOW - timedelta(days=days_old)
    return Candidate(content=name, id=name, score=score, created_at=created_at)


def names(found):
    return [memory.content for memory in found]


@pytest.mark.parametrize("stage", RANKING, ids=lambda stage: type(stage).__name__)
@given(memories)
def test_ranking_loses_nothing_invents_nothing_and_twice_is_once(stage, found):
    ranked = run(stage, found)

    assert sorted(each.id for each in ranked) == sorted(each.id for each in found)
    assert run(stage, ranked) == ranked


@pytest.mark.parametrize("stage", WEIGHING, ids=lambda stage: type(stage).__name__)
@given(memories)
def test_a_weighed_score_lies_between_0_and_1_best_first(stage, found):
    scores = [each.score for each in run(stage, found)]

    assert all(0 <= score <= 1 for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_a_threshold_drops_what_scores_below_it_and_keeps_the_unscored():
    scores = {"low": 0.2, "exact": 0.5, "none": None, "odd": math.nan, "high": 0.9}
    found = [told(name, score) for name, score in scores.items()]

    assert names(run(RelevanceThreshold(threshold_score=0.5), found)) == [*scores][1:]
    assert names(run(RelevanceThreshold(), found)) == [*scores]


def test_of_copies_the_better_scored_stays_and_names_the_others():
    tea = [told("I like green tea a lot.", 0.4), told("i like green tea a lot", 0.9)]

    kept = run(Deduplicate(), [tea[0], told("Milk", 0.5), tea[1]])

    assert names(kept) == ["i like green tea a lot", "Milk"]
    assert kept[0].trace["duplicates"] == "I like green tea a lot."
    assert run(Deduplicate(), kept) == kept


def test_after_one_half_life_a_memory_counts_half():
    found = [
        told("old", 0.8, 14),
        told("new", 0.5, 0),
        told("undated", 0.3),
        told("ahead", 0.2, -9),
    ]

    decayed = {each.id: each.score for each in run(TimeDecay(half_life_days=14), found)}

    assert decayed == {"old": 0.4, "new": 0.5, "undated": 0.3, "ahead": 0.2}


def test_the_newest_comes_first_and_the_undated_last():
    found = [
        told("undated", 0.9),
        told("old", 0.8, 30),
        told("ahead", 0.1, -5),
        told("now", 0.2, 0),
    ]

    ranked = [(each.id, each.score) for each in run(RecencyRank(), found)]
    assert ranked == [("ahead", 0.1), ("now", 0.2), ("old", 0.8), ("undated", 0.9)]


def test_hybrid_weighs_relevance_and_recency():
    found = [told("old", 0.8, 60), told("new", 0.6, 0), told("half", 0.6, 15), told("undated", 0.7)]

    ranked = run(HybridRank(), found)

    scores = {each.id: round(each.score, 3) for each in ranked}
    assert scores == {"new": 0.72, "undated": 0.7, "half": 0.57, "old": 0.56}
    assert names(run(HybridRank(relevance_weight=7, recency_weight=3), found)) == names(ranked)


@table("stage", [RelevanceRank, RecencyRank, HybridRank], ids=lambda stage: stage.__name__)
def test_a_ranker_keeps_the_best_few(stage):
    found = [told(str(n), n / 20, 20 - n) for n in range(9)]

    assert names(run(stage(top_n=2), found)) == ["8", "7"]
    assert len(run(stage(), found)) == 5
    assert len(run(stage(), found, k=7)) == 7


@table(
    ("stage", "setting"),
    [
        (RelevanceThreshold, {"threshold_score": 1.5}),
        (TimeDecay, {"half_life_days": 0}),
        (HybridRank, {"relevance_weight": -1}),
        (HybridRank, {"relevance_weight": 0, "recency_weight": 0}),
        (HybridRank, {"horizon_days": 0}),
    ],
)
def test_settings_without_sense_are_refused(stage, setting):
    with pytest.raises(SettingsError):
        stage(**setting)


def test_a_function_sees_the_candidates_and_the_question():
    only_about = FunctionStage(
        function=lambda found, query: (each for each in found if query.text in each.content)
    )

    assert names(run(only_about, [told("x-ray"), told("tea")])) == ["x-ray"]


@table(("returned", "got"), [(None, "NoneType"), (["a"], "str"), (7, "int"), ([None], "NoneType")])
def test_a_function_that_returns_no_memories_is_told_so(returned, got):
    with pytest.raises(TypeError, match=f"must return memories.*got {got}"):
        run(FunctionStage(function=lambda found, query: returned), [told("a")])


def test_a_function_must_not_wait():
    async def later(found, query):
        return found

    with pytest.raises(SettingsError, match="must not be async"):
        FunctionStage(function=later)


def test_a_function_of_one_argument_is_told_when_the_stage_is_made():
    with pytest.raises(SettingsError, match=r"with \(memories, query\); got one with \(f"):
        FunctionStage(function=lambda found: found)
    assert names(run(FunctionStage(function=lambda *given: given[0]), [told("a")])) == ["a"]
