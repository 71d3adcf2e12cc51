from __future__ import annotations

import pytest
from timeline.cases import read

from recall_stages.timeline import extract_time

# The moment is Wednesday 2024-06-12, 15:30.
ONE_RANGE = [
    # days
    ("What did I eat yesterday?", "2024-06-11", "2024-06-12"),
    ("What did we decide today?", "2024-06-12", "2024-06-13"),
    ("the day before yesterday", "2024-06-10", "2024-06-11"),
    ("What is planned for tomorrow?", "2024-06-13", "2024-06-14"),
    ("the day after tomorrow", "2024-06-14", "2024-06-15"),
    ("What happened on Monday?", "2024-06-10", "2024-06-11"),
    ("What happened on Wednesday?", "2024-06-12", "2024-06-13"),
    ("What happened on Friday?", "2024-06-07", "2024-06-08"),
    ("What did I tell you about the dentist last Tuesday?", "2024-06-11", "2024-06-12"),
    ("last Wednesday", "2024-06-05", "2024-06-06"),
    ("this past Sunday", "2024-06-09", "2024-06-10"),
    ("next Friday", "2024-06-14", "2024-06-15"),
    ("two Fridays ago", "2024-05-31", "2024-06-01"),
    ("Tuesday of last week", "2024-06-04", "2024-06-05"),
    ("last week on Thursday", "2024-06-06", "2024-06-07"),
    ("Where was I on the 3rd?", "2024-06-03", "2024-06-04"),
    ("Where was I on the 20th?", "2024-05-20", "2024-05-21"),
    ("the 5th of last month", "2024-05-05", "2024-05-06"),
    # units
    ("What did we talk about last week?", "2024-06-03", "2024-06-10"),
    ("this week", "2024-06-10", "2024-06-17"),
    ("next week", "2024-06-17", "2024-06-24"),
    ("the week before last", "2024-05-27", "2024-06-03"),
    ("this month", "2024-06-01", "2024-07-01"),
    ("last month", "2024-05-01", "2024-06-01"),
    ("the month before last", "2024-04-01", "2024-05-01"),
    ("last quarter", "2024-01-01", "2024-04-01"),
    ("this year", "2024-01-01", "2025-01-01"),
    ("last year", "2023-01-01", "2024-01-01"),
    ("What did I do over the weekend?", "2024-06-08", "2024-06-10"),
    ("last weekend", "2024-06-08", "2024-06-10"),
    ("the weekend before last", "2024-06-01", "2024-06-03"),
    # rolling and ago
    ("in the past three days", "2024-06-09", "2024-06-12T15:30"),
    ("the last 2 weeks", "2024-05-29T15:30", "2024-06-12T15:30"),
    ("over the past month", "2024-05-12T15:30", "2024-06-12T15:30"),
    ("three days ago", "2024-06-09", "2024-06-10"),
    ("5 hours ago", "2024-06-12T10:00", "2024-06-12T11:00"),
    ("two weeks ago", "2024-05-27", "2024-06-03"),
    ("a fortnight ago", "2024-05-27", "2024-06-03"),
    ("three months ago", "2024-03-01", "2024-04-01"),
    ("half a year ago", "2023-12-01", "2024-01-01"),
    ("two years ago", "2022-01-01", "2023-01-01"),
    ("a couple of days ago", "2024-06-09", "2024-06-12"),
    ("a few days ago", "2024-06-07", "2024-06-11"),
    ("several days ago", "2024-06-04", "2024-06-10"),
    # months, dates, feasts
    ("What did I buy in March?", "2024-03-01", "2024-04-01"),
    ("in October", "2023-10-01", "2023-11-01"),
    ("in May", "2024-05-01", "2024-06-01"),
    ("in June", "2024-06-01", "2024-07-01"),
    ("on May 5", "2024-05-05", "2024-05-06"),
    ("on the 5th of May", "2024-05-05", "2024-05-06"),
    ("on December 24th", "2023-12-24", "2023-12-25"),
    ("on Feb 29th", "2024-02-29", "2024-03-01"),
    ("last March", "2024-03-01", "2024-04-01"),
    ("March last year", "2023-03-01", "2023-04-01"),
    ("on Christmas", "2023-12-25", "2023-12-26"),
    ("last Thanksgiving", "2023-11-23", "2023-11-24"),
    ("on Valentine's Day", "2024-02-14", "2024-02-15"),
    ("Easter 2023", "2023-04-09", "2023-04-10"),
    ("August 30, 2019", "2019-08-30", "2019-08-31"),
    ("17 April, 2018", "2018-04-17", "2018-04-18"),
    ("on 2023-05-07", "2023-05-07", "2023-05-08"),
    ("on 5/7/2023", "2023-05-07", "2023-05-08"),
    ("on 14/02/2024", "2024-02-14", "2024-02-15"),
    ("April twenty second nineteen seventy nine", "1979-04-22", "1979-04-23"),
    ("in 2021", "2021-01-01", "2022-01-01"),
    ("the 90s", "1990-01-01", "2000-01-01"),
    ("the nineteen-eighties", "1980-01-01", "1990-01-01"),
    ("Q1 2023", "2023-01-01", "2023-04-01"),
    ("Q3 last year", "2023-07-01", "2023-10-01"),
    # seasons and parts
    ("last summer", "2023-06-01", "2023-09-01"),
    ("in the autumn of 2017", "2017-09-01", "2017-12-01"),
    ("last winter", "2023-12-01", "2024-03-01"),
    ("early March", "2024-03-01", "2024-03-11"),
    ("mid-November", "2023-11-11", "2023-11-21"),
    ("the end of last month", "2024-05-21", "2024-06-01"),
    ("at the beginning of 2023", "2023-01-01", "2023-05-01"),
    ("the first half of April 2020", "2020-04-01", "2020-04-16"),
    ("the first week of February", "2024-02-01", "2024-02-08"),
    ("the first Monday of March", "2024-03-04", "2024-03-05"),
    ("the last Friday of last month", "2024-05-31", "2024-06-01"),
    ("the week of February 5", "2024-02-05", "2024-02-12"),
    # beside something
    ("the week before the launch on June 5", "2024-05-27", "2024-06-03"),
    ("the day after my birthday on June 5", "2024-06-06", "2024-06-07"),
    ("two days before Christmas", "2023-12-23", "2023-12-24"),
    ("the Tuesday before March 14, 2019", "2019-03-12", "2019-03-13"),
    ("the night before Christmas", "2023-12-23T21:00", "2023-12-24T05:00"),
    # parts of the day
    ("this morning", "2024-06-12T05:00", "2024-06-12T12:00"),
    ("yesterday evening", "2024-06-11T17:00", "2024-06-11T21:00"),
    ("last night", "2024-06-11T18:00", "2024-06-12T05:00"),
    ("Monday afternoon", "2024-06-10T12:00", "2024-06-10T17:00"),
    ("the evening of 9 August, 2018", "2018-08-09T17:00", "2018-08-09T21:00"),
    ("yesterday at 3pm", "2024-06-11T15:00", "2024-06-11T16:00"),
    ("yesterday from 2-5pm", "2024-06-11T14:00", "2024-06-11T17:00"),
    ("between 6 and 8:45 last night", "2024-06-11T18:00", "2024-06-11T20:45"),
    # two ends, or one
    ("between May and July 2023", "2023-05-01", "2023-08-01"),
    ("from March to May", "2024-03-01", "2024-06-01"),
    ("from Monday to Wednesday", "2024-06-10", "2024-06-13"),
    ("May 5 to 7", "2024-05-05", "2024-05-08"),
    ("since March", "2024-03-01", "2024-06-12T15:30"),
    ("since 2021", "2021-01-01", "2024-06-12T15:30"),
    ("before March", "..", "2024-03-01"),
    ("until yesterday", "..", "2024-06-12"),
    ("after April 2019", "2019-05-01", ".."),
    ("earlier this week", "2024-06-10", "2024-06-12T15:30"),
]

SEVERAL = [
    ("in June and in August", [("2024-06-01", "2024-07-01"), ("2023-08-01", "2023-09-01")]),
    ("in May and June 2022", [("2022-05-01", "2022-06-01"), ("2022-06-01", "2022-07-01")]),
    ("in July or September", [("2023-07-01", "2023-08-01"), ("2023-09-01", "2023-10-01")]),
    ("in February or October", [("2024-02-01", "2024-03-01"), ("2023-10-01", "2023-11-01")]),
    ("before 2012 or after 2020", [("..", "2012-01-01"), ("2021-01-01", "..")]),
]

NO_TIME = """
May I ask you something?
This may be a problem
I may go there
march forward with the plan
Can I get a second opinion?
the second of three books
Did the leaves fall off the tree?
The fall of Rome
What did I say about the sun?
We sat down to talk
They wed in white
Have I read 1984?
What did I think of 1984 the novel?
Do I like Cyberpunk 2077?
What do I think of Blade Runner 2049?
What did April say about the trip?
Is June coming to the party?
Do you like August Wilson?
Does Summer like dogs?
What did Jan cook?
Tell me about the 10-minute workout
How many hours of sleep do I need?
How long did the movie last?
It takes two weeks to ship
I have a 5 year old son
Marathon in under 4 hours
What is my phone number 555-123-4567?
My room number is 1204
Which room is 5/12B?
a 7/10 rating
24/7 support
It costs $2000
in 2000 words
after 10,000 steps
What is on the third floor?
What is the first step?
What is my favorite season?
What is my favorite Christmas movie?
What was the last book I read?
the last straw
the next step
the past is gone
the past tense of go
last but not least
Which day care do we use?
good morning
What do I drink in the morning?
meal of the day
the best time of the year
at the end of the day it matters
one day I will travel
Who is the man of the hour?
the password 2023abc
100,000 years ago
What about "Last Friday Night"?
"""


@pytest.mark.parametrize(("text", "start", "end"), ONE_RANGE)
def test_one_range(text: str, start: str, end: str) -> None:
    assert read(text) == [(start, end)]


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_several_ranges(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize("text", NO_TIME.strip().splitlines())
def test_what_names_no_time_yields_nothing(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("last Tuesday", "2024-06-04", "2024-06-05"),
        ("the past two weeks", "2024-05-27", "2024-06-10"),
        ("two weeks ago", "2024-05-29", "2024-05-30"),
        ("this week", "2024-06-10", "2024-06-12T15:30"),
        ("in June", "2023-06-01", "2023-07-01"),
        ("last night", "2024-06-11", "2024-06-12"),
        ("5/7/2023", "2023-07-05", "2023-07-06"),
        ("last summer", "2023-06-21", "2023-09-21"),
        ("the first week of February", "2024-01-29", "2024-02-05"),
        ("from March to May", "2024-03-01", "2024-05-01"),
    ],
)
def test_the_other_common_reading_is_kept(text: str, start: str, end: str) -> None:
    (found,) = extract_time(text, "2024-06-12T15:30:00+00:00")
    kept = [(one.start, one.end) for one in found.alternatives]
    expected = [
        (one.start, one.end)
        for one in found.alternatives
        if (one.start, one.end)
        and one.start is not None
        and one.end is not None
        and one.start.isoformat().startswith(start)
        and one.end.isoformat().startswith(end)
    ]
    assert expected, kept


def test_settings() -> None:
    assert read("last week", week_start="sunday") == [("2024-06-02", "2024-06-09")]
    assert read("on 5/7/2023", day_first=True) == [("2023-07-05", "2023-07-06")]
    assert read("last summer", hemisphere="south") == [("2023-12-01", "2024-03-01")]


def test_recurrence_matches_by_calendar_field() -> None:
    (found,) = extract_time("What do I do on Mondays?", "2024-06-12T15:30:00+00:00")
    assert found.recurrence is not None
    assert found.recurrence.weekdays == {0}
    (found,) = extract_time("every March", "2024-06-12T15:30:00+00:00")
    assert found.recurrence is not None
    assert found.recurrence.months == {3}


@pytest.mark.parametrize("word", ["recently", "lately", "a while ago", "years ago"])
def test_vague_words_are_soft_and_come_last(word: str) -> None:
    assert [one.soft for one in extract_time(f"I met him {word}", "2024-06-12T15:30Z")] == [True]
    mixed = extract_time(f"I met him {word} on 3 May 2023", "2024-06-12T15:30Z")
    assert mixed[0].describe() == "2023-05-03 (Wednesday)"


@pytest.mark.parametrize(
    ("text", "now", "start", "end"),
    [
        ("yesterday", "2020-03-01T12:00Z", "2020-02-29", "2020-03-01"),
        ("a month ago", "2023-03-31T12:00Z", "2023-02-01", "2023-03-01"),
        ("last week", "2021-01-03T12:00Z", "2020-12-21", "2020-12-28"),
        ("week 53 2020", "2021-06-01T12:00Z", "2020-12-28", "2021-01-04"),
        ("on Feb 29th", "2023-06-01T12:00Z", "2020-02-29", "2020-03-01"),
        ("last year", "2024-01-01T00:00Z", "2023-01-01", "2024-01-01"),
        ("over the weekend", "2024-06-15T12:00Z", "2024-06-15", "2024-06-17"),
        ("last weekend", "2024-06-16T12:00Z", "2024-06-08", "2024-06-10"),
    ],
)
def test_edges_of_the_calendar(text: str, now: str, start: str, end: str) -> None:
    assert read(text, now) == [(start, end)]
