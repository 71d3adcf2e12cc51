"""What a reader is told about the time that was understood."""

from datetime import UTC, datetime

from tables import table

from recall_retrievers.core.candidate import Candidate, Step
from recall_retrievers.core.recall import OUTCOME
from recall_retrievers.core.stage import stamped, stamped_ranges
from recall_retrievers.explain.explanation import explain
from recall_retrievers.timeline import TimeRange, extract_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)  # a Friday
LAST_TUESDAY = (
    '"last Tuesday" is understood as 2024-03-05 (Tuesday); also possible: 2024-02-27 (Tuesday)'
)


def understood(ranges: list[TimeRange]) -> str:
    return explain(stamped([Candidate(content="Tea.")], ranges)).understood()


@table(
    ("question", "said"),
    [
        ("tea last Tuesday", LAST_TUESDAY),
        ("tea yesterday", '"yesterday" is understood as 2024-03-07 (Thursday)'),
        ("tea lately", '"lately" is understood as recently: newer memories first'),
        ("tea on Mondays", '"on Mondays" is understood as every Monday'),
        ("tea ages ago", '"ages ago" is understood as long ago: before 2023-03-08 12:00'),
        ("tea", ""),
    ],
)
def test_what_was_understood_is_told_with_what_else_it_may_mean(question: str, said: str) -> None:
    assert understood(extract_time(question, NOW)) == said


def test_each_time_has_a_line_and_one_whose_words_are_not_known_as_well() -> None:
    spring = TimeRange(datetime(2020, 3, 22, tzinfo=UTC), datetime(2020, 5, 5, tzinfo=UTC), "day")

    assert understood(extract_time("tea in January and on Mondays", NOW)).count("\n") == 1
    assert understood([spring]) == "the time asked about is understood as 2020-03-22 to 2020-05-04"


@table(
    ("degraded", "said"),
    [
        ("ExtractTime: ReplyError: expected a start", "No time was understood"),
        ("BuildQuery: TimeoutError; ExtractTime: TimeoutError", "No time was understood"),
        ("SemanticRank: TimeoutError", ""),
        ("", ""),
    ],
)
def test_where_a_model_failed_nothing_was_understood(degraded: str, said: str) -> None:
    notes = {"degraded": degraded} if degraded else {}

    shown = explain([Candidate(content="Tea.", steps=(Step("outcome", notes=notes),))])

    assert shown.understood().startswith(said)
    assert bool(shown.understood()) == bool(said)
    assert ("No time was understood" in str(shown)) == bool(said)


def test_brackets_in_the_name_of_a_stage_are_shown_as_they_are() -> None:
    left_out = Step(OUTCOME, about="3 left out by [bold]Mine[/x]")

    assert "3 left out by [bold]Mine[/x]" in str(
        explain([Candidate(content="Tea.", steps=(left_out,))])
    )


def test_a_stamp_can_be_read_by_a_person_and_stays_until_another_question() -> None:
    texts = ("last Tuesday", "on Mondays", "recently")
    ranges = tuple(each for text in texts for each in extract_time(text, NOW))
    tea = Candidate(content="Tea.")

    [stamped_once] = stamped(stamped([tea], extract_time("yesterday", NOW)), ranges)

    tuesday = "2024-03-05T00:00:00+00:00/2024-03-06T00:00:00+00:00"
    written, words, others = stamped_once.trace.values()
    assert str(written).startswith(f"{tuesday} | ../.. every Monday | ~")
    assert words == "last Tuesday | on Mondays | recently"
    assert others == "2024-02-27T00:00:00+00:00/2024-02-28T00:00:00+00:00 |  | "
    assert stamped_ranges([tea, stamped_once]) == ranges
    assert stamped([stamped_once], []) == (tea,)
