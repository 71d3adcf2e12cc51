"""What a model replies about a time, the range read from it, and the examples it is shown."""

from datetime import datetime

import pytest
from tables import table

from recall_retrievers.core.errors import ReplyError
from recall_retrievers.core.query import Query
from recall_retrievers.llm.time_question import ASKED_AT, EXAMPLES, read_time
from recall_retrievers.timeline import extract_time
from recall_retrievers.timeline.extract_time import unread_time

NOW = datetime.fromisoformat("2024-06-12T15:30:00+02:00")  # a Wednesday
PAST = Query(text="What did I cook during the lockdown?", reference_time=NOW)
AHEAD = Query(text="What will we do over Ramadan?", reference_time=NOW)
SPRING = "2020-03-22 to 2020-05-04"

READ = [
    ('{"start": "2020-03-22", "end": "2020-05-04"}', SPRING),
    ('[{"end": "2020-05-04", "start": "2020-03-22"}]', SPRING),
    ('{"start": "2020-03-22T00:00:00", "end": "2020-05-04T23:59:59"}', SPRING),
    ('{"start": "2020-04", "end": "2020-04"}', "2020-04-01 to 2020-04-30"),
    ('{"start": 2020, "end": 2021}', "2020-01-01 to 2021-12-31"),
    ('{"start": null, "end": "2020-02"}', "before 2020-03-01"),
    ('{"start": "2024-06-01", "end": null}', "2024-06-01 to 2024-06-12"),
    ('{"start": "March 2020", "end": "May 2020"}', "2020-03-01 to 2020-05-31"),
    ('```json\n{"start": "2020-03-22", "end": "2020-05-04",}\n```\nHope this helps!', SPRING),
    ('{"time_range": {"start": "2020-03-22", "end": "2020-05-04"}, "confidence": 0.8}', SPRING),
    ('<think>{"start": "2021"}</think>{"start": "2020-03-22", "end": "2020-05-04"}', SPRING),
    ('{ # begins\n"start": "2020-03-22", // ends\n"end": "2020-05-04", /* so */\n}', SPRING),
    (2 * '{"words": "lockdown", "start": "2020-03-22", "end": "2020-05-04"}', SPRING),
]
REFUSED = {
    "empty": ("", "expected a start and an end"),
    "prose": ("That was in the spring of 2020.", "expected a start and an end"),
    "huge": ("x" * 300_000, "300000 characters"),
    "deep": ("[" * 150_000, "expected a start and an end"),
    "another shape": ('{"scores": [{"memory": 1, "score": 0.8}]}', "expected a start and an end"),
    "words": ('{"start": "the lockdown", "end": null}', "expected a date such as 2024-05-01"),
    "an object": ('{"start": {"year": 2020}, "end": []}', "expected a date such as"),
    "no such day": ('{"start": "2023-02-29", "end": "2023-03-01"}', "expected a date such as"),
    "reversed": ('{"start": "2020-05-04", "end": "2020-03-22"}', "start must be before end"),
    "the Middle Ages": ('{"start": "1020-03-22", "end": "1020-05-04"}', "the year 1020"),
    "far ahead": ('{"start": "2060-03-22", "end": "2060-05-04"}', "the year 2060"),
    "too long": ('{"start": "1901-01-01", "end": "2024-01-01"}', "longer than a century"),
    "to come": ('{"start": "2024-09", "end": "2024-09"}', "still to come"),
}


@table(("reply", "described"), READ)
def test_a_reply_is_read(reply: str, described: str) -> None:
    found = read_time(reply, PAST)

    assert found is not None
    assert found.describe().startswith(described)


def test_a_model_may_know_no_time() -> None:
    assert read_time('```json\n{"start": null, "end": null, "words": ""}\n```', PAST) is None


@table(("reply", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_reply_is_an_error_with_the_reason(reply: str, why: str) -> None:
    with pytest.raises(ReplyError) as error:
        read_time(reply, PAST)

    assert why in str(error.value)


def test_a_time_to_come_is_read_where_the_question_looks_ahead() -> None:
    found = read_time('{"start": "2025-03-01", "end": "2025-03-29"}', AHEAD)

    assert found is not None
    assert found.describe() == "2025-03-01 to 2025-03-29"


@table(
    ("words", "text", "span"),
    [
        ('"During the Lockdown"', "during the lockdown", (16, 35)),
        ('"the lockdown"', "the lockdown", (23, 35)),
        ('"in the lockdown"', "", None),  # not in the question
        ('"What did I cook"', "What did I cook", None),  # the subject: it stays in the search
        ('""', "", None),
        ("7", "", None),
    ],
)
def test_the_words_are_those_of_the_question(words, text, span) -> None:
    found = read_time(f'{{"words": {words}, "start": "2020", "end": "2020"}}', PAST)

    assert found is not None
    assert (found.text, found.span) == (text, span)


def test_a_range_has_the_time_zone_of_the_question() -> None:
    found = read_time('{"start": "2020-03-22", "end": "2020-05-04T21:59:59Z"}', PAST)

    assert found is not None
    assert found.start == datetime.fromisoformat("2020-03-22T00:00:00+02:00")
    assert found.end == datetime.fromisoformat("2020-05-05T00:00:00+02:00")


# The same stretch of time in words that the calendar reads, or none.
IN_OTHER_WORDS = {
    "What did I say during the Tokyo Olympics?": "from July 23, 2021 to August 8, 2021",
    "Where were we while the millennium turned?": "from December 31, 1999 to January 1, 2000",
    "北京冬奥会期间我去了哪里？": "from February 4, 2022 to February 20, 2022",
    "Which bands did I like when I was in college?": "",
    "婚礼之后我住在哪里？": "",
}


@pytest.mark.parametrize("question", EXAMPLES)
def test_an_example_is_right(question: str) -> None:
    """Where the calendar can say it in other words, both are the same days."""
    found = read_time(EXAMPLES[question], Query(text=question, reference_time=ASKED_AT))
    words = IN_OTHER_WORDS[question]

    assert unread_time(question), "an example that no model is asked about"
    if words == "":
        assert found is None
        return
    [known] = extract_time(words, ASKED_AT)
    assert found is not None
    assert (found.start, found.end) == (known.start, known.end)
    assert found.text == question[slice(*(found.span or (0, 0)))]
