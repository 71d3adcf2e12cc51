"""Which language a text is read in, and what its grammar must not read."""

from datetime import timedelta

from tables import table
from timeline.cases import NOW, calls, read

from recall_retrievers.timeline import extract_time


@table(
    ("text", "start", "end"),
    [
        ("Was habe ich gestern gegessen?", "2024-06-11", "2024-06-12"),
        ("WAS HABE ICH GESTERN GEGESSEN?", "2024-06-11", "2024-06-12"),
        ("que hice el miercoles pasado", "2024-06-05", "2024-06-06"),  # typed without accents
        ("Qu’ai-je mangé hier ?", "2024-06-11", "2024-06-12"),
        ("昨日何を食べた？", "2024-06-11", "2024-06-12"),
        ("¿Qué dije en la reunión last Monday?", "2024-06-10", "2024-06-11"),
        ("Was steht in der Mail vom last Monday?", "2024-06-10", "2024-06-11"),
        (
            "我昨天学了さよなら，你还记得吗？",
            "2024-06-11",
            "2024-06-12",
        ),  # Chinese with a quotation
        ("Was tat ich am Montag 3 Stunden lang?", "2024-06-10", "2024-06-11"),
        ("What was on the menu of the Café last Tuesday?", "2024-06-11", "2024-06-12"),
    ],
)
def test_the_language_is_found(text: str, start: str, end: str) -> None:
    assert read(text) == [(start, end)]


@table(
    ("text", "first", "end"),
    [
        ("What did we do over Christmas?", "2023-12-24", "2023-12-28"),
        ("Where were we during Christmas 2021?", "2021-12-24", "2021-12-28"),
        ("What did we do at Christmas?", "2023-12-25", "2023-12-26"),
        ("What did we do over Christmas Eve?", "2023-12-24", "2023-12-25"),
        ("Who came over the Christmas holidays?", "2023-12-24", "2024-01-02"),
        ("Was haben wir über Weihnachten gemacht?", "2023-12-24", "2023-12-28"),
        ("Wer war an den Weihnachtstagen hier?", "2023-12-24", "2023-12-28"),
        ("¿Qué hicimos durante la Navidad?", "2023-12-24", "2023-12-28"),
        ("¿Qué hicimos en Navidad?", "2023-12-25", "2023-12-26"),
        ("Qu'avons-nous fait pendant les fêtes de Noël ?", "2023-12-24", "2023-12-28"),
        ("圣诞节期间我们做了什么？", "2023-12-24", "2023-12-28"),
        ("圣诞节我们做了什么？", "2023-12-25", "2023-12-26"),
        ("クリスマスの間に何をしましたか？", "2023-12-24", "2023-12-28"),
    ],
)
def test_over_christmas_is_four_days(text: str, first: str, end: str) -> None:
    assert read(text) == [(first, end)]


@table(
    ("text", "first", "end"),
    [
        ("What did I do exactly a year ago?", "2023-06-12", "2023-06-13"),
        ("Was tat ich vor genau einem Jahr?", "2023-06-12", "2023-06-13"),
        ("Was habe ich vor mehr als zwei Wochen gekauft?", "..", "2024-05-29"),
        ("¿Qué compré hace más de dos semanas?", "..", "2024-05-29"),
        ("Qu'ai-je acheté il y a plus de deux semaines ?", "..", "2024-05-29"),
        ("Was geschah vor höchstens drei Wochen?", "2024-05-22", "2024-06-12T15:30"),
        ("Was habe ich dieses Jahr bisher gelesen?", "2024-01-01", "2024-06-12T15:30"),
        ("Was ist im Rest der Woche geplant?", "2024-06-12T15:30", "2024-06-17"),
        ("¿Qué hay el resto de la semana?", "2024-06-12T15:30", "2024-06-17"),
        ("¿Qué hay el resto del mes?", "2024-06-12T15:30", "2024-07-01"),
        ("Que dois-je faire le reste du mois ?", "2024-06-12T15:30", "2024-07-01"),
        ("Was habe ich die ganze Woche gegessen?", "2024-06-10", "2024-06-17"),
        ("Was geschah zwischen dem 3. und dem 7. Mai?", "2024-05-03", "2024-05-08"),
        ("¿Qué pasó entre el 3 y el 7 de mayo?", "2024-05-03", "2024-05-08"),
    ],
)
def test_what_english_says_of_an_amount_or_a_rest_others_say_too(
    text: str, first: str, end: str
) -> None:
    assert read(text) == [(first, end)]


@table(
    "text",
    [
        "What did I eat in the last days?",
        "Was habe ich in den letzten Tagen gegessen?",
        "¿Qué comí en los últimos días?",
        "Qu'ai-je mangé ces derniers jours ?",
    ],
)
def test_the_last_days_are_not_yesterday(text: str) -> None:
    (days,) = extract_time(text, NOW)
    assert days.soft
    assert days.contains(days.end - timedelta(days=4))


@table(
    "text",
    [
        "Was weißt du über Weihnachten?",
        "What do gestern, heute and morgen mean to you?",
        "Who was in Die Hard and in La La Land?",
        "Was kaufte ich im Sommer-Schlussverkauf?",
        "Was habe ich in zwei Wochen gelernt?",
    ],
)
def test_what_names_no_time(text: str) -> None:
    assert read(text) == []


def test_the_order_of_day_and_month_is_the_habit_of_the_language_or_a_setting() -> None:
    text = "Was schrieb ich am 05/03/2023?"
    assert read(text) == [("2023-03-05", "2023-03-06")]
    assert read(text, day_first=False) == [("2023-05-03", "2023-05-04")]
    assert read("5/3/2023", language="fr") == [("2023-03-05", "2023-03-06")]


@table(
    ("fragment", "question", "start"),
    [
        ("im Mai regnete es; ", "Was habe ich gestern gemacht?", "2024-06-11"),
        ("den Hund und die Katze ", "Was habe ich gestern gemacht?", "2024-06-11"),
        ("五月に雨が降った。", "昨日何をした？", "2024-06-11"),
        ("en mayo llovió; ", "¿Qué hice ayer?", "2024-06-11"),
    ],
)
def test_a_time_at_the_end_of_a_long_text_is_found(fragment, question, start):
    text = (fragment * 10_000)[:9_000] + fragment + question
    assert read(text)[-1][0] == start


@table("fragment", ["im Mai ", "el lunes ", "hier soir ", "1 ", "昨日", "3月", "から", "de la "])
def test_the_work_for_a_long_text_is_bounded(fragment):
    text = ("ich qué où の " + fragment * 10_000)[:10_000]
    assert calls(extract_time, text, NOW) < 60_000


def test_an_english_question_costs_no_more_than_before() -> None:
    text = "What did we plan for the trip to the lake with Anna and Tom last Tuesday?"
    extract_time(text, NOW)  # the first question builds what it needs
    detected, told = (
        calls(extract_time, text, NOW),
        calls(lambda: extract_time(text, NOW, language="en")),
    )
    assert detected <= told + 1
