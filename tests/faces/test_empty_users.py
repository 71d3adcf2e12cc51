"""An empty user is nobody: a field of a scope that is there and empty is an error, wherever it is.

Every way in which a scope comes in, with every odd value, in both faces. Left out, as None where
that stands for nothing, a scope sets no limit. A new door is put into one of the lists here: WAYS,
REQUESTS, TOOL_CALLS or COMMANDS.
"""

import asyncio
import inspect
from argparse import _SubParsersAction
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faces.adapters import FACES, Face
from faces.conftest import MEMORIES
from faces.empty_scopes import FIELDS, QUESTION, blanks, odd, retriever
from faces.other_stores import open_store, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnablePassthrough
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.schema import TextNode
from llama_index.core.workflow import Context
from mcp import Client
from starlette.testclient import TestClient
from tables import table

import langchain_recall
import llamaindex_recall
from recall_stages.cli.program import _parser, main
from recall_stages.core.errors import ScopeError
from recall_stages.core.memory import Memory
from recall_stages.core.scope import Scope
from recall_stages.serve.app import create_memory_app
from recall_stages.serve.mcp_server import McpTools
from recall_stages.serve.operation import ScopedService
from recall_stages.serve.routes import ROUTES
from recall_stages.serve.tools import TOOLS
from recall_stages.store import RecallStore, ScopedStore

# LlamaIndex's workflows look at every attribute of a pydantic model, also at deprecated ones.
pytestmark = pytest.mark.filterwarnings(
    "ignore::pydantic.warnings.PydanticDeprecationWarning",
    "ignore:builtin type .* has no __module__",  # FAISS's own
)

CONFIGURABLE = ("user_id", "agent_id", "workspace")  # LangChain has session_id for its own


@dataclass(frozen=True)
class Way:
    """A way in which a scope comes in; what is found or stored by it, if anything is.

    Attributes:
        doors: The methods that it goes through, of those that `methods` lists.
    """

    name: str
    go: Callable[[Face, RecallStore, dict[str, Any]], object]
    doors: tuple[str, ...] = ()
    fields: tuple[str, ...] = FIELDS
    face: str = ""  # that has it; empty = both
    values: st.SearchStrategy[Any] = odd
    examples: int = 40

    def __str__(self) -> str:
        return self.name


def config(scope: dict[str, Any]) -> Any:
    return {"configurable": scope}


def configured(face: Face, store: Any, config_scope: dict[str, Any], **options: Any) -> object:
    shared = retriever(face, store)
    call = shared.ainvoke if face.is_async else shared.invoke
    return face._wait(call(QUESTION, config(config_scope), **options))


def in_a_chain(face: Face, store: Any, scope: dict[str, Any]) -> object:
    chain = RunnablePassthrough() | retriever(face, store)
    return face._wait((chain.ainvoke if face.is_async else chain.invoke)(QUESTION, config(scope)))


def by_the_tool(face: Face, store: Any, scope: dict[str, Any]) -> object:
    tool = face.create_recall_tool(retriever(face, store))
    call = tool.ainvoke if face.is_async else tool.invoke
    return face._wait(call({"query": QUESTION}, config(scope)))


def by_the_middleware(face: Face, store: Any, scope: dict[str, Any]) -> object:
    middleware = [langchain_recall.RecallMiddleware(retriever(face, store))]
    agent = create_agent(FakeListChatModel(responses=["Yes."]), middleware=middleware)
    said: Any = {"messages": [("user", QUESTION)]}
    call = agent.ainvoke if face.is_async else agent.invoke
    return face._wait(call(said, config(scope)))["recalled"]


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
    call = face.arecall if face.is_async else face.recall
    return face._wait(call(QUESTION, face.RecallConfig(source=store), scope=scope))


def of_another_store(face: Face, store: Any, scope: dict[str, Any]) -> object:
    yours = open_store("in memory", face, rows(MEMORIES), lambda: 0)
    return face.ask(retriever(face, yours), QUESTION, scope=scope)


def agents(face: Face, memory: Any, **options: Any) -> object:
    call = "asearch_memory_with_context" if face.is_async else "search_memory_with_context"
    return face._wait(getattr(memory, call)("the dentist", **options))


def evaluated(face: Face, store: Any, scope: dict[str, Any]) -> object:
    return face.Question(question=QUESTION, relevant=["moved"], scope=scope)


def added(face: Face, store: Any, scope: dict[str, Any]) -> object:
    return face._wait((store.aadd if face.is_async else store.add)([row(scope)]))


def taken_over(face: Face, store: Any, scope: dict[str, Any]) -> object:
    anns = retriever(face, store, scope={"user_id": "ann"})
    for bound in (retriever(face, store), anns):
        with pytest.raises(ScopeError):
            add_to(face, bound, "The dentist is away.", **scope)
    raise ScopeError("both refused")


def add_to(face: Face, asked: Any, text: str, **metadata: Any) -> list[str]:
    if face.is_langchain:
        return asked.add_documents([Document(page_content=text, metadata=metadata)])
    return asked.add_nodes([TextNode(text=text, metadata=metadata)])


def row(scope: Any) -> dict[str, Any]:
    return {"content": "The dentist is away.", "scope": scope}


def all_refuse(ways: Iterator[Callable[[], object]], why: str = "must be a text") -> None:
    for way in ways:
        with pytest.raises((ScopeError, TypeError, ValueError), match=why):
            pytest.fail(str(way()))
    raise ScopeError("both refused")


STORE_METHODS: dict[str, tuple[Any, ...]] = {
    "get": (["moved"],),
    "delete": (["moved"],),
    "update": ("moved",),
    "add_conversation": ([{"role": "user", "content": "I see."}],),
    "memories": (),
    "count": (),
    "purge": (),
}


def by_each_method(face: Face, store: RecallStore, scope: dict[str, Any]) -> None:
    def done(owner: Any, name: str) -> object:
        given = STORE_METHODS[name]
        if name == "memories" or not face.is_async:
            return getattr(owner, name)(*given, scope=scope)
        return face._wait(getattr(owner, f"a{name}")(*given, scope=scope))

    owners = (store, store.for_scope(user_id="ann"))
    all_refuse((lambda o=o, n=n: done(o, n)) for o in owners for n in STORE_METHODS)


def by_the_vector_store(face: Face, store: RecallStore, scope: dict[str, Any]) -> None:
    of_face: Any = langchain_recall if face.is_langchain else llamaindex_recall
    vectors = of_face.RecallVectorStore(store)
    piece: dict[str, Any] = {"metadata": scope}
    ways: list[Callable[[], object]] = [lambda: of_face.RecallVectorStore(store, scope=scope)]
    if face.is_langchain:
        ways.append(lambda: vectors.add_documents([Document(page_content="Tea.", **piece)]))
        ways.append(lambda: vectors.similarity_search(QUESTION, **scope))
    else:
        ways.append(lambda: vectors.add([TextNode(text="Tea.", **piece)]))
        ways.append(lambda: vectors.delete_nodes(["moved"], **scope))
    all_refuse(iter(ways), "must be a text|has no argument")


def by_a_namespace(face: Face, store: RecallStore, scope: dict[str, Any]) -> None:
    [(field, label)] = scope.items()
    named = langchain_recall.RecallGraphStore(store, namespace=("items", f"{{{field}}}"))
    free = langchain_recall.RecallGraphStore(store)
    where: Any = ("items", label)
    ways: list[Callable[[], object]] = [
        lambda: langchain_recall.RecallGraphStore(store, scope=scope),
        lambda: named.get(where, "moved"),
        lambda: named.search(where),
        lambda: named.put(where, "tea", {"content": "Tea."}),
        lambda: named.delete(where, "tea"),
        *([] if label else [lambda: free.search(where)]),
    ]
    all_refuse(iter(ways), "must be a text|Namespace label")


REQUESTS: dict[str, dict[str, Any]] = {
    "POST /retrieve_personal_memory": {"query": QUESTION},
    "POST /retrieve_task_memory": {"query": QUESTION},
    "POST /memories": {"memories": [{"content": "The dentist is away."}]},
    "GET /memories": {},
    "DELETE /memories": {"everything": True},
    "GET /memories/{id}": {},
    "PATCH /memories/{id}": {"content": "The dentist is away."},
    "DELETE /memories/{id}": {},
    "GET /count": {},
}
"""A request for each route of HTTP."""


def by_http(_: Face, store: RecallStore, scope: dict[str, Any]) -> None:
    client = TestClient(create_memory_app(store), "http://localhost")
    field = {f"{name}_id" if name == "workspace" else name: x for name, x in scope.items()}
    bodies = [{"memories": [{"content": "The dentist is away.", **field}]}]
    for route, arguments in REQUESTS.items():
        method, path = route.format(id="moved").split()
        for body in [{**arguments, **field}, *(bodies if "memories" in arguments else [])]:
            how = "json" if method in ("POST", "PATCH") else "params"
            answer = client.request(method, path, **{how: body})
            assert (answer.status_code, "must be a text" in answer.text) == (403, True), route
    raise ScopeError("both refused")


TOOL_CALLS: dict[str, dict[str, Any]] = {
    "recall": {"question": QUESTION},
    "remember": {"content": "The dentist is away."},
    "forget": {"ids": ["moved"]},
    "list_memories": {},
}
"""A call of each tool of MCP. No tool takes a scope at all."""


def by_mcp(_: Face, store: RecallStore, scope: dict[str, Any]) -> None:
    async def called() -> None:
        async with Client(McpTools(ScopedService.of(store), Scope()).server()) as client:
            for name, arguments in TOOL_CALLS.items():
                result = await client.call_tool(name, {**arguments, **scope})
                assert result.is_error, name
                assert "has no argument" in str(result.content), name

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
    Way("the configuration", configured, fields=CONFIGURABLE, face="langchain_recall"),
    Way(
        "the configuration beside a call",
        lambda f, s, scope: configured(f, s, scope, scope={"user_id": "ann"}),
        fields=CONFIGURABLE,
        face="langchain_recall",
    ),
    Way(
        "a call beside the configuration",
        lambda f, s, scope: f._wait(
            getattr(retriever(f, s), "ainvoke" if f.is_async else "invoke")(
                QUESTION, config({"user_id": "ann"}), scope=scope
            )
        ),
        face="langchain_recall",
    ),
    Way("the configuration of a chain", in_a_chain, fields=CONFIGURABLE, face="langchain_recall"),
    Way("the recall tool", by_the_tool, fields=CONFIGURABLE, face="langchain_recall", examples=20),
    Way(
        "the middleware",
        by_the_middleware,
        fields=CONFIGURABLE,
        face="langchain_recall",
        examples=8,
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
    Way("a question with a known answer", evaluated),
    Way(
        "an agent's memory",
        lambda f, store, scope: agents(f, f.AgentMemory(store=store, **scope)),
        doors=("AgentMemory.__init__",),
        fields=("user_id", "agent_id"),
    ),
    Way(
        "an agent's memory, opened for a user",
        lambda f, store, scope: agents(f, f.AgentMemory(store=store).get_user_memory(**scope)),
        doors=("AgentMemory.get_user_memory",),
        fields=("user_id",),
    ),
    Way(
        "an agent's memory, asked for a user",
        lambda f, store, scope: agents(f, f.AgentMemory(store=store), **scope),
        doors=("AgentMemory.search_memory_with_context",),
        fields=("user_id",),
    ),
    Way("a memory that is added", added),
    Way("documents and nodes that are added", taken_over),
    Way(
        "the methods of a store and of a view",
        by_each_method,
        tuple(f"{of}.{name}" for of in ("RecallStore", "ScopedStore") for name in STORE_METHODS),
        examples=15,
    ),
    Way(
        "a view",
        lambda _, store, scope: store.for_scope(**scope),
        ("RecallStore.for_scope", "ScopedStore.for_scope"),
    ),
    Way(
        "the vector store",
        by_the_vector_store,
        ("RecallVectorStore.__init__",),
        fields=("user_id", "agent_id"),
        examples=15,
    ),
    Way(
        "LangGraph's store",
        by_a_namespace,
        tuple(
            f"RecallGraphStore.{name}" for name in ("__init__", "get", "put", "search", "delete")
        ),
        face="langchain_recall",
        values=st.none() | blanks,
        examples=15,
    ),
    Way(
        "a server of HTTP",
        by_http,
        face="langchain_recall",
        values=st.none() | blanks,
        examples=8,
    ),
    Way("a server of MCP", by_mcp, face="langchain_recall", values=st.none() | blanks, examples=4),
]


@pytest.mark.parametrize(
    ("face", "way"),
    [(face, way) for face in FACES for way in WAYS if way.face in ("", face.package)],
    ids=str,
)
def test_an_empty_field_of_a_scope_is_nobody(store: RecallStore, face: Face, way: Way) -> None:
    @given(field=st.sampled_from(way.fields), value=way.values)
    @settings(max_examples=way.examples)
    def refused(field: str, value: object) -> None:
        with pytest.raises(ScopeError, match=rf"scope {field} must be a text|both refused"):
            pytest.fail(f"{field}={value!r}: {way.go(face, store, {field: value})}")

    refused()


COMMANDS = {
    "ask": (QUESTION, "--chroma"),
    "explain": (QUESTION, "--chroma"),
    "export": ("--chroma",),
    "delete": ("--everything", "--yes", "--chroma"),
    "serve": ("--port", "0"),
    "mcp": ("--port", "0"),
}
"""The commands that take a scope."""


def test_an_empty_option_is_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RecallStore(tmp_path) as store:
        store.add([{"content": "The dentist moved.", "user_id": "ann"}])
    for command, words in COMMANDS.items():
        for field in FIELDS:
            option = f"--{field.replace('_', '-')}"
            assert main("recall", [command, *words, str(tmp_path), option, " "]) == 2, command
            assert f"scope {field} must be a text" in capsys.readouterr().err, command
    with RecallStore(tmp_path) as store:
        assert store.count() == 1


def methods() -> Iterator[str]:
    """The public methods that take a scope, or a part of one; a twin with an `a` goes with its."""
    parts = {"scope", "fields", "namespace", "namespace_prefix", *FIELDS}
    for of in (
        RecallStore,
        ScopedStore,
        langchain_recall.RecallVectorStore,
        llamaindex_recall.RecallVectorStore,
        langchain_recall.RecallGraphStore,
        langchain_recall.AgentMemory,
    ):
        for name, method in inspect.getmembers(of, inspect.isfunction):
            is_twin = name[0] == "a" and hasattr(of, name[1:])
            if name == "__init__" or not (name[0] == "_" or is_twin):
                signature = inspect.signature(of if name == "__init__" else method)
                if parts & set(signature.parameters):
                    yield f"{of.__name__}.{name}"


def test_every_door_is_in_the_lists() -> None:
    """A method, route, tool or command that takes a scope is in one of the lists above."""
    [commands] = [
        each for each in _parser("recall")._actions if isinstance(each, _SubParsersAction)
    ]
    with_scope = {
        name
        for name, parser in commands.choices.items()
        if any("--user-id" in each.option_strings for each in parser._actions)
    }

    # A view is made by `for_scope`; the fields of a store are names of metadata.
    others = {"ScopedStore.__init__", "RecallStore.__init__"}
    assert set(methods()) - others == {x for way in WAYS for x in way.doors}
    assert set(REQUESTS) == {f"{each.method} {each.path}" for each in ROUTES}
    assert set(TOOL_CALLS) == {each.name for each in TOOLS}
    assert set(COMMANDS) == with_scope


@table("nothing", [None, {}, Scope()], ids=str)
def test_no_scope_is_no_limit(store: RecallStore, face: Face, nothing: Any) -> None:
    everybody = {each.id for each in face.ask(retriever(face, store, k=9), QUESTION)}

    asked = face.ask(retriever(face, store, k=9), QUESTION, scope=nothing)
    opened = face.ask(retriever(face, store, k=9, scope=nothing), QUESTION)

    assert {each.id for each in asked} == {each.id for each in opened} == everybody
    assert {"bob", "moved"} <= everybody


@table("wrong", ["", "ann", 0, False, [], [("user_id", "ann")]], ids=repr)
def test_what_is_no_scope_at_all(store: RecallStore, face: Face, wrong: Any) -> None:
    with pytest.raises(ScopeError, match="scope must be a Scope or a mapping"):
        face.ask(retriever(face, store), QUESTION, scope=wrong)
    with pytest.raises(ScopeError, match="scope must be a Scope or a mapping"):
        retriever(face, store, scope=wrong)


def test_what_is_written_out_is_read_again(face: Face) -> None:
    """A field without a value is left out, or it would be there and empty."""
    for scope in ({}, {"user_id": "ann"}):
        memory = face.Memory(content="Tea.", scope=scope)
        assert face.Memory(**memory.model_dump(exclude={"created_at"})) == memory
        assert face.Memory.model_validate_json(memory.model_dump_json()) == memory
