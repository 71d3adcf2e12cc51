"""ExtractTime: the range on the query, and the question without its words of time."""

from datetime import UTC, datetime

from stages.scripted import answered
from tables import table

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall, stamped_ranges
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.timeline import extract_time
from recall_retrievers.timeline.extract_time import without_time_words

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)


@table(
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


def test_beside_a_time_of_the_caller_words_of_time_name_none_and_are_not_searched() -> None:
    may = tuple(extract_time("in May 2023", NOW))
    asked = Query(text="What did I eat yesterday?", reference_time=NOW, time_ranges=may)

    query = ExtractTime().apply(Recall(asked)).query

    assert (query.search_text, query.time_ranges) == ("What did I eat?", may)


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

    assert ExtractTime().apply(asked) == asked


def test_the_time_of_another_question_does_not_stay_on_the_candidates() -> None:
    yesterday = Recall(Query(text="tea yesterday", reference_time=NOW), (Memory(content="a"),))
    reused = ExtractTime().apply(yesterday).memories

    later = ExtractTime().apply(Recall(Query(text="Who likes tea?", reference_time=NOW), reused))

    assert stamped_ranges(later.memories) == ()


def test_a_question_of_nothing_but_time_is_searched_whole() -> None:
    text = "last Tuesday?"

    assert without_time_words(text, extract_time(text, NOW)) == text


LOCKDOWN = '{"words": "during the lockdown", "start": "2020-03-22", "end": "2020-05-04"}'


def asked_with_a_model(question: str, reply: object) -> tuple[Recall, list[str]]:
    asked = Recall(Query(text=question, reference_time=NOW), (Memory(content="a"),))
    return answered([ExtractTime(llm=object())], asked, reply)


def test_a_model_is_asked_where_the_grammar_cannot_read_the_words_of_time() -> None:
    understood, prompts = asked_with_a_model("What did I cook during the lockdown?", LOCKDOWN)

    [found] = understood.query.time_ranges
    assert found.describe() == "2020-03-22 to 2020-05-04"
    assert understood.query.search_text == "What did I cook?"
    assert understood.memories[0].trace["time_words"] == "during the lockdown"
    assert len(prompts) == 1
    assert "Asked on 2024-03-08 (Friday), time zone UTC:" in prompts[0]
    assert understood.fallbacks == ()


@table(
    "question",
    [
        "Who is my dentist?",
        "When did I move?",
        "May I have a second opinion?",
        "What did I cook yesterday, during the lockdown?",  # read already
        "What did I do lately?",
        "我的牙医是谁？",
        "",
    ],
)
def test_no_model_is_asked_where_no_time_is_left_to_read(question: str) -> None:
    _, prompts = asked_with_a_model(question, LOCKDOWN)

    assert prompts == []


def test_without_a_model_words_of_time_that_cannot_be_read_are_passed_over() -> None:
    asked = Recall(Query(text="What did I cook during the lockdown?", reference_time=NOW))

    assert ExtractTime().apply(asked) == asked


@table("reply", ['{"start": null, "end": null}', '{"start": null}'])
def test_a_model_that_knows_no_time_did_its_work(reply: str) -> None:
    understood, _ = asked_with_a_model("Where did I live when I was in college?", reply)

    assert understood.query.time_ranges == ()
    assert understood.query.search_text == ""
    assert set(understood.memories[0].trace) == {"usage"}


@table(
    ("reply", "why"),
    [
        (ConnectionError("the model is down"), "ConnectionError: the model is down"),
        ("I cannot help with that.", "ReplyError: expected a start and an end"),
    ],
)
def test_a_model_that_fails_gives_no_time_and_is_named(reply: object, why: str) -> None:
    understood, _ = asked_with_a_model("What did I cook during the lockdown?", reply)

    assert understood.query.time_ranges == ()
    assert str(understood.memories[0].trace["degraded"]).startswith(f"ExtractTime: {why}")


def test_words_that_the_model_did_not_quote_stay_in_the_search() -> None:
    understood, _ = asked_with_a_model(
        "What did I cook during the lockdown?", '{"start": "2020", "end": "2020"}'
    )

    assert understood.query.time_ranges[0].span is None
    assert understood.query.search_text == understood.query.text
