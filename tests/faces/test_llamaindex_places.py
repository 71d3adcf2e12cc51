"""Where LlamaIndex's users put a retriever and postprocessors: stock classes, sync and async.

Everywhere a question costs one reading of its time and one embedding.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from conftest import WordsEmbedding
from faces.adapters import Face, ScriptedLLM, llamaindex
from faces.conftest import MEMORIES, NOW
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import (
    RetrieverQueryEngine,
)
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

import llamaindex_recall as recall
from llamaindex_recall import RecallMemoryBlock, RecallRetriever, create_recall_tool
from recall_retrievers.stages import extract_time
from recall_retrievers.store import RecallStore

QUESTION = "Which filling did the dentist put into my tooth last Tuesday?"
ANSWER = "A filling in a tooth. [1]"


@dataclass
class Cost:
    """What the questions of a test cost."""

    readings: list[str] = field(default_factory=list)
    embeddings: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def embedding() -> WordsEmbedding:
    return WordsEmbedding()


@pytest.fixture(scope="module")
def retriever(embedding: WordsEmbedding) -> Iterator[Any]:
    with RecallStore(embedding=embedding) as store:
        store.add(MEMORIES)
        yield recall.RecallRetriever(store=store, timestamp=NOW, timezone="UTC", k=3, everyone=True)


@pytest.fixture
def cost(embedding: WordsEmbedding, monkeypatch: pytest.MonkeyPatch) -> Cost:
    embedding.queries.clear()
    counted = Cost(embeddings=embedding.queries)
    read = extract_time.extract_time

    def counting(text: str, *given: Any, **named: Any) -> Any:
        counted.readings.append(text)
        return read(text, *given, **named)

    monkeypatch.setattr(extract_time, "extract_time", counting)
    return counted


def asked(engine: Any, face: Face) -> list[str]:
    """The ids of the sources of an answer, and that it is the model's."""
    answer = face.call(engine, "query", QUESTION)
    assert str(answer) == ANSWER
    return [node.node_id for node in answer.source_nodes]


def chatted(engine: Any, face: Face) -> list[str]:
    answer = face.call(engine, "chat", QUESTION)
    assert str(answer) == ANSWER
    return [node.node_id for node in answer.source_nodes]


def query_engine(retriever: Any, refine: list[Any], face: Face) -> list[str]:
    llm = ScriptedLLM(replies=[ANSWER])
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=refine)
    found = asked(engine, face)
    assert "The dentist put a filling in my tooth." in llm.prompts[0]
    assert "recall_" not in llm.prompts[0]
    return found


def context_chat(retriever: Any, refine: list[Any], face: Face) -> list[str]:
    llm = ScriptedLLM(replies=[ANSWER])
    engine = ContextChatEngine.from_defaults(retriever, llm=llm, node_postprocessors=refine)
    found = chatted(engine, face)
    assert "The dentist put a filling in my tooth." in llm.prompts[0]
    return found


def fusion(retriever: Any, refine: list[Any], face: Face) -> list[str]:
    fused = QueryFusionRetriever(
        [retriever], llm=ScriptedLLM(replies=[""]), num_queries=1, similarity_top_k=3
    )
    return query_engine(fused, refine, face)


PLACES = [query_engine, context_chat, fusion]
REFINED = {
    "nothing": [],
    "several in one": [
        recall.RecallPostprocessor(
            stages=[recall.RelevanceThreshold(threshold_score=0.1), recall.FuseRerank(top_n=1)]
        )
    ],
}


@llamaindex
@pytest.mark.parametrize("refined", REFINED)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_a_question_is_read_and_embedded_once(
    place: Callable[..., list[str]], refined: str, face: Face, retriever: Any, cost: Cost
) -> None:
    found = place(retriever, REFINED[refined], face)

    assert found[0] == "filling"
    assert len(found) == 1 or refined == "nothing"
    assert cost.readings == [QUESTION]
    assert cost.embeddings == ["Which filling did the dentist put into my tooth?"]


class Stock(BaseRetriever):
    """A retriever that knows no times: it returns everything with the same score."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        rows = [("moved", "2024-02-01", "It moved."), ("filling", "2024-03-05", "A filling.")]
        return [
            NodeWithScore(
                node=TextNode(id_=name, text=text, metadata={"created_at": day}), score=0.5
            )
            for name, day, text in rows
        ]


@llamaindex
def test_behind_any_retriever_the_time_is_understood_once(face: Face, cost: Cost) -> None:
    refine = recall.RecallPostprocessor(timestamp=NOW, timezone="UTC")
    engine = RetrieverQueryEngine.from_args(
        Stock(), llm=ScriptedLLM(replies=[ANSWER]), node_postprocessors=[refine]
    )

    assert asked(engine, face) == ["filling", "moved"]
    assert cost.readings == [QUESTION]


def test_the_moment_of_a_bundle_holds_for_the_postprocessors_too(cost: Cost) -> None:
    engine = RetrieverQueryEngine.from_args(
        Stock(),
        llm=ScriptedLLM(replies=[ANSWER]),
        node_postprocessors=[recall.RecallPostprocessor(timestamp="2020-01-01")],
    )
    bundle = recall.RecallQueryBundle(QUESTION, options={"timestamp": NOW, "timezone": "UTC"})

    assert engine.query(bundle).source_nodes[0].node_id == "filling"


# LlamaIndex's workflows look at every attribute of a pydantic model, also at deprecated ones.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")

ASKED_OF_AGENT = "What did the dentist do last Tuesday?"
CALLED = {"query": "What did the dentist do?", "when": "last Tuesday"}


class Scripted:
    """A model that calls the tool once, if it has one, and says what it read of the dentist."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.llm = MockFunctionCallingLLM(response_generator=self._reply)

    def _reply(self, messages: list[ChatMessage], **given: Any) -> ChatMessage:
        shown = "\n".join(str(message.content) for message in messages)
        self.shown.append(shown)
        tools = given.get("tools") or []
        results = [str(each.content) for each in messages if each.role == "tool"]
        if tools and not results:
            call = ToolCallBlock(tool_name="recall", tool_kwargs=CALLED, tool_call_id="1")
            return ChatMessage(role="assistant", blocks=[call])
        read = results[-1] if results else shown
        said = re.search(r"The dentist put[^.]+\.", read)
        return ChatMessage(role="assistant", blocks=[TextBlock(text=said[0] if said else "?")])


def retriever_of(store: RecallStore, user: str = "ann") -> RecallRetriever:
    return RecallRetriever(store=store, timestamp=NOW, timezone="UTC", scope={"user_id": user})


async def test_tool_and_block_together_and_the_next_session_knows(
    own_store: RecallStore, words: Any
) -> None:
    model = Scripted()
    before = own_store.count()
    retriever = retriever_of(own_store)
    block = RecallMemoryBlock(retriever=retriever)
    agent = FunctionAgent(tools=[create_recall_tool(retriever)], llm=model.llm)
    friday = Memory.from_defaults(session_id="friday", memory_blocks=[block])
    words.queries.clear()

    answer = await agent.run(ASKED_OF_AGENT, memory=friday)

    assert str(answer) == "The dentist put a filling in my tooth."
    # The block's memories before each turn, and then the tool's besides.
    assert [shown.count("quoted material") for shown in model.shown] == [1, 2]
    # The block asks once, however often the agent reads it, and the tool once.
    assert words.queries == ["What did the dentist do?"] * 2

    await block.aflush(friday)
    assert own_store.count() == before + 2  # the question and the answer; no call and no result
    saturday = Memory.from_defaults(session_id="saturday", memory_blocks=[block])
    seen = await saturday.aget(input="What did I ask about the dentist?")
    assert ASKED_OF_AGENT in str(seen[0].content)
    bobs = RecallMemoryBlock(retriever=retriever_of(own_store, "bob"))
    assert ASKED_OF_AGENT not in await bobs.aget([ChatMessage("What did I ask about the dentist?")])
