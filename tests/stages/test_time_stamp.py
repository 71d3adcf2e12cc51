"""What a stamp must keep: the ranges, how else they can be read, and what comes back."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.stage import stamped, stamped_ranges, time_stamp
from recall_retrievers.timeline import extract_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)  # a Friday

TEXTS = ("last Tuesday", "on Mondays", "recently", "in May or on 3 June at noon", "上周二")
ranges = st.lists(st.sampled_from([each for x in TEXTS for each in extract_time(x, NOW)]))


@given(ranges.filter(len))
def test_the_ranges_stand_on_every_candidate_until_others_do(given_ranges) -> None:
    old = extract_time("yesterday", NOW)
    found = stamped([Candidate(content="a"), Candidate(content="b")], old)

    again = stamped(found, given_ranges)

    assert stamped_ranges([Candidate(content="c"), *again]) == tuple(given_ranges)
    assert all(len(each.steps) == 1 for each in again)
    assert stamped(again, []) == (Candidate(content="a"), Candidate(content="b"))


@given(ranges)
def test_a_stamp_is_flat_text(given_ranges) -> None:
    assert all(isinstance(value, str) for value in time_stamp(given_ranges).values())


def test_a_stamp_can_be_read_by_a_person() -> None:
    [tuesday] = extract_time("last Tuesday", NOW)
    [mondays] = extract_time("on Mondays", NOW)
    [recently] = extract_time("recently", NOW)

    assert time_stamp([tuesday]) == {
        "time_range": "2024-03-05T00:00:00+00:00/2024-03-06T00:00:00+00:00",
        "time_words": "last Tuesday",
        "time_alternatives": "2024-02-27T00:00:00+00:00/2024-02-28T00:00:00+00:00",
    }
    assert time_stamp([mondays]) == {
        "time_range": "../.. every Monday",
        "time_words": "on Mondays",
    }
    assert str(time_stamp([recently])["time_range"]).startswith("~")
