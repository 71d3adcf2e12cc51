"""FuseRerank, sessions: a turn counts more where a better one was said in its session."""

from datetime import UTC, datetime, timedelta

import pytest
from tables import table

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.query import Query
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.stage import Recall
from recall_retrievers.explain.rows import rows
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.timeline import TimeRange

NOON = datetime(2024, 3, 5, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def turn(said: str, score: float, at: datetime | None = NOON, **fields: object) -> Candidate:
    given = {"memory_type": "conversation", "created_at": at, "turn_before": "1", **fields}
    return Candidate(content=said, id=said, score=score, **given)


def fused(
    *told: Candidate, stage: FuseRerank | None = None, ranges=(), text="x"
) -> list[Candidate]:
    query = Query(text=text, reference_time=NOON + 30 * DAY, time_ranges=ranges)
    return list((stage or FuseRerank(top_n=50)).apply(Recall(query, told)).memories)


def order(*told: Candidate, **how: object) -> list[str]:
    return [memory.id for memory in fused(*told, **how)]


def ratios(*told: Candidate) -> dict[str, float]:
    return {each.id: each.trace["session_ratio"] for each in fused(*told)}


ANSWER = turn("answer", 0.9)


def test_what_was_said_beside_an_answer_comes_before_its_equal_from_elsewhere() -> None:
    beside = turn("beside", 0.4, NOON + timedelta(minutes=10))
    elsewhere, better = (turn(x, s, NOON - 7 * DAY) for x, s in (("else", 0.42), ("better", 0.7)))

    assert order(elsewhere, beside, ANSWER, better) == ["answer", "better", "beside", "else"]
    switched_off = FuseRerank(fuse_session_share=0)
    assert order(elsewhere, beside, ANSWER, stage=switched_off) == ["answer", "else", "beside"]


def test_a_turn_is_lifted_towards_the_best_of_its_session_which_stays_as_it_is() -> None:
    [first, second] = fused(ANSWER, turn("beside", 0.4))

    assert first.score == pytest.approx(0.5 * 0.9)
    assert second.score == pytest.approx(0.5 * (0.4 + 0.2 * (0.9 - 0.4)))
    assert any("for a better one of its session" in row.label for row in rows(second))


def test_a_memory_that_stands_alone_loses_nothing_to_a_long_talk() -> None:
    talk = [turn(f"talk {n}", 0.8) for n in range(5)]
    alone = turn("alone", 0.81, NOON - 7 * DAY, turn_before="")

    assert order(*talk, alone)[0] == "alone"


@table(
    "other",
    [
        turn("after a pause", 0.4, NOON + timedelta(hours=1)),
        turn("before a pause", 0.4, NOON - timedelta(hours=1)),
        turn("at no known time", 0.4, None),
        turn("of another user", 0.4, scope=Scope(user_id="bob")),
        turn("of another session", 0.4, scope=Scope(session_id="2")),
        turn("a note", 0.4, memory_type="observation"),
    ],
    ids=lambda memory: memory.id,
)
def test_what_was_not_said_in_its_session_gains_nothing(other: Candidate) -> None:
    assert ratios(ANSWER, other) == {"answer": 1, other.id: 1}


def test_notes_of_which_none_answers_another_are_no_session() -> None:
    notes = [turn("answer", 0.9, turn_before=""), turn("beside", 0.4, turn_before="")]

    assert ratios(*notes) == {"answer": 1, "beside": 1}


def test_a_session_goes_on_as_long_as_no_pause_is_made() -> None:
    every_half_hour = [turn(str(n), 0.4, NOON + n * timedelta(minutes=30)) for n in range(1, 9)]

    assert all(
        ratio > 1 for name, ratio in ratios(ANSWER, *every_half_hour).items() if name != "answer"
    )


def test_what_was_said_by_whom_the_question_does_not_mean_speaks_less() -> None:
    by_ann = turn("by Ann", 0.5, author="Ann")
    beside = turn("beside", 0.3)
    by_bob = turn("by Bob", 0.5, NOON - 7 * DAY, author="Bob")
    beside_bob = turn("beside Bob", 0.3, NOON - 7 * DAY)

    found = order(beside_bob, by_bob, beside, by_ann, text="What does Ann like?")

    assert found == ["by Ann", "by Bob", "beside", "beside Bob"]


def test_the_rest_of_a_session_does_not_come_with_what_answers() -> None:
    """Not even where the session more than doubles what it is worth."""
    told = [turn("answer", 1.0), turn("beside the point", 0.05)]

    assert order(*told, stage=FuseRerank(fuse_session_share=0.5)) == ["answer"]
    assert order(*told, stage=FuseRerank(fuse_session_share=0.5, fuse_score_threshold=0)) == [
        "answer",
        "beside the point",
    ]


def test_fused_again_after_a_cut_nothing_changes() -> None:
    told = [ANSWER, turn("beside", 0.4), turn("elsewhere", 0.42, NOON - 7 * DAY)]
    cut = fused(*told, stage=FuseRerank(top_n=2))

    assert fused(cut[1]) == [cut[1]]


def test_the_time_asked_about_counts_for_all_of_it() -> None:
    range_ = TimeRange(NOON, NOON + DAY, "day", text="that day")

    [first, second] = fused(ANSWER, turn("beside", 0.4), ranges=(range_,))

    ratio = first.trace["time_ratio"]

    assert ratio == second.trace["time_ratio"] > 1.9
    assert second.score == pytest.approx(first.score * (0.4 + 0.2 * 0.5) / 0.9)
