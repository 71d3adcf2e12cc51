"""LangGraph's agents: the example, checkpoints, and what the middleware shows the model."""

import importlib.util
import runpy
import sys
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from faces.adapters import FACES, Face, langchain
from faces.conftest import NOW
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langchain_recall import RecallMiddleware, RecallRetriever, create_recall_tool
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.store import RecallStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "langgraph_memory.py"


@pytest.fixture
def saver() -> InMemorySaver:
    """Checkpoints of what LangGraph takes to be safe, and nothing pickled."""
    return InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("langgraph_memory", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where LangGraph looks up what the state's annotations name
    spec.loader.exec_module(module)
    return module


def test_the_example_prints_what_it_recalled(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")

    assert capsys.readouterr().out.splitlines() == [
        "recalled: The dentist on Elm Street filled a molar today. (on Monday)",
        "answered: A molar, on Elm Street.",
        "the checkpoint has 2 messages, 2 found",
    ]


@langchain
def test_a_conversation_goes_on_from_its_checkpoint(
    example: ModuleType, words: Any, saver: InMemorySaver, face: Face
) -> None:
    model = FakeListChatModel(responses=["A molar?", "Yes."])
    monday, tuesday = "2024-03-04T18:00:00Z", "2024-03-05T08:00:00Z"

    def ask(graph: Any, text: str, config: Any) -> Any:
        given = {"messages": [("user", text)]}
        return face.call(graph, "invoke", given, config)

    with RecallStore(embedding=words) as store, warnings.catch_warnings():
        warnings.simplefilter("error")  # LangGraph warns of what a checkpoint cannot carry safely
        graph = example.chat_graph(store, model, saver)
        ask(graph, "The dentist filled a molar.", example.turn("1", monday))
        resumed = example.chat_graph(store, model, saver)  # as after a restart
        ask(resumed, "What did the dentist do yesterday?", example.turn("1", tuesday))
        kept = resumed.get_state(example.turn("1", tuesday)).values
        stored = store.get([message.id for message in kept["messages"]])

        assert [message.text for message in kept["messages"]] == [
            "The dentist filled a molar.",
            "A molar?",
            "What did the dentist do yesterday?",
            "Yes.",
        ]
        assert kept["recalled"][0].page_content == "The dentist filled a molar."
        assert type(kept["recalled"][0].metadata["relevance_score"]) is float
        assert store.count() == 4
        assert [f"{each.created_at:%A}" for each in stored] == ["Monday"] * 2 + ["Tuesday"] * 2


CONFIG = {"timestamp": NOW, "timezone": "UTC"}


class Watched(GenericFakeChatModel):
    """A model that keeps what it was shown."""

    shown: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it

    def bind_tools(self, tools: Any, **kwargs: Any) -> "Watched":
        return self

    def _generate(self, messages: Any, *given: Any, **named: Any) -> Any:
        self.shown.append(messages)
        return super()._generate(messages, *given, **named)


@tool
def clock() -> str:
    """What time it is."""
    return "noon"


def said(*replies: Any) -> Watched:
    return Watched(
        messages=iter([r if isinstance(r, AIMessage) else AIMessage(r) for r in replies])
    )


def run(agent: Any, text: str, face: Face = FACES[0], **configurable: str) -> Any:
    asked = {"messages": [("user", text)]}
    config = {"configurable": {**CONFIG, **configurable}}
    return face.call(agent, "invoke", asked, config)


@langchain
def test_every_model_call_of_a_turn_sees_the_memories(store: RecallStore, face: Face) -> None:
    call = AIMessage("", tool_calls=[{"name": "clock", "args": {}, "id": "1"}])
    model = said(call, "A filling.")
    recall = RecallMiddleware(RecallRetriever(store=store, k=1))
    agent = create_agent(model, [clock], system_prompt="Be brief.", middleware=[recall])

    done = run(agent, "Which filling did the dentist put in last Tuesday?", face, user_id="ann")

    for messages in model.shown:
        system = messages[0]
        assert isinstance(system, SystemMessage)
        assert "Be brief." in system.text
        assert "The dentist put a filling in my tooth." in system.text
        assert "quoted material" in system.text
    assert len(model.shown) == 2
    assert not any("filling in my tooth" in m.text for m in done["messages"])


@langchain
@pytest.mark.parametrize("form", [dict, SimpleNamespace])
def test_the_context_of_a_run_says_whose_memories_are_seen(
    words: Any, face: Face, form: Any
) -> None:
    def ask(**given: Any) -> str:
        model = said(AIMessage("", tool_calls=[call]), "Tea.")
        with RecallStore(embedding=words) as store:
            store.add(
                {"content": f"{user} drinks tea.", "user_id": user} for user in ("ann", "bob")
            )
            retriever = RecallRetriever(store=store, require_scope=["user_id"])
            tools = [create_recall_tool(retriever)]
            recall = RecallMiddleware(retriever, gate=None)
            agent = create_agent(model, tools, middleware=[recall])
            asked = {"messages": [("user", "Who drinks tea?")]}
            face.call(agent, "invoke", asked, given.pop("config", None), **given)
        return "".join(str(message.content) for message in model.shown[-1])

    call = {"name": "recall", "args": {"query": "Who drinks tea?"}, "id": "1"}
    seen = ask(context=form(user_id="bob"))
    assert seen.count("bob drinks tea.") == 2  # in front of the conversation, and from the tool
    assert "ann drinks" not in seen
    with pytest.raises(ScopeError, match="cannot be changed to 'ann'"):
        ask(context=form(user_id="bob"), config={"configurable": {"user_id": "ann"}})
    with pytest.raises(ScopeError, match=r"context=\{'user_id': \.\.\.\}, or config=\{'config"):
        ask()


def test_of_a_message_that_is_longer_than_a_question_the_beginning_is_asked(
    store: RecallStore,
) -> None:
    model = said("A filling.")
    recall = RecallMiddleware(RecallRetriever(store=store, k=1))
    agent = create_agent(model, [], middleware=[recall])

    run(agent, "What did the dentist do? " + "See: " * 20_000, user_id="ann")

    assert "dentist" in model.shown[0][0].text


def test_the_next_turn_has_its_own_memories_and_the_history_none(store: RecallStore) -> None:
    model = said("A filling.", "Green tea.")
    recall = RecallMiddleware(RecallRetriever(store=store, k=1))
    agent = create_agent(model, middleware=[recall], checkpointer=InMemorySaver())

    run(agent, "Which filling did I get last Tuesday?", user_id="ann", thread_id="1")
    done = run(agent, "What does Ann drink in the morning?", user_id="ann", thread_id="1")

    assert "filling" not in model.shown[1][0].text
    assert "Green tea" in model.shown[1][0].text
    assert [type(m).__name__ for m in done["messages"]] == ["HumanMessage", "AIMessage"] * 2


@langchain
def test_a_follow_up_is_searched_with_what_was_said(boiler: RecallStore, face: Face) -> None:
    model = said("Fenn did.", "140 pounds.")
    recall = RecallMiddleware(RecallRetriever(store=boiler, k=2))
    agent = create_agent(model, middleware=[recall], checkpointer=InMemorySaver())

    run(agent, "Who fixed the boiler?", face, thread_id="1")
    run(agent, "And how much was that?", face, thread_id="1")

    assert "140 pounds" in model.shown[1][0].text


def test_of_a_long_conversation_the_last_messages_are_searched_with(boiler: RecallStore) -> None:
    recall = RecallMiddleware(RecallRetriever(store=boiler, k=2))
    talk = [HumanMessage("Good day."), AIMessage("Hello!")] * 10
    about = [HumanMessage("Who fixed the boiler?"), AIMessage("Fenn did.")]

    def recalled(*messages: BaseMessage) -> str:
        asked = {"messages": [*messages, HumanMessage("And how much was that?")]}
        return recall.before_agent(asked, None)["recalled"]  # type: ignore[arg-type]  # it needs none

    assert "140 pounds" in recalled(*talk, *about)
    assert "140 pounds" not in recalled(*about, *talk)


def test_small_talk_brings_no_memories_unless_one_wants_it(store: RecallStore) -> None:
    model = said("You are welcome.", "Green tea.", "You are welcome.")
    searches = RecallRetriever(store=store)
    agent = create_agent(model, middleware=[RecallMiddleware(searches)])

    run(agent, "Thanks!", user_id="ann")
    run(agent, "What did I tell you about my tea?", user_id="ann")
    always = create_agent(model, middleware=[RecallMiddleware(searches, gate=None)])
    run(always, "Thanks!", user_id="ann")

    assert [type(m).__name__ for m in model.shown[0]] == ["HumanMessage"]
    assert "Green tea" in model.shown[2][0].text
    assert "Green tea" in model.shown[1][0].text
