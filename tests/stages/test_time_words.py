"""Which questions are worth asking a model about: those with a word that opens a time."""

from growth import TIMES, growth
from tables import table

from recall_retrievers.timeline.extract_time import asks_ahead, unread_time


@table(
    ("question", "words"),
    [
        ("Which bands did I like when I was in college?", " when I was in college"),
        ("What did I cook during the lockdown?", " during the lockdown"),
        ("Which car did I drive before I moved, and where?", " before I moved"),
        ("What did Anna say after the wedding?", " after the wedding"),
        ("How did I sleep while Tom was away?", " while Tom was away"),
        ("Wo wohnte ich, als wir heirateten?", ", als wir heirateten"),
        ("¿Qué comí durante la boda?", " durante la boda"),
        ("Où habitais-je avant le mariage ?", " avant le mariage "),
        ("疫情期间我在家做了什么？", "疫情期间"),
        ("子供の頃、何が怖かった？", "子供の頃"),
    ],
)
def test_a_word_that_opens_a_time_says_where(question: str, words: str) -> None:
    start, end = unread_time(question) or (0, 0)
    assert question[start:end] == words


@table(
    "question",
    [
        "When did I move to Berlin?",
        "When was the last time I saw the dentist?",
        "Tell me when I moved to Hamburg.",
        "Do you know when Anna graduated?",
        "Since you asked, what is my blood type?",
        "How long does the flight to Rome take?",
        "May I have a second opinion?",
        "我什么时候搬家的？",
        "我的电话号码是多少？",
    ],
)
def test_who_asks_for_a_time_names_none(question: str) -> None:
    assert unread_time(question) is None


@table("question", ["What will we do at Easter?", "What'll we eat?", "下周吃什么？"])
def test_a_question_may_look_ahead(question: str) -> None:
    assert asks_ahead(question)


@table("question", ["What did we do at Easter?", "Who is my dentist?", "婚礼之后呢？"])
def test_most_look_back(question: str) -> None:
    assert not asks_ahead(question)


def test_a_pasted_text_is_read_in_reasonable_time() -> None:
    for words in ("when ", "the day ", "before the a ", "在", "a"):

        def read(size: int, words: str = words) -> None:
            unread_time((words * size)[:size])

        assert growth(read, 1_250) < 3 * TIMES, words
