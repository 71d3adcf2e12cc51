from datetime import UTC

from tables import table
from timeline.cases import NOW, read, short
from timeline.english_cases import ONE_RANGE, SEVERAL

from recall_retrievers.timeline import extract_time


@table(("text", "start", "end"), ONE_RANGE)
def test_one_range(text: str, start: str, end: str) -> None:
    assert read(text) == [(start, end)]


@table(("text", "expected"), SEVERAL)
def test_several_ranges(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == expected


@table(
    ("text", "start", "end"),
    [
        ("last Tuesday", "2024-06-04", "2024-06-05"),
        ("the past two weeks", "2024-05-27", "2024-06-10"),
        ("two weeks ago", "2024-05-29", "2024-05-30"),
        ("next Friday", "2024-06-21", "2024-06-22"),
        ("this week", "2024-06-10", "2024-06-12T15:30"),
        ("in June", "2023-06-01", "2023-07-01"),
        ("last night", "2024-06-11", "2024-06-12"),
        ("5/7/2023", "2023-07-05", "2023-07-06"),
        ("last summer", "2023-06-21", "2023-09-21"),
        ("the first week of February", "2024-01-29", "2024-02-05"),
        ("from March to May", "2024-03-01", "2024-05-01"),
        ("the past two weeks", "2024-05-29", "2024-06-12"),
        ("year to date", "2024-01-01", "2024-06-12"),
        ("in the last month", "2024-05-12T15:30", "2024-06-12T15:30"),
        ("Tuesday night", "2024-06-11", "2024-06-12"),
        ("yesterday evening", "2024-06-11", "2024-06-12"),
        ("late July", "2023-07-16", "2023-08-01"),
        ("since late July", "2023-07-16", "2024-06-12T15:30"),
        ("early 2021", "2021-01-01", "2021-07-01"),
        ("last season", "2024-03-21", "2024-06-21"),
    ],
)
def test_the_other_common_reading_is_kept(text: str, start: str, end: str) -> None:
    (found,) = extract_time(text, NOW)
    assert (start, end) in [(short(one.start), short(one.end)) for one in found.alternatives]


@table(
    ("text", "words"),
    [
        ("What did we talk about last Sunday?", "last Sunday"),
        ("Tell me about May 5, please", "May 5"),
        ("What did I learn about two weeks ago?", "two weeks ago"),
        ("What did we cook about two weeks ago?", "about two weeks ago"),
        ("Who came around mid-June with us?", "around mid-June"),
        ("What happened this past Sunday at home?", "this past Sunday"),
        ("Where was I a couple weeks back then?", "a couple weeks back"),
        ("in October two thousand and returned", "in October two thousand"),
        ("the first of the month was wet", "the first of the month"),
        ("Which plan was made by the end of last month, and why?", "by the end of last month"),
        ("How was last week's meeting?", "last week's"),
        ("What was said in yesterday's meeting?", "yesterday's"),
        ("What was I working on at the end of Q1?", "at the end of Q1"),
        ("What have I cooked since I moved in March?", "since I moved in March"),
        (
            "Whom did I meet last Friday, as mentioned on 5 May 2023?",
            "last Friday, as mentioned on 5 May 2023",
        ),
    ],
)
def test_the_span_holds_the_words_of_time_and_no_others(text: str, words: str) -> None:
    assert [one.text for one in extract_time(text, NOW)] == [words]


@table(
    ("text", "told"),
    [
        ("on Mondays", "every Monday"),
        ("every Monday and Wednesday in March", "every Monday, Wednesday in March"),
        (
            "every Tuesday and Thursday 19:00 - 21:00",
            "every Tuesday, Thursday at hours 19, 20",
        ),
        ("on weekdays", "every Monday, Tuesday, Wednesday, Thursday, Friday"),
        ("every day at 7am", "every day at hours 7"),
        ("every year on May 5", "every day on day 5 in May"),
        ("in the mornings", "every day at hours 5, 6, 7, 8, 9, 10, 11"),
        ("on Monday mornings", "every Monday at hours 5, 6, 7, 8, 9, 10, 11"),
        (
            "on the 1st, 2nd and 5th of May",
            "every day on day 1, 2, 5, 2024-05-01 to 2024-05-05",
        ),
        ("the last three Mondays", "every Monday, 2024-05-27 to 2024-06-10"),
    ],
)
def test_what_comes_back_is_told_by_calendar_fields(text: str, told: str) -> None:
    assert [one.describe() for one in extract_time(f"What do I do {text}?", NOW)] == [told]


def test_no_reading_is_kept_twice() -> None:
    (found,) = extract_time("It happened the year before 2015", NOW)
    assert found.alternatives == ()


def test_settings() -> None:
    assert read("last week", week_start="sunday") == [("2024-06-02", "2024-06-09")]
    assert read("on 5/7/2023", day_first=True) == [("2023-07-05", "2023-07-06")]
    assert read("last summer", hemisphere="south") == [("2023-12-01", "2024-03-01")]


@table("word", ["recently", "lately", "a while ago", "years ago"])
def test_vague_words_are_soft_and_come_last(word: str) -> None:
    assert [one.soft for one in extract_time(f"I met him {word}", "2024-06-12T15:30Z")] == [True]
    mixed = extract_time(f"I met him {word} on 3 May 2023", "2024-06-12T15:30Z")
    assert mixed[0].describe() == "2023-05-03 (Wednesday)"


@table(
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
        ("this year so far", "2024-01-01T00:00Z", "2024-01-01", "2025-01-01"),
        ("on Black Friday", "2024-06-12T12:00Z", "2023-11-24", "2023-11-25"),
    ],
)
def test_edges_of_the_calendar(text: str, now: str, start: str, end: str) -> None:
    assert read(text, now) == [(start, end)]


@table("text", ["on 31 March 2024 at 2 am", "on 31 March 2024 between 2 and 3 am"])
def test_the_hour_that_a_clock_change_skips_is_an_hour(text: str) -> None:
    (found,) = extract_time(f"What did I write {text}?", NOW, timezone="Europe/Berlin")
    start, end = (one.astimezone(UTC).hour for one in (found.start, found.end))
    assert (start, end) == (1, 2)
