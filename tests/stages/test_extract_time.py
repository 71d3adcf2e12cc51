"""ExtractTime: the range on the query, and the question without its words of time."""

from datetime import UTC, datetime

import pytest

from recall_stages.extract_time import ExtractTime, without_time_words
from recall_stages.memory import Memory, Query
from recall_stages.stage import Recall
from recall_stages.time_stamp import stamped_ranges
from recall_stages.timeline import extract_time

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "stripped"),
    [
        ("What did I eat yesterday?", "What did I eat?"),
        ("Last Tuesday, what did the dentist say?", "what did the dentist say?"),
        ("the dentist last Tuesday", "the dentist"),
        ("yesterday", "yesterday"),
        ("昨天我吃了什么？", "我吃了什么？"),
        ("Where is the dentist?", "Where is the dentist?"),
    ],
)
def test_the_words_of_time_are_left_out_of_the_search(question: str, stripped: str) -> None:
    query = ExtractTime().apply(Recall(Query(text=question, reference_time=NOW))).query

    assert (query.search_text or query.text) == stripped


def test_stripping_is_a_setting() -> None:
    asked = Recall(Query(text="tea yesterday", reference_time=NOW))

    query = ExtractTime(strip=False).apply(asked).query

    assert query.time_ranges
    assert query.search_text == ""


def test_settings_reach_the_calendar() -> None:
    asked = Recall(Query(text="the call on 5/7/2023", reference_time=NOW))

    [may] = ExtractTime().apply(asked).query.time_ranges
    [july] = ExtractTime(day_first=True).apply(asked).query.time_ranges

    assert (may.start.month, july.start.month) == (5, 7)


def test_a_question_that_names_no_time_passes_as_it_is() -> None:
    asked = Recall(
        Query(text="May I ask about the dentist?", reference_time=NOW), (Memory(content="a"),)
    )

    assert ExtractTime().apply(asked) is asked


def test_what_was_understood_can_be_read_off_the_candidates() -> None:
    asked = Recall(
        Query(text="tea in January or in February", reference_time=NOW), (Memory(content="a"),)
    )

    understood = ExtractTime().apply(asked)

    read = stamped_ranges(understood.memories)
    assert [(r.start, r.end, r.text) for r in read] == [
        (r.start, r.end, r.text) for r in understood.query.time_ranges
    ]


def test_a_question_of_nothing_but_time_is_searched_whole() -> None:
    text = "last Tuesday?"

    assert without_time_words(text, extract_time(text, NOW)) == text
