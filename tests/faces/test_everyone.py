"""No user is named where a store has memories of several: an error inside another run.

Asked directly, a retriever warns once. With ``everyone=True``, the memories of all are meant.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import Face, ScriptedLLM, both, langchain, llamaindex
from faces.owners import ANN, BOB
from langchain.agents import create_agent
from langchain_classic.retrievers import (
    ContextualCompressionRetriever,
    MergerRetriever,
    MultiQueryRetriever,
)
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langgraph.graph import START, MessagesState, StateGraph
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import (
    BaseRetriever,
    QueryFusionRetriever,
    RouterRetriever,
    TransformRetriever,
)
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.workflow import Context
from tables import table

import langchain_recall
import llamaindex_recall
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.store import RecallStore

QUESTION = "What is the code of the door?"
WHOSE = "memories of several users would answer, and no user is named"
CODES = {"ann": "4711", "bob": "1234"}
USERS = [(1, ANN), (2, BOB)]


@pytest.fixture
def store(words: object) -> Iterator[RecallStore]:
    with RecallStore(embedding=words) as opened:
        opened.add(
            {"content": f"The code of the door is {code}.", "scope": {"user_id": user}}
            for user, code in CODES.items()
        )
        yield opened


class AsTheyAre(BaseDocumentCompressor):
    def compress_documents(self, documents: Any, query: str, callbacks: Any = None) -> Any:
        return documents


def in_a_graph(retriever: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("look", lambda _: {"messages": [("ai", str(retriever.invoke(QUESTION)))]})
    graph.add_edge(START, "look")
    return RunnableLambda(lambda _: {"messages": []}) | graph.compile()


def in_an_agent(retriever: Any, **pieces: Any) -> Any:
    model = FakeListChatModel(responses=["Yes."])
    pieces = pieces or {"middleware": [langchain_recall.RecallMiddleware(retriever)]}
    asked = RunnableLambda(lambda question: {"messages": [("user", question)]})
    return asked | create_agent(model, **pieces) | (lambda done: done["recalled"])


AROUND: dict[str, Callable[[Any], Any]] = {
    "compression": lambda r: ContextualCompressionRetriever(
        base_retriever=r, base_compressor=AsTheyAre()
    ),
    "several in turn": lambda r: MergerRetriever(retrievers=[r, r]),
    "more questions": lambda r: MultiQueryRetriever(
        retriever=r, llm_chain=RunnableLambda(lambda _: [QUESTION, "Which code?"])
    ),
    "a sequence": lambda r: r | str,
    "a parallel": lambda r: {"found": r, "question": RunnablePassthrough()} | RunnableLambda(str),
    "a function": lambda r: RunnableLambda(lambda q: r.invoke(str(q))),
    "a tool": lambda r: (
        RunnableLambda(lambda q: {"query": q}) | langchain_recall.create_recall_tool(r)
    ),
    "a graph": in_a_graph,
    "an agent": in_an_agent,
}
PASS_ON = {"compression", "several in turn", "more questions"}  # callbacks, and no configuration


@langchain
@pytest.mark.parametrize("around", AROUND)
def test_behind_anything_of_langchain(face: Face, store: RecallStore, around: str) -> None:
    named: Any = {"configurable": ANN}
    asked = AROUND[around](face.RecallRetriever(store=store))

    with pytest.raises(ScopeError, match=f"{WHOSE}. Pass scope=.*configurable.*everyone=True"):
        face.call(asked, "invoke", QUESTION)
    if around in PASS_ON:
        for way in (asked, asked.with_config(named)):
            with pytest.raises(ScopeError, match=WHOSE):
                face.call(way, "invoke", QUESTION, named)
        asked = AROUND[around](face.RecallRetriever(store=store, scope=ANN))
    found = str(face.call(asked, "invoke", QUESTION, named))
    assert "4711" in found
    assert "1234" not in found
    meant = AROUND[around](face.RecallRetriever(store=store, everyone=True))
    found = str(face.call(meant, "invoke", QUESTION))
    assert "4711" in found
    assert "1234" in found


def engine(retriever: Any) -> Any:
    return RetrieverQueryEngine.from_args(retriever, llm=ScriptedLLM(replies=["Yes."]))


def routed(retriever: Any) -> Any:
    chosen = ScriptedLLM(replies=['[{"choice": 1, "reason": "codes"}]'])
    tool = RetrieverTool.from_defaults(retriever, description="codes")
    return RouterRetriever(
        LLMSingleSelector.from_defaults(llm=chosen), retriever_tools=[tool], llm=chosen
    )


def fused(retriever: Any, **settings: Any) -> Any:
    return QueryFusionRetriever(
        [retriever], llm=ScriptedLLM(replies=[""]), num_queries=1, **settings
    )


class Behind(BaseRetriever):
    """A retriever of a user's own around ours."""

    def __init__(self, retriever: Any) -> None:
        super().__init__()
        self._inner = retriever

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._inner.retrieve(query_bundle.query_str)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await self._inner.aretrieve(query_bundle.query_str)


AROUND_INDEX: dict[str, Callable[[Any], tuple[Any, str]]] = {
    "an engine": lambda r: (engine(r), "query"),
    "fusion": lambda r: (fused(r), "retrieve"),
    "fusion in turn": lambda r: (fused(r, use_async=False), "retrieve"),
    "a router": lambda r: (routed(r), "retrieve"),
    "a transform": lambda r: (TransformRetriever(r, IdentityQueryTransform()), "retrieve"),
    "a retriever of one's own": lambda r: (Behind(r), "retrieve"),
    "a chat": lambda r: (
        ContextChatEngine.from_defaults(r, llm=ScriptedLLM(replies=["Yes."])),
        "chat",
    ),
    "a tool of theirs": lambda r: (RetrieverTool.from_defaults(r), "call"),
    "an engine as a tool": lambda r: (QueryEngineTool.from_defaults(engine(r)), "call"),
}
LOSES = {"a retriever of one's own", "a chat", "a tool of theirs", "an engine as a tool"}


def sources(face: Face, around: tuple[Any, str], question: Any) -> str:
    answer = face.call(*around, question)
    answer = getattr(answer, "raw_output", answer)
    return str(getattr(answer, "source_nodes", answer))


@llamaindex
@pytest.mark.parametrize("around", AROUND_INDEX)
def test_behind_anything_of_llamaindex(face: Face, store: RecallStore, around: str) -> None:
    place = AROUND_INDEX[around]
    with pytest.raises(ScopeError, match=f"{WHOSE}. Pass scope=.*RecallQueryBundle.*everyone=True"):
        sources(face, place(face.RecallRetriever(store=store)), QUESTION)

    bundle = face.RecallQueryBundle(QUESTION, options={"scope": ANN})
    unbound = place(face.RecallRetriever(store=store))
    bound = place(face.RecallRetriever(store=store, scope=ANN))
    named = (bound, QUESTION) if around in LOSES else (unbound, bundle)
    found = sources(face, *named)
    assert "4711" in found
    assert "1234" not in found

    meant = sources(face, place(face.RecallRetriever(store=store, everyone=True)), QUESTION)
    assert "4711" in meant
    assert "1234" in meant


def calling() -> Any:
    """A model of LlamaIndex that calls the tool once, and says what it read."""

    def reply(messages: list[ChatMessage], **given: Any) -> ChatMessage:
        shown = [str(each.content) for each in messages]
        if any(each.role == "tool" for each in messages) or not given.get("tools"):
            return ChatMessage(role="assistant", content="\n".join(shown))
        call = ToolCallBlock(tool_name="recall", tool_kwargs={"query": QUESTION}, tool_call_id="1")
        return ChatMessage(role="assistant", blocks=[call])

    return MockFunctionCallingLLM(response_generator=reply)


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")
@pytest.mark.parametrize("piece", ["tool", "block"])
async def test_an_agent_of_llamaindex_is_shown_nobodys_memories(
    store: RecallStore, piece: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def said(retriever: Any, options: Any = None, scope_of: Any = None) -> str:
        block = llamaindex_recall.RecallMemoryBlock(retriever=retriever, scope_of=scope_of)
        memory = Memory.from_defaults(
            session_id="monday", memory_blocks=[block] if piece == "block" else []
        )
        tools = [llamaindex_recall.create_recall_tool(retriever)] if piece == "tool" else []
        agent = FunctionAgent(llm=calling(), tools=tools)
        context: Context[Any] = Context(agent)
        await context.store.set("recall_options", options or {})
        return str(await agent.run(QUESTION, memory=memory, ctx=context))

    anybody = llamaindex_recall.RecallRetriever(store=store)
    unnamed = await said(anybody)
    named = await said(anybody, {"scope": ANN}, lambda _: ANN)
    meant = await said(llamaindex_recall.RecallRetriever(store=store, everyone=True))

    assert [code for code in CODES.values() if code in unnamed] == []
    assert WHOSE in (caplog.text if piece == "block" else unnamed)
    assert "4711" in named
    assert "1234" not in named
    assert all(code in meant for code in CODES.values())


@langchain
def test_a_tool_in_an_agent_of_langchain_asks_for_nobody(face: Face, store: RecallStore) -> None:
    call = {"name": "recall", "args": {"query": QUESTION}, "id": "1", "type": "tool_call"}
    replies = [AIMessage("", tool_calls=[call]), AIMessage("Yes.")]

    class Calling(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

    def said(retriever: Any, **given: Any) -> str:
        tool = face.create_recall_tool(retriever)
        agent = create_agent(Calling(messages=iter(replies)), tools=[tool])
        return str(face.call(agent, "invoke", {"messages": [("user", QUESTION)]}, **given))

    anybody = face.RecallRetriever(store=store)
    with pytest.raises(ScopeError, match=WHOSE):
        said(anybody)
    assert "1234" not in said(anybody, config={"configurable": ANN})
    assert "1234" in said(face.RecallRetriever(store=store, everyone=True))


def tell(face: Face, retriever: Any, way: str) -> str:
    """What a retriever, a tool or a piece of an agent answers when it is asked directly."""
    if way == "retriever":
        return str(face.ask(retriever, QUESTION))
    if way == "tool":
        return face.use(face.create_recall_tool(retriever), query=QUESTION)[0]
    if face.is_langchain:
        state: Any = {"messages": [HumanMessage(QUESTION)]}
        return str(
            face.call(face.RecallMiddleware(retriever, gate=None), "before_agent", state, None)
        )
    block = face.RecallMemoryBlock(retriever=retriever, gate=None)
    memory = Memory.from_defaults(memory_blocks=[block])
    return str(face.call(memory, "get", input=QUESTION))


@pytest.mark.parametrize("way", ["retriever", "tool", "piece"])
def test_asked_directly_it_warns_once(
    face: Face, store: RecallStore, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    retriever = face.RecallRetriever(store=store)

    assert all(code in tell(face, retriever, way) for code in CODES.values())
    tell(face, retriever, way)
    tell(face, face.RecallRetriever(store=store, everyone=True), way)
    tell(face, face.RecallRetriever(store=store, scope=BOB), way)
    face.ask(face.RecallRetriever(store=store), QUESTION, everyone=True)

    assert [each.levelname for each in caplog.records if WHOSE in each.message] == ["WARNING"]


def inside(face: Face, retriever: Any) -> str:
    """What a question inside another run finds."""
    if face.is_langchain:
        return str(face.call(RunnableLambda(lambda q: q) | retriever, "invoke", QUESTION))
    return sources(face, (Behind(retriever), "retrieve"), QUESTION)


OWNERS: dict[str, tuple[list[dict[str, str]], dict[str, str], bool]] = {
    "nobody's": ([{}, {}], {}, True),
    "one user's": ([ANN, {**ANN, "session_id": "monday"}], {}, True),
    "one user's, and nobody's": ([ANN, {}], {}, True),
    "two users'": ([ANN, BOB], {}, False),
    "two users', and nobody's": ([{}, ANN, BOB], {}, False),
    "of an agent with one user": ([{**ANN, "agent_id": "a"}, BOB], {"agent_id": "a"}, True),
    "of an agent with two": (
        [{**ANN, "agent_id": "a"}, {**BOB, "agent_id": "a"}],
        {"agent_id": "a"},
        False,
    ),
}


@table("case", OWNERS)
@pytest.mark.parametrize("where", ["memory", "folder"])
@both
def test_what_counts_as_several_users(
    face: Face, words: object, tmp_path: Path, where: str, case: str
) -> None:
    owners, scope, right = OWNERS[case]
    place = tmp_path / str(abs(hash(case))) if where == "folder" else None
    with RecallStore(place, embedding=words) as store:
        store.add({"content": f"The code is {n}.", "scope": own} for n, own in enumerate(owners))
        for seen in (store, store.for_scope(**scope)) if scope else (store,):
            retriever = face.RecallRetriever(store=seen, scope=scope)
            if right:
                assert "The code is 0." in inside(face, retriever)
            else:
                with pytest.raises(ScopeError, match=WHOSE):
                    inside(face, retriever)


@pytest.mark.parametrize("kind", ["in memory", "faiss"])
def test_another_store_shows_its_users_when_it_is_searched(
    face: Face, opened: Callable[..., Any], kind: str
) -> None:
    memories = [{"id": str(x), "content": f"The code is {x}.", "scope": y} for x, y in USERS]
    store = opened(kind, memories)

    with pytest.raises(ScopeError, match=WHOSE):
        inside(face, face.RecallRetriever(store=store))
    assert "The code is 1." in inside(face, face.RecallRetriever(store=store, everyone=True))
    found = inside(face, face.RecallRetriever(store=store, scope=ANN))
    assert "The code is 1." in found
    assert "The code is 2." not in found
