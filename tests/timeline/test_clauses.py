"""Clauses around a time, and the tense of a question."""

from tables import table
from timeline.cases import NOW, calls, read, short

from recall_retrievers.timeline import extract_time


def test_the_day_of_the_mention_stays_as_another_reading() -> None:
    (found,) = extract_time("Whom did I meet last Friday, as mentioned on 5 May 2023?", NOW)
    assert short(found.start) == "2023-04-28"
    assert "2023-05-05" in [short(one.start) for one in found.alternatives]


@table(
    ("text", "expected"),
    [
        (  # a reason, and no beginning
            "Since you asked about the trip in May, what did I say?",
            [("2024-05-01", "2024-06-01")],
        ),
        (  # a reason again
            "Help me with it, especially since I got it on 3 May.",
            [("2024-05-03", "2024-05-04")],
        ),
        ("Help me, since it's already March 2024.", [("2024-03-01", "2024-04-01")]),
        (  # it has a beginning of its own
            "What changed, since I've won ten readers since 3 May 2024?",
            [("2024-05-03", "2024-06-12T15:30")],
        ),
        ("What did I plan after Dawn came?", []),
        (  # only a day can be counted from
            "What did I do yesterday, as mentioned in March 2023?",
            [("2024-06-11", "2024-06-12"), ("2023-03-01", "2023-04-01")],
        ),
        (  # a date of its own does not count from anything
            "What did I buy on 3 March 2023, as mentioned on 5 May 2023?",
            [("2023-03-03", "2023-03-04"), ("2023-05-05", "2023-05-06")],
        ),
        (  # too far apart to share a week
            "What about Monday and 3 May 2023?",
            [("2024-06-10", "2024-06-11"), ("2023-05-03", "2023-05-04")],
        ),
        ("Who was Friday's speaker?", [("2024-06-07", "2024-06-08")]),
        ("二零二三年中我做了什么？", [("2023-05-01", "2023-09-01")]),
    ],
)  # fmt: skip
def test_what_a_clause_leaves_as_it_is(text: str, expected: list[tuple[str, str]]) -> None:
    assert read(text) == expected


@table(
    ("text", "start", "end"),
    [
        ("Which day did we choose, 8/5/2024?", "2024-05-08", "2024-05-09"),
        ("The deadline is 8/5/2024.", "2024-08-05", "2024-08-06"),
        ("What did we do this Friday?", "2024-06-07", "2024-06-08"),
        ("Which trip have I planned for this Friday?", "2024-06-14", "2024-06-15"),
        ("What did we do at the end of the year?", "2023-12-01", "2024-01-01"),
        ("What is due at the end of the year?", "2024-12-01", "2025-01-01"),
        ("Where will I be on 7 May?", "2025-05-07", "2025-05-08"),
        ("Where are we going in May?", "2025-05-01", "2025-06-01"),
        ("Where were we going in May?", "2024-05-01", "2024-06-01"),
        ("What will happen from May to September?", "2024-05-01", "2024-10-01"),
    ],
)
def test_the_tense_decides_between_past_and_to_come(text: str, start: str, end: str) -> None:
    assert read(text) == [(start, end)]


def test_a_long_text_is_not_read_anew_for_each_day() -> None:
    """In a message, days are counted from a mention before them; a pasted diary is read once."""
    diary = "I met Ann on 3 March 2023, as mentioned on 5 May 2023. "
    message, pasted = (calls(extract_time, diary * times, NOW) for times in (10, 20))
    assert pasted < message / 2


def test_on_a_saturday_the_coming_weekend_is_the_next_one() -> None:
    assert read("the upcoming weekend", "2024-06-15T12:00Z") == [("2024-06-22", "2024-06-24")]
