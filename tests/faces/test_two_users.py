"""Two users with the same questions, in one of each: each gets only their own memories.

A hundred turns in a random order, many at once: in threads, and in one event loop.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.conftest import NOW
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import Context

import langchain_recall
import llamaindex_recall
from recall_retrievers.store import RecallStore

# LlamaIndex's workflows look at every attribute of a pydantic model, also at deprecated ones.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
]

TURNS = 120
STREETS = {"ann": "Elm", "bob": "Oak"}
QUESTIONS = [
    "Where is my dentist?",
    "What did I tell you about my dentist last Tuesday?",
    "Which dentist did we talk about?",
    "我的牙医在哪里？",
    "Do you remember my dentist's street?",
]
SCOPES: dict[str, Any] = {user: {"scope": {"user_id": user}} for user in STREETS}


@dataclass(frozen=True)
class Place:
    """A thing that both users share, asked for one of them; the answer as a text."""

    name: str
    ask: Callable[[str, str], str]
    aask: Callable[[str, str], Awaitable[str]]


@pytest.fixture(scope="module")
def store() -> Iterator[RecallStore]:
    with RecallStore(embedding=WordsEmbedding()) as opened:
        opened.add(
            {
                "content": f"My dentist is on {street} Street, 我的牙医: {kind} {number}.",
                "memory_type": kind,
                "created_at": "2024-03-05T10:00:00Z",
                "scope": {"user_id": user, "agent_id": "helper"},
            }
            for user, street in STREETS.items()
            for kind in ("profile", "event", "conversation")
            for number in range(3)
        )
        yield opened


@pytest.fixture(scope="module")
def places(store: RecallStore) -> list[Place]:
    """One agent, one agent's memory, one gate, one retriever, one tool, one block for both."""
    asked: Any = {"store": store, "timestamp": NOW, "timezone": "UTC"}
    langchain = langchain_recall.RecallRetriever(**asked, gate=langchain_recall.SearchGate())
    llamaindex = llamaindex_recall.RecallRetriever(**asked, gate=llamaindex_recall.SearchGate())
    function_tool = llamaindex_recall.create_recall_tool(llamaindex)
    agents = langchain_recall.AgentMemory(store=store, agent_id="helper")
    chat = create_agent(
        FakeListChatModel(responses=["Yes."]),
        middleware=[langchain_recall.RecallMiddleware(langchain)],
    )
    block = llamaindex_recall.RecallMemoryBlock(
        retriever=llamaindex, scope_of=lambda session: {"user_id": session.split("-")[0]}
    )

    kept: set[str] = set()

    def config(user: str) -> Any:
        return {"configurable": {"user_id": user}}

    def said(question: str) -> Any:
        return {"messages": [("user", question)]}

    async def context(user: str) -> Context[Any]:
        made: Context[Any] = Context(FunctionAgent(llm=MockFunctionCallingLLM()))
        await made.store.set("recall_options", SCOPES[user])
        return made

    async def call(user: str, question: str) -> str:
        return (await function_tool.acall(query=question, ctx=await context(user))).content

    async def read_and_write(user: str, question: str) -> str:
        """What was said in another session of theirs is remembered too."""
        session, told = f"{user}-{len(question)}", f"The {STREETS[user]} is green."
        if session not in kept:
            kept.add(session)
            await block.aput([ChatMessage(told)], session_id=session)
        return await block.aget([ChatMessage(question)], session_id=session)

    return [
        Place(
            "LangChain retriever and gate",
            lambda user, question: str(langchain.invoke(question, config(user))),
            lambda user, question: _str(langchain.ainvoke(question, config(user))),
        ),
        Place("LlamaIndex tool", lambda *asked: asyncio.run(call(*asked)), call),
        Place(
            "agent's memory, opened for a user",
            lambda user, question: str(
                agents.get_user_memory(user).search_memory_with_context(question)
            ),
            lambda user, question: _str(
                agents.get_user_memory(user).asearch_memory_with_context(question)
            ),
        ),
        Place(
            "middleware of an agent",
            lambda user, question: chat.invoke(said(question), config(user))["recalled"],
            lambda user, question: _recalled(chat.ainvoke(said(question), config(user))),
        ),
        Place("memory block", lambda *asked: asyncio.run(read_and_write(*asked)), read_and_write),
    ]


def turns(places: list[Place]) -> list[tuple[Place, str, str]]:
    chance = random.Random(7)
    return [
        (chance.choice(places), chance.choice([*STREETS]), chance.choice(QUESTIONS))
        for _ in range(TURNS)
    ]


def test_in_threads(places: list[Place]) -> None:
    order = turns(places)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda turn: turn[0].ask(*turn[1:]), order))

    _each_has_only_their_own(order, answers)


async def test_in_an_event_loop(places: list[Place]) -> None:
    order = turns(places)

    answers = await asyncio.gather(*(place.aask(user, asked) for place, user, asked in order))

    _each_has_only_their_own(order, answers)


def _each_has_only_their_own(order: list[tuple[Place, str, str]], answers: list[str]) -> None:
    assert len(answers) == TURNS
    for (place, user, question), answer in zip(order, answers, strict=True):
        mine, others = STREETS[user], STREETS["bob" if user == "ann" else "ann"]
        assert mine in answer, (place.name, user, question)
        assert others not in answer, (place.name, user, question)


async def _str(answer: Awaitable[object]) -> str:
    return str(await answer)


async def _recalled(done: Awaitable[Any]) -> str:
    return (await done)["recalled"]
