"""BuildQuery: the question wins; else the last three messages say what to look for."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.llms import ChatMessage
from stages.worlds import Scripted
from tables import table

from recall_retrievers.core.errors import QueryError, ReplyError
from recall_retrievers.core.message import Message, read_messages
from recall_retrievers.core.query import Query
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import run
from recall_retrievers.stages.build_query import BuildQuery, read_query

NOW = datetime(2024, 3, 8, 12, tzinfo=UTC)
SAID = [("user", "Too long ago."), ("user", "x" * 300), ("assistant", "Which?"), ("user", "This.")]
SIMPLE = f"- user: {'x' * 200}...\n- assistant: Which?\n- user: This."


def built(text: str = "", reply: object = '{"query": "file upload"}', **settings: object) -> Recall:
    def ask(prompts):
        return [reply] * len(prompts)

    query = Query(text=text, reference_time=NOW, messages=read_messages(SAID))
    return run(BuildQuery(**settings).apply(Recall(query)), Scripted(ask))


def test_a_question_stays_and_no_model_is_asked() -> None:
    def ask(prompts):
        raise AssertionError("asked")

    query = Query(text="Who?", reference_time=NOW, messages=read_messages(SAID))

    assert run(BuildQuery(llm=object()).apply(Recall(query)), Scripted(ask)).query is query


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
