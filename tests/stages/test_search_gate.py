"""Which conversations need memories; a model decides what words leave open."""

import json
from pathlib import Path

import pytest
from growth import TIMES, growth
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.llms import ChatMessage
from stages.reply_table import NO, UNSURE, YES
from stages.scripted import answered
from tables import table

from recall_retrievers.core.memory import Memory
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.stages.search_gate import SearchGate, should_search_memory
from recall_retrievers.timeline import parse_time

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
GATE = SearchGate()
READ = ("en", "zh")


def _rows(file: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / file).read_text(encoding="utf-8").splitlines()]


@table("file", ["unseen_gate.jsonl", "talks_gate.jsonl"])
def test_precision_and_recall_on_prompts_that_nothing_was_learned_from(file: str) -> None:
    """In the languages that it reads. In others it finds all, and stops at thanks."""
    learned = [row["conversation"] for path in DATA.glob("gate*.jsonl") for row in _rows(path.name)]
    rows = _rows(file)
    assert not [row for row in rows if row["conversation"] in learned]

    read = [row for row in rows if row["language"] in READ]
    wrong = [row for row in read if should_search_memory(row["conversation"]) != row["search"]]
    missed = sum(bool(row["search"]) for row in wrong)
    found = sum(bool(row["search"]) for row in read) - missed
    assert found / (found + missed) >= 0.9, wrong
    assert found / (found + len(wrong) - missed) >= 0.9, wrong

    for row in rows:
        if row["language"] not in READ and (row["search"] or row.get("kind") == "thanks"):
            assert should_search_memory(row["conversation"]) == row["search"], row


COURTESIES = """\
Hello!
thanks
No
See you tomorrow
How are you?
谢谢
晚安
Guten Morgen!
Vielen Dank für deine Hilfe
Wie geht es dir?
¡Muchas gracias!
Hasta mañana
Merci beaucoup
Ça va ?
ありがとうございます
また明日
""".splitlines()


@table("message", COURTESIES)
def test_nobody_is_looked_up_for_a_greeting(message: str) -> None:
    talk = [("user", "When is my sister's birthday?"), ("assistant", "In May."), ("user", message)]

    assert not should_search_memory(message), GATE.explain(message)
    if "?" not in message:  # "and you?" may be about what was said before
        assert not should_search_memory(talk), GATE.explain(talk)


NEEDED = """\
Wo ist mein Pass?
Wer bin ich?
Das Übliche, bitte.
Zahnarzt Termin
¿Cuándo es su cumpleaños?
Comme d'habitude
姉の誕生日はいつ
Dov'è il mio passaporto?
""".splitlines()


@table("message", NEEDED)
def test_in_a_language_without_points_everything_else_is_searched(message: str) -> None:
    reading = GATE.explain(message)

    assert reading.search
    assert reading.score is None
    assert str(reading) == "search: its language has no points"


BEFORE, AFTER = "Where did we eat?", "Thanks a lot!"
CONVERSATIONS = {
    "texts": [BEFORE, AFTER],
    "pairs": [("human", BEFORE), ("ai", "At Luigi's."), ("human", AFTER)],
    "a transcript": f"User: {BEFORE}\nAssistant: At Luigi's.\nUser: {AFTER}",
}


@table("form", CONVERSATIONS)
def test_what_the_user_said_last_decides(form: str) -> None:
    conversation = CONVERSATIONS[form]
    reversed_order = (
        "User: Thanks a lot!\nAssistant: You're welcome.\nUser: Where did we eat?"
        if isinstance(conversation, str)
        else list(reversed(conversation))
    )

    assert not should_search_memory(conversation)
    assert should_search_memory(reversed_order)


@table("message", [HumanMessage(BEFORE), ChatMessage(BEFORE), {"role": "user", "content": BEFORE}])
def test_one_message_is_a_conversation(message: object) -> None:
    assert should_search_memory(message)


@table(
    "nothing",
    ["", " \n", None, [], [None], [{"role": "user", "content": None}], [AIMessage(BEFORE)], "…?!"],
)
def test_nothing_needs_no_memories(nothing: object) -> None:
    assert should_search_memory(nothing) is False


@table("wrong", [7, [7], [{"text": "x"}, 7.5]])
def test_what_is_no_conversation_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match="a text or a list of messages"):
        should_search_memory(wrong)


def _said(*texts: str) -> list[tuple[str, str]]:
    return [("user" if n % 2 == 0 else "assistant", text) for n, text in enumerate(texts)]


FOLLOW_UPS = [
    ("My sister is Eve.", "When is her birthday?", True),
    ("Who was Joan of Arc?", "When is her birthday?", False),
    ("My brother fixed our boat.", "Where did he study?", True),
    ("Who wrote Hamlet?", "Where did he study?", False),
    ("What did I say about Rex?", "And when?", True),
    ("What is the capital of Peru?", "And of Chile?", False),
    ("我表弟叫小凯。", "他在哪里上班？", True),
    ("《哈姆雷特》是谁写的？", "他在哪里上班？", False),
]
"""The same question is about one's own people, or about the world."""


@table(("before", "question", "search"), FOLLOW_UPS)
def test_a_follow_up_is_about_what_it_stands_for(before: str, question: str, search: bool) -> None:
    talk = _said(before, "I see.", question)

    assert GATE.should_search(talk) is search, GATE.explain(talk)


def test_a_remark_is_not_about_what_was_asked_before() -> None:
    assert not GATE.should_search(_said("What did I want to buy?", "Hinges.", "Got it."))


@table(("opening", "closing"), [('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("`", "`")])
def test_only_the_marks_tell_that_it_is_quoted(opening: str, closing: str) -> None:
    assert should_search_memory("Is where did we leave off a good title?")
    assert not should_search_memory(f"Is {opening}where did we leave off{closing} a good title?")


def test_a_name_alone_is_a_friend_and_a_full_name_is_the_worlds() -> None:
    assert should_search_memory("What did Tom say about acting?")
    assert not should_search_memory("What did Tom Hanks say about acting?")


def test_the_system_prompt_says_whose_memories_they_are() -> None:
    asked = "How did Zaphod win?"

    assert not should_search_memory(asked)
    assert should_search_memory(asked, "You are Zaphod's assistant.")
    assert not should_search_memory("What is two times two?", "You are Zaphod's assistant.")


def test_it_explains_which_words_counted_how_much() -> None:
    reading = GATE.explain("When is my sister's birthday?")

    assert reading.search
    assert reading.score == pytest.approx(reading.start + sum(n for _, n in reading.words), abs=0.1)
    assert max(reading.words, key=lambda word: word[1])[0] == "my"
    assert str(reading).startswith('search: "my" +')
    assert f"start {reading.start:+.1f} = {reading.score:.1f}" in str(reading)
    assert str(GATE.explain("Merci !")) == "no search: it names nothing to look up"


def test_its_threshold() -> None:
    question = "Where did we eat?"
    score = GATE.explain(question).score

    assert score is not None
    assert SearchGate(threshold=score).should_search(question)
    assert not SearchGate(threshold=score + 0.1).should_search(question)


@table(
    ("settings", "message"),
    [
        ({"undecided": (3, 2)}, "from the lower to the higher sum"),
        ({"treshold": 2}, "did you mean 'threshold'?"),
    ],
)
def test_wrong_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=r"(?s).*") as raised:
        SearchGate(**settings)

    assert message in str(raised.value)


@given(st.text(max_size=200) | st.lists(st.text(max_size=60), max_size=4))
def test_whatever_is_said_there_is_an_answer(conversation: object) -> None:
    assert should_search_memory(conversation) in {True, False}


FRAGMENTS = ("what did i ", "my sister's ", "我", "“", "'", "continue, ", "User: a\n", "a: b\n")


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_a_pasted_text_is_read_in_reasonable_time(fragment: str) -> None:
    assert growth(lambda size: should_search_memory((fragment * size)[:size]), 1_250) < 3 * TIMES


MEMORIES = (Memory(content="Tea."),)
UNDECIDED = "Why is my cat sneezing?"
SCORE = GATE.explain(UNDECIDED).score or 0.0
BAND = (SCORE, SCORE + 1)


def _run(gate: SearchGate, question: str, reply: object) -> tuple[Recall, list[str]]:
    query = Query(text=question, reference_time=parse_time("2024-03-08T12:00:00Z"))
    return answered([gate], Recall(query, MEMORIES), reply)


SAID = {'{"search": true}': 1, '{"search": false}': 0}


@table(("reply", "kept"), [*SAID.items(), *[(x, 1) for x in YES], *[(x, 0) for x in NO]])
def test_a_model_decides_what_is_undecided(reply: str, kept: int) -> None:
    for gate, question in (
        (SearchGate(llm="the model", undecided=BAND), UNDECIDED),
        (SearchGate(llm="the model"), "Warum niest meine Katze?"),  # no points, so no sum
    ):
        recall, [prompt] = _run(gate, question, reply)

        assert len(recall.memories) == kept
        assert f"<message>\n{question}\n</message>" in prompt
        assert bool(recall.skipped) is (not kept)
        assert ("and no JSON" in "".join(recall.fallbacks)) is not reply.startswith("{")


def test_a_model_is_not_asked_about_what_is_clear() -> None:
    for question in ("What is the capital of Peru?", "Where were we?", "Vielen Dank!"):
        assert _run(SearchGate(llm="the model"), question, "")[1] == []
    for band, asked in ((BAND, 1), ((SCORE - 1, SCORE), 0)):
        assert len(_run(SearchGate(llm="the model", undecided=band), UNDECIDED, "")[1]) == asked


@table(
    "failure",
    [TimeoutError("too slow"), '{"search": "maybe"}', '{"search": true or false}', *UNSURE],
)
def test_a_model_that_fails_leaves_the_words_answer(failure: object) -> None:
    no, _ = _run(SearchGate(llm="m", undecided=BAND, threshold=BAND[1]), UNDECIDED, failure)
    yes, _ = _run(SearchGate(llm="m", undecided=BAND, threshold=BAND[0]), UNDECIDED, failure)

    assert no.memories == ()
    assert "SearchGate: no search" in no.skipped
    assert no.fallbacks[0] in no.skipped
    assert yes.memories[0].trace["degraded"] == yes.fallbacks[0]
