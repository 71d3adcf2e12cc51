"""A LlamaIndex agent, end to end: it asks its tool, reads its memory block, and keeps what is said.

Its model is scripted, and answers from nothing but what it is shown.
"""

import re
from typing import Any

import pytest
from faces.conftest import NOW
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.workflow import Context

from llamaindex_recall import RecallMemoryBlock, RecallRetriever, create_recall_tool
from recall_retrievers.store import RecallStore

# LlamaIndex's workflows look at every attribute of a pydantic model, also at deprecated ones.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")

QUESTION = "What did the dentist do last Tuesday?"
ASKED = {"query": "What did the dentist do?", "when": "last Tuesday"}


class Scripted:
    """A model that calls the tool once, if it has one, and says what it read of the dentist."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.schemas: list[dict[str, Any]] = []
        self.llm = MockFunctionCallingLLM(response_generator=self._reply)

    def _reply(self, messages: list[ChatMessage], **given: Any) -> ChatMessage:
        shown = "\n".join(str(message.content) for message in messages)
        self.shown.append(shown)
        tools = given.get("tools") or []
        self.schemas = [tool.metadata.to_openai_tool()["function"]["parameters"] for tool in tools]
        results = [str(each.content) for each in messages if each.role == "tool"]
        if tools and not results:
            call = ToolCallBlock(tool_name="recall", tool_kwargs=ASKED, tool_call_id="1")
            return ChatMessage(role="assistant", blocks=[call])
        read = results[-1] if results else shown
        said = re.search(r"The dentist (?:put|of Bob)[^.]+\.", read)
        return ChatMessage(role="assistant", blocks=[TextBlock(text=said[0] if said else "?")])


def retriever_of(store: RecallStore, user: str = "ann") -> RecallRetriever:
    return RecallRetriever(store=store, timestamp=NOW, timezone="UTC", scope={"user_id": user})


async def test_a_dated_question_is_answered_by_the_tool(store: RecallStore) -> None:
    """Whose memories, the context of the run says; the model never sees that there is one."""
    for user, answer in [
        ("ann", "The dentist put a filling in my tooth."),
        ("bob", "The dentist of Bob is called Dr."),
    ]:
        model = Scripted()
        shared = RecallRetriever(store=store, timestamp=NOW, timezone="UTC")
        agent = FunctionAgent(tools=[create_recall_tool(shared)], llm=model.llm)
        context = Context(agent)
        await context.store.set("recall_options", {"scope": {"user_id": user}})

        handler = agent.run(QUESTION, ctx=context)
        results = [e async for e in handler.stream_events() if isinstance(e, ToolCallResult)]

        assert str(await handler) == answer
        [schema] = model.schemas
        assert list(schema["properties"]) == ["query", "when", "since", "until", "as_of"]
        assert not re.search("ctx|context|scope|user", str(schema), re.IGNORECASE)
        [result] = results
        assert result.tool_kwargs == ASKED
        assert {n.metadata["user_id"] for n in result.tool_output.raw_output.nodes} == {user}


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

    answer = await agent.run(QUESTION, memory=friday)

    assert str(answer) == "The dentist put a filling in my tooth."
    # The block's memories before each turn, and then the tool's besides.
    assert [shown.count("quoted material") for shown in model.shown] == [1, 2]
    # The block asks once, however often the agent reads it, and the tool once.
    assert words.queries == ["What did the dentist do?"] * 2

    await block.aflush(friday)
    assert own_store.count() == before + 2  # the question and the answer; no call and no result
    saturday = Memory.from_defaults(session_id="saturday", memory_blocks=[block])
    seen = await saturday.aget(input="What did I ask about the dentist?")
    assert QUESTION in str(seen[0].content)
    bobs = RecallMemoryBlock(retriever=retriever_of(own_store, "bob"))
    assert QUESTION not in await bobs.aget([ChatMessage("What did I ask about the dentist?")])
