"""An empty user is nobody: a field of a scope that is there and empty is an error, wherever it is.

Every way in which a scope comes in, with every odd value, in both faces. Left out, as None where
that stands for nothing, a scope sets no limit. A new door is put into WAYS or COMMANDS.
"""

import asyncio
import inspect
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import FACES, Face, once
from faces.conftest import MEMORIES
from faces.other_stores import open_store, rows
from faces.owners import FIELDS, QUESTION, add, blanks, odd, retriever
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnablePassthrough
from langgraph.store.base import SearchOp
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.schema import TextNode
from llama_index.core.workflow import Context
from mcp import Client
from starlette.testclient import TestClient
from tables import table

import langchain_recall
import llamaindex_recall
from recall_retrievers.cli.program import _COMMANDS, main
from recall_retrievers.core.errors import ScopeError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.requests import Sessions
from recall_retrievers.core.scope import Scope
from recall_retrievers.evaluation.questions import Question
from recall_retrievers.serve.app import create_memory_app
from recall_retrievers.serve.managing import AddMemories
from recall_retrievers.serve.mcp_server import TOOLS, McpTools
from recall_retrievers.serve.operation import ScopedService
from recall_retrievers.serve.routes import ROUTES
from recall_retrievers.store import RecallStore, ScopedStore

# LlamaIndex's workflows look at every attribute of a pydantic model, also at deprecated ones.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pydantic.warnings.PydanticDeprecationWarning",
    "ignore:builtin type .* has no __module__",  # FAISS's own
)

# These doors are core's: they are tried through one face.
CORES_OWN = re.compile(
    r"^(a scope|a memory|a question.*|AgentMemory.*|HTTP|MCP|\w*Store\.[^a]\w+)$"
)
CONFIGURABLE = ("user_id", "agent_id", "workspace")  # LangChain has session_id for its own


@dataclass(frozen=True)
class Way:
    """A way in which a scope comes in; what is found or stored by it, if anything is."""

    name: str  # of the method, if it is one of those that `methods` lists
    go: Callable[[Face, RecallStore, dict[str, Any]], object]
    fields: tuple[str, ...] = FIELDS
    face: str = ""  # that has it; empty = both
    values: st.SearchStrategy[Any] = odd
    examples: int = 12

    def __str__(self) -> str:
        return self.name


def config(scope: dict[str, Any]) -> Any:
    return {"configurable": scope}


def configured(face: Face, store: Any, config_scope: dict[str, Any], **options: Any) -> object:
    return face.call(retriever(face, store), "invoke", QUESTION, config(config_scope), **options)


def in_a_chain(face: Face, store: Any, scope: dict[str, Any]) -> object:
    chain = RunnablePassthrough() | retriever(face, store)
    return face.call(chain, "invoke", QUESTION, config(scope))


def by_the_tool(face: Face, store: Any, scope: dict[str, Any]) -> object:
    tool = face.create_recall_tool(retriever(face, store))
    return face.call(tool, "invoke", {"query": QUESTION}, config(scope))


def by_the_middleware(face: Face, store: Any, scope: dict[str, Any], **run: Any) -> object:
    middleware = [langchain_recall.RecallMiddleware(retriever(face, store))]
    agent = create_agent(FakeListChatModel(responses=["Yes."]), middleware=middleware)
    said: Any = {"messages": [("user", QUESTION)]}
    return face.call(agent, "invoke", said, config(scope), **run)["recalled"]


def by_the_context_of_a_run(face: Face, store: Any, scope: dict[str, Any]) -> object:
    return by_the_middleware(face, store, {}, context=scope)


def bundled(face: Face, store: Any, own: dict[str, Any], **options: Any) -> object:
    bundle = llamaindex_recall.RecallQueryBundle(QUESTION, options={"scope": own})
    return face.ask(retriever(face, store), bundle, **options)


def by_a_context(face: Face, store: Any, scope: dict[str, Any]) -> object:
    tool = face.create_recall_tool(retriever(face, store))

    async def call() -> str:
        context: Context[Any] = Context(FunctionAgent(llm=MockFunctionCallingLLM()))
        await context.store.set("recall_options", {"scope": scope})
        return (await tool.acall(query=QUESTION, ctx=context)).content

    return asyncio.run(call())


def in_one_call(face: Face, store: Any, scope: dict[str, Any]) -> object:
    return face.call(face, "recall", QUESTION, face.RecallConfig(source=store), scope=scope)


def of_another_store(face: Face, store: Any, scope: dict[str, Any]) -> object:
    yours = open_store("in memory", face, rows(MEMORIES), lambda: 0)
    return face.ask(retriever(face, yours), QUESTION, scope=scope)


def agents(face: Face, memory: Any, **options: Any) -> object:
    return face.call(memory, "search_memory_with_context", "the dentist", **options)


def evaluated(face: Face, store: Any, scope: dict[str, Any]) -> object:
    return Question(question=QUESTION, relevant=["moved"], scope=scope)


def added(face: Face, store: Any, scope: dict[str, Any]) -> object:
    return face.call(store, "add", [{"content": "The dentist is away.", "scope": scope}])


def conversation_added(face: Face, store: Any, scope: dict[str, Any]) -> object:
    said = [{"role": "user", "content": "I see."}]
    return face.call(store, "add_conversation", said, scope=scope)


def taken_over(face: Face, store: Any, scope: dict[str, Any]) -> object:
    anns = retriever(face, store, scope={"user_id": "ann"})
    for bound in (retriever(face, store), anns):
        with pytest.raises(ScopeError):
            add(face, bound, "The dentist is away.", **scope)
    raise ScopeError("both refused")


def through_a_vector_store(face: Face, store: Any, scope: dict[str, Any]) -> object:
    vectors = face.RecallVectorStore(store)
    if face.is_langchain:
        return vectors.add_documents([Document(page_content="Tea.", metadata=scope)])
    return vectors.add([TextNode(text="Tea.", metadata=scope)])


def in_a_namespace(call: Callable[[Any, Any], object]) -> Any:
    def go(_: Face, store: Any, scope: dict[str, Any]) -> object:
        [(field, label)] = scope.items()
        items = langchain_recall.RecallGraphStore(store, namespace=("items", f"{{{field}}}"))
        return call(items, ("items", label))

    return {"go": go, "face": "langchain_recall", "values": st.just(" ")}


def by_http(_: Face, store: RecallStore, scope: dict[str, Any]) -> None:
    client = TestClient(create_memory_app(store), "http://localhost")
    requests: list[Any] = [(each, scope) for each in ROUTES]
    [adding] = [each for each in ROUTES if each.operation is AddMemories]
    for route, named in [*requests, (adding, {"memories": [{"content": "Tea.", **scope}]})]:
        sent = {"json" if route.has_body else "params": named}
        answer = client.request(route.method, route.path, **sent)
        assert (answer.status_code, "must be a text" in answer.text) == (403, True), route
    raise ScopeError("both refused")


def by_mcp(_: Face, store: RecallStore, scope: dict[str, Any]) -> None:
    async def called() -> None:
        async with Client(McpTools(ScopedService.of(store), Scope()).server()) as client:
            for tool in TOOLS:
                refused = await client.call_tool(tool.name, scope)
                assert refused.is_error, tool
                assert f"has no argument '{next(iter(scope))}'" in str(refused.content), tool

    asyncio.run(called())
    raise ScopeError("both refused")


WAYS = [
    Way("a scope", lambda _, __, scope: Scope(**scope)),
    Way("a memory", lambda _, __, scope: Memory(content="The dentist.", scope=scope)),
    Way("the call", lambda f, store, scope: f.ask(retriever(f, store), QUESTION, scope=scope)),
    Way("the retriever", lambda f, store, scope: retriever(f, store, scope=scope)),
    Way(
        "a call of a retriever with a scope",
        lambda f, s, scope: f.ask(retriever(f, s, scope={"user_id": "ann"}), QUESTION, scope=scope),
    ),
    Way("the configuration", configured, CONFIGURABLE, "langchain_recall"),
    Way(
        "the configuration beside a call",
        lambda f, s, scope: configured(f, s, scope, scope={"user_id": "ann"}),
        CONFIGURABLE,
        "langchain_recall",
    ),
    Way(
        "a call beside the configuration",
        lambda f, s, scope: configured(f, s, {"user_id": "ann"}, scope=scope),
        face="langchain_recall",
    ),
    Way("the configuration of a chain", in_a_chain, CONFIGURABLE, "langchain_recall"),
    Way("the recall tool", by_the_tool, CONFIGURABLE, "langchain_recall", examples=20),
    Way(
        "the middleware",
        by_the_middleware,
        CONFIGURABLE,
        "langchain_recall",
        examples=8,
    ),
    Way(
        "the context of a run",
        by_the_context_of_a_run,
        CONFIGURABLE,
        "langchain_recall",
        examples=4,
    ),
    Way("a query bundle", bundled, face="llamaindex_recall"),
    Way(
        "a query bundle beside a call",
        lambda f, s, scope: bundled(f, s, scope, scope={"user_id": "ann"}),
        face="llamaindex_recall",
    ),
    Way("the context of a run", by_a_context, face="llamaindex_recall", examples=10),
    Way("recall()", in_one_call),
    Way("a store of the framework", of_another_store, examples=10),
    Way(
        "a question of explore",
        lambda f, s, scope: f.explore(retriever(f, s)).ask(query=QUESTION, **scope),
        fields=("user_id",),
        values=blanks,
    ),
    Way(
        "a list of explore",
        lambda f, s, scope: f.explore(retriever(f, s)).browse(**scope),
        fields=("user_id",),
        values=blanks,
    ),
    Way("a question with a known answer", evaluated),
    Way(
        "AgentMemory",
        lambda f, store, scope: agents(f, f.AgentMemory(store=store, **scope)),
        ("user_id", "agent_id"),
    ),
    Way(
        "AgentMemory.get_user_memory",
        lambda f, store, scope: agents(f, f.AgentMemory(store=store).get_user_memory(**scope)),
        ("user_id",),
    ),
    Way(
        "AgentMemory.search_memory_with_context",
        lambda f, store, scope: agents(f, f.AgentMemory(store=store), **scope),
        ("user_id",),
    ),
    Way("a memory that is added", added),
    Way("Store.add_conversation", conversation_added),
    Way("documents and nodes that are added", taken_over),
    Way("Store.get", lambda _, s, scope: s.get(["moved"], scope=scope)),
    Way("Store.memories", lambda _, s, scope: list(s.memories(scope=scope))),
    Way("Store.count", lambda _, s, scope: s.count(scope=scope)),
    Way("Store.listed", lambda _, s, scope: s.listed(Sessions(s.clock(), scope))),
    Way("Store.update", lambda _, s, scope: s.update("moved", author="", scope=scope)),
    Way("Store.supersede", lambda _, s, scope: s.supersede("moved", "Tea.", scope=scope)),
    Way("Store.delete", lambda _, s, scope: s.delete(["moved"], scope=scope)),
    Way("Store.purge", lambda _, s, scope: s.purge(scope=scope)),
    Way("Store.for_scope", lambda _, s, scope: s.for_scope(**scope)),
    Way("RecallVectorStore", lambda f, s, scope: f.RecallVectorStore(s, scope=scope)),
    Way("documents and nodes of a vector store", through_a_vector_store, fields=CONFIGURABLE),
    Way(
        "RecallGraphStore",
        lambda _, s, scope: langchain_recall.RecallGraphStore(s, scope=scope),
        face="langchain_recall",
    ),
    # LangGraph itself refuses a label that is None or "", but not in operations made by hand.
    Way("BaseStore.get", **in_a_namespace(lambda s, at: s.get(at, "tea"))),
    Way("BaseStore.search", **in_a_namespace(lambda s, at: s.search(at))),
    Way("BaseStore.put", **in_a_namespace(lambda s, at: s.put(at, "tea", {"a": "b"}))),
    Way("BaseStore.delete", **in_a_namespace(lambda s, at: s.delete(at, "tea"))),
    Way(
        "a namespace that is no scope",
        lambda _, s, scope: langchain_recall.RecallGraphStore(s).batch(
            [SearchOp((*scope, *scope.values()))]
        ),
        values=st.sampled_from([None, ""]),
    ),
    Way("HTTP", by_http, face="langchain_recall", values=st.none() | blanks, examples=8),
    Way("MCP", by_mcp, face="langchain_recall", values=st.none() | blanks, examples=4),
]


@pytest.mark.parametrize(
    ("face", "way"),
    [
        (face, way)
        for way in WAYS
        for face in (FACES[:1] if CORES_OWN.search(way.name) else FACES)
        if way.face in ("", face.package)
    ],
    ids=str,
)
def test_an_empty_field_of_a_scope_is_nobody(store: RecallStore, face: Face, way: Way) -> None:
    @given(field=st.sampled_from(way.fields), value=way.values)
    @settings(max_examples=way.examples)
    def refused(field: str, value: object) -> None:
        with pytest.raises(ScopeError, match=rf"(scope {field}|namespace) must be a text|both"):
            pytest.fail(f"{field}={value!r}: {way.go(face, store, {field: value})}")

    refused()


COMMANDS = {
    "load": ("notes.jsonl", "--into"),
    "ask": (QUESTION, "--chroma"),
    "explain": (QUESTION, "--chroma"),
    "export": ("--chroma",),
    "delete": ("--everything", "--yes", "--chroma"),
    "serve": ("--port", "0"),
    "mcp": ("--port", "0"),
    "look": ("--no-browser",),
}


def test_an_empty_option_is_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RecallStore(tmp_path) as store:
        store.add([{"content": "The dentist moved.", "user_id": "ann"}])
    for command, words in COMMANDS.items():
        for field in FIELDS:
            option = f"--{field.replace('_', '-')}"
            for empty in ("", " "):
                assert main("recall", [command, *words, str(tmp_path), option, empty]) == 2, command
                shown = capsys.readouterr()
                assert (shown.out, f"scope {field} must be a text" in shown.err) == ("", True)
    with RecallStore(tmp_path) as store:
        assert store.count() == 1


def methods() -> Iterator[str]:
    """The public methods that take a scope, or a part of one; a twin with an `a` goes with its."""
    parts = {"scope", "namespace", "namespace_prefix", *FIELDS}
    faces = (langchain_recall.RecallVectorStore, llamaindex_recall.RecallVectorStore)
    others = (langchain_recall.RecallGraphStore, langchain_recall.AgentMemory)
    for cls in (RecallStore, ScopedStore, *faces, *others):
        if cls is not ScopedStore and parts & set(inspect.signature(cls).parameters):
            yield cls.__name__
        for name, method in inspect.getmembers(cls, inspect.isfunction):
            is_twin = name[0] == "a" and hasattr(cls, name[1:])
            taken = inspect.signature(method)
            if not (name[0] == "_" or is_twin) and (
                parts & set(taken.parameters) or "ScopeFields" in str(taken)
            ):
                yield method.__qualname__


def test_every_door_is_in_the_lists() -> None:
    """`by_http` and `by_mcp` go through all routes and tools there are."""
    helped = {name: ArgumentParser() for name in _COMMANDS}
    for name, parser in helped.items():
        module = import_module(f"recall_retrievers.cli.{_COMMANDS[name].module}")
        getattr(module, f"add_{name}")(parser)

    assert set(methods()) <= {way.name for way in WAYS}
    assert set(COMMANDS) == {name for name, x in helped.items() if "--user-id" in x.format_help()}


@once
@table("nothing", [None, {}, Scope()], ids=str)
def test_no_scope_is_no_limit(store: RecallStore, face: Face, nothing: Any) -> None:
    everybody = {each.id for each in face.ask(retriever(face, store, k=9), QUESTION)}

    asked = face.ask(retriever(face, store, k=9), QUESTION, scope=nothing)
    opened = face.ask(retriever(face, store, k=9, scope=nothing), QUESTION)

    assert {each.id for each in asked} == {each.id for each in opened} == everybody
    assert {"bob", "moved"} <= everybody


@once
@table("wrong", ["", "ann", 0, False, [], [("user_id", "ann")]], ids=repr)
def test_what_is_no_scope_at_all(store: RecallStore, face: Face, wrong: Any) -> None:
    with pytest.raises(ScopeError, match="scope must be a Scope or a mapping"):
        face.ask(retriever(face, store), QUESTION, scope=wrong)
    with pytest.raises(ScopeError, match="scope must be a Scope or a mapping"):
        retriever(face, store, scope=wrong)
