"""BuildQuery: the question wins; where it leaves something open, what was said before it helps."""

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.llms import ChatMessage
from stages.scripted import answered
from tables import table

from benchmarks.follow_ups import read
from recall_retrievers.core.errors import QueryError, ReplyError
from recall_retrievers.core.message import Message, read_messages
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import run
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.build_query import BuildQuery, read_query
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.store import RecallStore
from recall_retrievers.text.follow_ups import leaves_open, search_texts

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
SAID = [("user", "Too long ago."), ("user", "x" * 300), ("assistant", "Which?"), ("user", "This.")]
SIMPLE = f"- user: {'x' * 200}...\n- assistant: Which?\n- user: This."


def built(text: str = "", reply: object = '{"query": "file upload"}', **settings: object) -> Recall:
    query = Query(text=text, reference_time=NOW, messages=read_messages(SAID))
    return answered([BuildQuery(**settings)], Recall(query), reply)[0]


def test_a_question_stays_and_no_model_is_asked() -> None:
    query = Query(text="Who?", reference_time=NOW, messages=read_messages(SAID))

    recall, prompts = answered([BuildQuery(llm=object())], Recall(query), "")

    assert recall.query is query
    assert prompts == []


def test_without_a_model_the_last_three_messages_are_the_query() -> None:
    assert built().query.text == SIMPLE
    assert built(llm=object(), enable_llm_build=False).query.text == SIMPLE


def test_a_model_puts_them_into_a_line() -> None:
    recall = built(llm=object(), reply='```json\n{"query": " file\\n upload "}\n```')

    assert recall.query.text == "file upload"
    assert recall.fallbacks == ()


def test_neither_question_nor_message_is_an_error() -> None:
    with pytest.raises(QueryError, match="neither a query nor a message"):
        run(BuildQuery().apply(Recall(Query(text=" ", reference_time=NOW))))


@table("said", ["?!", "x" * 501, 7, ["a"], {"a": "b"}, "\u202e"])
def test_what_cannot_be_looked_for_is_no_query(said: object) -> None:
    import json

    with pytest.raises(ReplyError, match="expected"):
        read_query(json.dumps({"query": said}))


MESSAGES = {
    "mappings": {"role": "user", "content": "Tea?"},
    "mappings with a type": {"type": "user", "content": "Tea?"},
    "blocks": {"role": "user", "content": [{"type": "text", "text": "Tea?"}, {"type": "image"}]},
    "blocks that are texts": {"role": "user", "content": ["Tea?"]},
    "pairs": ("user", "Tea?"),
    "ours": Message(role="user", content="Tea?"),
    "LlamaIndex": ChatMessage(role="user", content="Tea?"),
    "anything of the shape": SimpleNamespace(role="user", content=" Tea? "),
}


@table("message", MESSAGES.values(), ids=MESSAGES)
def test_messages_of_every_kind_are_read(message: object) -> None:
    assert read_messages([message]) == (Message(role="user", content="Tea?"),)


def test_messages_of_langchain_are_read() -> None:
    read = read_messages([HumanMessage("Tea?"), AIMessage("", tool_calls=[]), AIMessage("Yes.")])

    assert [(each.role, each.content) for each in read] == [("human", "Tea?"), ("ai", "Yes.")]


@table("wrong", ["Tea?", {"role": "user"}, 7, None, [7], ["Tea?"]])
def test_what_are_no_messages_is_an_error(wrong: object) -> None:
    with pytest.raises(ValueError, match="a role and a content"):
        read_messages(wrong)


BOILER = [("user", "Who fixed the boiler?"), ("assistant", "Mr Fenn did.")]
FILLED = "\nWho fixed the boiler?\nMr Fenn did."


OPEN = """Tom? | What about Tom's sister? | Which one was cheaper? | How much was that again?
Yes. When did he call? | seit wann? | Was haben die gesagt? | ¿desde cuándo? | ¿Qué dijo ella?
桑杰呢？ | 多少钱？ | 太郎は？ | 彼女はどこに住んでいる？ | Und Tim? ← Was verträgt Lena nicht?
Et Paul ? ← Que prend Camille au déjeuner ? | Combien ça coûte ? ← Où est notre maison ?"""
ALONE = """Where do I work? | What can Tom not eat? | Did Anna say what she likes?
What did I say about that blue car? | Is it true that he learned his trade in Gdansk?
Wo probt der Chor? | Was hat Lena über ihre Arbeit gesagt? | ¿Dónde vive esa prima de Lucía?
Quel est le mot de passe du wifi ? | 我在哪里工作？ | 太郎の誕生日はいつ？"""
ROWS = [(each.strip(), rows is OPEN) for rows in (OPEN, ALONE) for each in re.split(r"[|\n]", rows)]


@table(("row", "is_open"), ROWS)
def test_what_leaves_something_open(row: str, is_open: bool) -> None:
    question, _, talk = row.partition(" ← ")
    assert leaves_open(question, talk) is is_open


def test_the_last_exchange_fills_and_the_one_before_it_where_that_leaves_open_too() -> None:
    more = [("user", "And how much did he charge?"), ("assistant", "140 pounds.")]
    cello = [("user", "What does the cello cost?"), ("assistant", "22 a month.")]

    def texts(*said: tuple[str, str], question: str = "And when?") -> list[str]:
        return search_texts(question, said)

    assert texts(*BOILER) == [f"And when?{FILLED}"]
    assert texts(*cello, *BOILER) == [f"And when?{FILLED}"]
    whole = [text for _, text in [*BOILER, *more]]
    assert texts(*BOILER, *more) == ["\n".join(["And when?", *whole])]
    assert texts(("system", "Be brief."), *BOILER, ("tool", "x")) == [f"And when?{FILLED}"]
    assert texts(("assistant", "Long. " * 99)) == ["And when?\n" + ("Long. " * 99)[:200]]
    alone = "Where does the choir rehearse?"
    assert texts(*BOILER, *more, question=alone) == [alone, "\n".join([alone, *whole[2:]])]


def test_two_questions_in_one_are_searched_for_as_a_whole_and_each_for_itself() -> None:
    parts = ["Where does the choir rehearse?", "And who sings tenor?"]
    assert search_texts(" ".join(parts)) == [" ".join(parts), *parts]
    assert search_texts("合唱团在哪里排练？另外，谁唱男高音？")[1:] == [
        "合唱团在哪里排练？",
        "另外，谁唱男高音？",
    ]
    for one in ("Where does the choir rehearse? And when?", "Ann: Really? \nBob: Who sings tenor?"):
        assert search_texts(one) == [one]


def test_a_question_in_a_talk_finds_what_its_answer_names_and_keeps_its_own_first(
    words: Any,
) -> None:
    doha = [("user", "What can I do in Doha?"), ("assistant", "See the souk, falcons and camels.")]
    with RecallStore(embedding=words) as store:
        store.add(["I love falcons and camels.", "I go to museums by tram."])
        store.add(f"I own shirt number {n} by tailor {n * n}." for n in range(9))
        retriever = MemoryRetriever(store=store, timestamp=NOW, k=2)
        found = retriever.recall_without_model("Are there museums by tram?", messages=doha)

        assert [x.content for x in found.memories] == [
            "I go to museums by tram.",
            "I love falcons and camels.",
        ]
        labels = [step.label for step in found.memories[1].steps]
        assert any("for its place among what 2 texts find" in label for label in labels)


def test_each_of_two_questions_has_its_answer_in_front(words: Any) -> None:
    with RecallStore(embedding=words) as store:
        store.add(["The choir sings in the old mill.", "Ben plays tenor saxophone."])
        store.add(f"Choir note {n * n}, about mill number {n}." for n in range(20))
        retriever = MemoryRetriever(store=store, timestamp=NOW, k=2, method="keyword")
        question = "Where does the choir sing, at the old mill? And who plays tenor?"

        found = {each.content for each in retriever.recall_without_model(question).memories}

        assert found == {"The choir sings in the old mill.", "Ben plays tenor saxophone."}


def test_an_exchange_is_searched_for_where_the_question_finds_nothing(words: Any) -> None:
    said = [("user", "Who fixed the boiler?"), ("assistant", "Mr Fenn did.")]
    with RecallStore(embedding=words) as store:
        store.add(["Mr Fenn fixed the boiler."])
        retriever = MemoryRetriever(store=store, timestamp=NOW, method="keyword")

        found = retriever.recall_without_model("Any zebras nearby, by chance?", messages=said)

        assert [each.content for each in found.memories] == ["Mr Fenn fixed the boiler."]


def test_what_was_just_answered_is_behind_what_was_not(words: Any) -> None:
    said = [("user", "What did the boiler cost?"), ("assistant", "It cost 900 pounds.")]
    with RecallStore(embedding=words) as store:
        store.add(["The boiler cost 900 pounds.", "The boiler came on Friday.", "Tea is nice."])
        retriever = MemoryRetriever(store=store, timestamp=NOW)

        def first(question: str) -> str:
            return retriever.recall_without_model(question, messages=said).memories[0].content

        assert first("And when did it come?") == "The boiler came on Friday."
        assert first("What did the boiler cost, in pounds?") == "The boiler cost 900 pounds."


def searched(question: str, messages: list[tuple[str, str]]) -> Query:
    query = Query(text=question, reference_time=NOW, messages=read_messages(messages))
    return ExtractTime().apply(Recall(query)).query  # type: ignore[union-attr]  # no model is asked


def test_the_time_asked_for_is_the_question_s_own() -> None:
    said = [("user", "Who called last Tuesday?"), ("assistant", "Mr Fenn did.")]

    [yesterday] = searched("And yesterday?", said).time_ranges
    assert yesterday.describe().startswith("2024-03-07")
    assert searched("And yesterday?", said).searched[0].endswith("Mr Fenn did.")
    assert searched("What did we do yesterday?", said).searched[0] == "What did we do?"
    assert searched("And the plumber?", said).time_ranges == ()


def test_a_question_among_its_messages_is_none_of_them() -> None:
    assert searched("And when?", [*BOILER, ("user", "And when?")]).searched == [
        f"And when?{FILLED}"
    ]


def test_a_model_writes_the_question_anew() -> None:
    stages = [BuildQuery(llm=object(), condense=True)]
    said = '{"query": "How much did Mr Fenn charge for the boiler?"}'
    query = Query(text="How much?", reference_time=NOW, messages=read_messages(BOILER))

    recall, [prompt] = answered(stages, Recall(query), said)
    failed, _ = answered(stages, Recall(query), "?")

    assert recall.query.searched[0] == "How much did Mr Fenn charge for the boiler?"
    assert [each in prompt for each in ("Who fixed", "Mr Fenn", "How much?")] == [True] * 3
    assert (*failed.query.searched, len(failed.fallbacks)) == (f"How much?{FILLED}", 1)
    alone = query.model_copy(update={"messages": (Message(role="user", content="How much?"),)})
    assert answered(stages, Recall(alone), said)[0].query is alone


@pytest.mark.parametrize("half", ["development", "held back"])
def test_follow_ups_are_found_and_what_stands_for_itself_is_found_as_before(
    words: Any, half: str
) -> None:
    found: dict[tuple[str, bool], list[float]] = {}
    with RecallStore(embedding=words) as store:
        store.add(
            {"id": each["id"], "content": each["content"], "scope": {"user_id": each["language"]}}
            for each in read("memories")
        )
        retriever = MemoryRetriever(store=store, timestamp=NOW)
        for asked in read("questions"):
            scope, right = {"user_id": asked["language"]}, set(asked["right"])
            for messages in ([], asked["messages"]) if asked["half"] == half else ():
                recall = retriever.recall_without_model(
                    asked["question"], scope=scope, messages=messages
                )
                share = len(right & {each.id for each in recall.memories}) / len(right)
                found.setdefault((asked["kind"], bool(messages)), []).append(share)

    mean = {key: sum(shares) / len(shares) for key, shares in found.items()}
    assert mean["follow-up", True] >= 1.5 * mean["follow-up", False]
    assert mean["alone", True] == mean["alone", False]
