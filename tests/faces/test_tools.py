"""The recall tool, as an agent calls it, and the gate in retrievers and in frameworks' lists."""

import re
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, Found, once
from faces.conftest import NOW
from faces.listening import Events
from langchain_core.callbacks import BaseCallbackHandler
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from llama_index_instrumentation import get_dispatcher
from tables import table

import langchain_recall
import llamaindex_recall
from llamaindex_recall.retriever import SearchSkipped
from recall_retrievers.agents.recall_tool import RecallToolInput
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore

# Question, what else the model says, the ids that come back, and what the text holds.
CASES: list[tuple[dict[str, str], list[str], str]] = [
    ({"query": "dentist"}, ["fear", "moved"], '20 18:30:00 Monday">\nAnn is afraid'),
    ({"query": "the filling last Tuesday"}, ["filling", "bob"], 'recorded="2024-03-05 10:00:00'),
    ({"query": "dentist", "when": "last Tuesday"}, ["bob", "filling"], "put a filling"),
    ({"query": "dentist", "since": "2024-02-01", "until": "2024-02-29"}, ["moved"], "Elm Street"),
    ({"query": "dentist", "until": "2023-11-20"}, ["fear"], "2023-11-20 18:30:00 Monday"),
    ({"query": "dentist", "since": "2024-02-29", "until": "9999-12-31"}, ["bob", "filling"], "Lee"),
    ({"query": "", "until": "9999-12-31"}, ["bob", "filling"], "Dr. Lee"),
    ({"query": "dentist", "until": "0001-01-01"}, [], "No memories found up to 0001-01-01."),
    ({"query": "dentist", "since": "2024-03-05T10:30"}, ["bob"], "Dr. Lee"),
    (
        {"query": "dentist", "since": "2021-01-01", "until": "2021-12-31"},
        [],
        "No memories found between 2021-01-01 and 2021-12-31.",
    ),
    ({"query": "dentist", "since": "2025-01-01"}, [], "No memories found since 2025-01-01."),
    ({"query": "dentist", "until": "2001-01-01"}, [], "No memories found up to 2001-01-01."),
    ({"query": "dentist", "when": "in 2021"}, [], 'No memories found for "in 2021".'),
    ({"query": "dentist", "since": "soon"}, [], "since must be a date such as 2024-03-01"),
    ({"query": "dentist", "when": "blue"}, [], "no time is named by 'blue'"),
    ({"query": " "}, [], "query must say what to look for"),
    ({"query": "", "until": "2023-11-20"}, ["fear"], "2023-11-20 18:30:00 Monday"),
    ({"query": "dentist", "user_id": "bob"}, [], "has no argument 'user_id'"),
]


@table(("said", "ids", "told"), CASES, ids=str)
def test_what_a_model_says_and_what_it_is_told(
    store: RecallStore, face: Face, said: dict[str, str], ids: list[str], told: str
) -> None:
    retriever = face.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=2)

    text, found = face.use(face.create_recall_tool(retriever), **said)

    assert told in text
    assert [each.id for each in found] == ids


def test_each_memory_has_the_time_of_day_at_which_it_was_recorded() -> None:
    days = ("2024-01-10T09:00:00+01:00", "2024-07-10T09:00:00+02:00")
    memories = [Candidate.of(Memory(content="Tea.", created_at=day)) for day in days]

    text = RecallToolInput(query="tea").answer(memories)

    assert re.findall(r'recorded="\S+ (\S+)', text) == ["09:00:00", "09:00:00"]


def test_the_schema_shows_a_question_and_times_and_nothing_else(
    store: RecallStore, face: Face
) -> None:
    tool = face.create_recall_tool(face.RecallRetriever(store=store), name="ask", description="!")

    if face.is_langchain:
        shown = tool.tool_call_schema.model_json_schema()["properties"]
        assert (tool.name, tool.description) == ("ask", "!")
    else:
        function = tool.metadata.to_openai_tool()["function"]
        shown = function["parameters"]["properties"]
        assert (function["name"], function["description"]) == ("ask", "!")
    assert list(shown) == ["query", "when", "since", "until", "as_of"]


class StandardTool:
    """The tool, for LangChain's own two suites."""

    @pytest.fixture(autouse=True)
    def _tool(self, store: RecallStore) -> None:
        self._made = langchain_recall.create_recall_tool(
            langchain_recall.RecallRetriever(store=store, timestamp=NOW)
        )

    @property
    def tool_constructor(self) -> Any:
        return self._made

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": "dentist", "since": "2024-01-01"}


class TestToolUnits(StandardTool, ToolsUnitTests):
    pass


class TestToolIntegration(StandardTool, ToolsIntegrationTests):
    pass


# -- an agent, end to end, with a model that says what it is told; LlamaIndex's has its own file ---


def test_inside_a_workflow_the_tool_must_be_awaited(store: RecallStore) -> None:
    """Called without waiting it could not read whose memories the run is about."""
    tool = llamaindex_recall.create_recall_tool(llamaindex_recall.RecallRetriever(store=store))

    with pytest.raises(RuntimeError, match="use acall"):
        tool.call(query="dentist", ctx=object())


NEEDED, NOT_NEEDED = "Who is my dentist?", "What is a dentist?"
CANDIDATES = [Found("filling", "The dentist put a filling in my tooth.", 0.6, {})]


@once
def test_a_question_that_needs_no_memories_costs_no_search(
    store: RecallStore, words: WordsEmbedding, face: Face
) -> None:
    stages = [face.SearchGate(), face.ExtractTime(), face.FuseRerank()]
    for settings in ({"gate": face.SearchGate()}, {"stages": stages}):
        words.queries.clear()
        retriever = face.RecallRetriever(store=store, **settings)

        assert face.ask(retriever, NOT_NEEDED) == []
        assert words.queries == []
        assert face.ask(retriever, NEEDED)
        assert words.queries == [NEEDED]
    assert (face.should_search_memory(NEEDED), face.should_search_memory(NOT_NEEDED)) == (1, 0)


def test_in_a_list_of_the_framework_it_drops_the_candidates(face: Face) -> None:
    assert face.refine(face.SearchGate(), CANDIDATES, NOT_NEEDED) == []
    assert [each.id for each in face.refine(face.SearchGate(), CANDIDATES, NEEDED)] == ["filling"]


def test_an_empty_result_says_why_to_those_who_listen(store: RecallStore, face: Face) -> None:
    retriever = face.RecallRetriever(store=store, gate=face.SearchGate())
    told: list[str] = []
    expected = f"SearchGate: {face.SearchGate().explain(NOT_NEEDED)}"

    if face.is_langchain:

        class Listener(BaseCallbackHandler):
            def on_custom_event(self, name: str, data: str, **_: object) -> None:
                told.append(f"{name}: {data}")

        listening = retriever.with_config(callbacks=[Listener()])
        assert face.ask(listening, NOT_NEEDED) == []
        face.ask(listening, NEEDED)
        assert told == [f"recall_skipped: {expected}"]
        return

    root, events = get_dispatcher(), Events()
    root.add_event_handler(events)
    try:
        assert face.ask(retriever, NOT_NEEDED) == []
        face.ask(retriever, NEEDED)
    finally:
        root.event_handlers.remove(events)
    [skipped] = [each for each in events._seen if isinstance(each, SearchSkipped)]
    assert (skipped.query, skipped.why) == (NOT_NEEDED, expected)
    assert skipped.class_name() == "SearchSkipped"
