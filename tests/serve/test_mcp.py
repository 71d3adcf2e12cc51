"""Sessions of real clients with the MCP server: over HTTP and over standard input and output."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, JSONRPCRequest, TextContent
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from serve.kit import ANN, BOB, ROOT, TOKENS, bearer, filled_store, running, stdio_command
from tables import table

from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.greeting import answer_to
from recall_retrievers.serve.mcp_server import McpTools
from recall_retrievers.serve.operation import ScopedService
from recall_retrievers.store import RecallStore

# LlamaIndex's workflows look at every attribute of a pydantic model, also at deprecated ones.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")

TOOLS = ["recall", "remember", "update", "supersede", "forget", "list_memories"]
SISTER = {"content": "The sister of Ann is Eva."}
CALLS = [
    {"name": "remember", "args": SISTER},
    {"name": "recall", "args": {"query": "Who is Ann's sister?", "k": 1}},
]
# A folder with langchain-mcp-adapters and the mcp 1 that it needs; see `langchain_client`.
ADAPTERS = os.environ.get("RECALL_MCP_ADAPTERS", "")


def url_of(server: httpx.Client) -> str:
    return f"{server.base_url}".rstrip("/") + "/mcp"


def client_of(server: httpx.Client, token: str) -> Client:
    over_http = httpx2.AsyncClient(headers=bearer(token))
    return Client(streamable_http_client(url_of(server), http_client=over_http))


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_the_tools_say_what_they_do(server: httpx.Client) -> None:
    async with client_of(server, ANN) as client:
        tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == TOOLS
    hints = {tool.name: tool.annotations for tool in tools}
    assert [hints[name].read_only_hint for name in TOOLS] == [True, *[False] * 4, True]
    assert {name for name in TOOLS if hints[name].destructive_hint} == {"update", "forget"}
    assert not any(hints[name].open_world_hint for name in TOOLS)
    schemas = json.dumps([tool.input_schema for tool in tools])
    assert not re.search('scope|user_id|session|workspace|null|"default": ""', schemas)


async def test_a_client_over_http_sees_the_memories_of_its_token(server: httpx.Client) -> None:
    asked = {"query": "What did the dentist do?", "when": "on 5 March 2024"}
    for token, said in [(ANN, "The dentist filled a tooth."), (BOB, "The dentist of Bob is")]:
        async with client_of(server, token) as client:
            shown = text_of(await client.call_tool("recall", asked))
        assert "quoted material" in shown
        assert shown.count("</memory>") == 1
        assert said in shown


@table(
    ("name", "arguments", "said"),
    [
        ("recall", {"query": "tea", "when": ""}, "when must not be empty: pass a value, or le"),
        ("list_memories", {"since": None}, "since must be a text; got None"),
        ("forget", {"ids": ["moved", ""]}, "ids must not be empty"),
        ("recall", {"query": "tea", "k": 0}, "k must be at least 1; got 0"),
        ("recall", {"query": "tea", "user_id": "bob"}, "no argument 'user_id'. It takes: as_of"),
        ("recall", {}, "query is missing"),
        ("forget", {"ids": []}, "ids must be a list with at least 1 item"),
        ("list_memories", {"after": "x"}, "after must be the `next` of the page before"),
        ("list_memories", {"after": "W1tb" * 20_000}, "after must be the `next` of the page"),
        ("list_memories", {"order": "best"}, "order must be 'newest' or 'oldest'"),
        ("remember", {"content": "x", "created_at": "soon"}, "created_at"),
        ("recall", {"query": "tea", "as_of": "soon"}, "as_of must be an int, float, ISO 8601"),
        ("update", {"id": "bobs", "content": "tea"}, "there is no memory 'bobs'"),
        ("supersede", {"id": "bobs", "content": "tea"}, "there is no memory 'bobs'"),
        ("recal", {}, "there is no tool 'recal'; there are recall, remember, u"),
    ],
)
def test_a_mistake_is_a_sentence_for_the_model(
    server: httpx.Client, name: str, arguments: dict[str, Any], said: str
) -> None:
    async def called() -> CallToolResult:
        async with client_of(server, ANN) as client:
            return await client.call_tool(name, arguments)

    result = asyncio.run(called())
    assert result.is_error
    assert said in text_of(result)
    assert "pydantic" not in text_of(result)


async def test_memories_are_listed_page_by_page_and_forgotten_by_their_ids() -> None:
    with filled_store() as store, running(store, tokens=TOKENS) as server:
        async with client_of(server, ANN) as client:
            first = text_of(await client.call_tool("list_memories", {"limit": 1}))
            assert "The dentist filled a tooth." in first
            [after] = re.findall(r'pass after="([^"]+)"', first)
            second = text_of(await client.call_tool("list_memories", {"limit": 1, "after": after}))
            assert "The dentist moved" in second
            assert "There are more" not in second

            ids = [*re.findall(r'id="(\w+)"', second), "bobs"]
            said = text_of(await client.call_tool("forget", {"ids": ids}))
            assert said.startswith("Forgot 1 memory. There is no memory with 1 of the ids")
        assert sorted(each.id for each in store.memories()) == ["bobs", "filled", "uploads"]


async def test_the_same_text_is_stored_once_in_a_scope() -> None:
    with filled_store() as store, running(store, tokens=TOKENS) as server:
        for token, said in [(ANN, "Remembered, "), (ANN, "This was stored already, "), (BOB, "Re")]:
            async with client_of(server, token) as client:
                done = await client.call_tool("remember", SISTER)
                again = await client.call_tool(
                    "remember", {"content": "The  sister of Ann is Eva."}
                )
            assert text_of(done).startswith(said)
            assert text_of(again).startswith("This was stored already, with the id")
        assert store.count() == 6

        async with client_of(server, ANN) as client:  # longer than a question may be
            said = [await client.call_tool("remember", {"content": "tea " * 20_000}) for _ in "12"]
        assert [text_of(each)[:15] for each in said] == ["Remembered, wit", "This was stored"]


async def test_what_a_tool_says_is_there_for_programs_too(server: httpx.Client) -> None:
    async with client_of(server, ANN) as client:
        found = await client.call_tool("recall", {"query": "dentist", "k": 1})
        listed = await client.call_tool("list_memories", {"limit": 1})
        templates = await client.list_resource_templates()

    [memory] = found.structured_content["metadata"]["memory_list"]
    assert memory["content"] in text_of(found)
    assert "answer" not in found.structured_content
    assert [each["id"] for each in listed.structured_content["memories"]] == ["filled"]
    assert templates.resource_templates == []


async def test_a_follow_up_is_recalled_with_what_was_said(server: httpx.Client) -> None:
    said = [{"role": "user", "content": "Where did the dentist of Elm Street move from?"}]
    asked = {"query": "And since when?", "k": 1, "messages": said}
    async with client_of(server, ANN) as client:
        assert "Elm Street" in text_of(await client.call_tool("recall", asked))


async def test_the_latest_memories_are_a_resource(server: httpx.Client) -> None:
    async with client_of(server, BOB) as client:
        [resource] = (await client.list_resources()).resources
        [content] = (await client.read_resource(resource.uri)).contents
        with pytest.raises(MCPError, match="there is recall://latest"):
            await client.read_resource("recall://all")

    assert "Dr. Grey" in str(content)
    assert str(content).count("</memory>") == 1


def initialize(version: str) -> dict[str, object]:
    """The first message of a client."""
    client = {"name": "Ann", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
async def test_the_first_answer_of_a_process_is_that_of_the_server(version: str) -> None:
    request = initialize(version)
    handed, messages = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    answers, answered = anyio.create_memory_object_stream[SessionMessage](1)
    await handed.send(SessionMessage(JSONRPCRequest.model_validate(request)))
    handed.close()
    with filled_store() as store:
        server = McpTools(ScopedService.of(store), Scope()).server()
        await server.run(messages, answers, server.create_initialization_options())
        answer = (await answered.receive()).message.model_dump(by_alias=True, exclude_unset=True)

    assert answer_to(json.dumps(request).encode()) == answer


@table(
    ("name", "value"),
    [
        ("method", "tools/list"),
        ("id", None),
        ("params", {"protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": {}}),
        ("params", {"protocolVersion": "2025-06-18"}),
        ("params", []),
    ],
)
def test_other_first_messages_are_answered_by_the_server(name: str, value: object) -> None:
    request = {**initialize("2025-06-18"), name: value}

    assert answer_to(json.dumps(request).encode()) is None


async def test_a_server_may_have_no_tool_that_writes() -> None:
    with filled_store() as store:
        tools = McpTools(ScopedService.of(store), Scope(), read_only=True)
        async with Client(tools.server()) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            refused = await client.call_tool("remember", SISTER)

    assert names == ["recall", "list_memories"]
    assert refused.is_error


async def test_a_prompt_brings_the_memories(server: httpx.Client) -> None:
    async with client_of(server, BOB) as client:
        [prompt] = (await client.list_prompts()).prompts
        asked = {"query": "Who is my dentist?"}
        [message] = (await client.get_prompt(prompt.name, asked)).messages
        with pytest.raises(MCPError, match="query must be a text"):
            await client.get_prompt(prompt.name, {})

    assert isinstance(message.content, TextContent)
    assert "Dr. Grey" in message.content.text
    assert message.content.text.endswith("\n\nWho is my dentist?")


class Scripted:
    """A model of LlamaIndex that makes the calls, and then says what the last one showed."""

    def __init__(self) -> None:
        self.llm = MockFunctionCallingLLM(response_generator=self._reply)

    def _reply(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        results = [str(each.content) for each in messages if each.role == "tool"]
        if len(results) < len(CALLS):
            call = CALLS[len(results)]
            block = ToolCallBlock(
                tool_name=call["name"], tool_kwargs=call["args"], tool_call_id=str(len(results))
            )
            return ChatMessage(role="assistant", blocks=[block])
        said = re.search(r"The sister of Ann is \w+", results[-1])
        return ChatMessage(role="assistant", blocks=[TextBlock(text=said[0] if said else "?")])


async def test_an_agent_of_llamaindex_remembers_over_http() -> None:
    with filled_store() as store, running(store, tokens=TOKENS) as server:
        client = BasicMCPClient(url_of(server), headers=bearer(ANN))
        tools = await McpToolSpec(client=client).to_tool_list_async()
        answer = await FunctionAgent(tools=tools, llm=Scripted().llm).run("Who is my sister?")

        assert [tool.metadata.name for tool in tools] == TOOLS
        assert str(answer) == "The sister of Ann is Eva"
        assert store.count() == 5


@pytest.mark.slow
async def test_a_client_of_llamaindex_starts_the_server_itself(tmp_path: Path) -> None:
    with RecallStore(tmp_path) as store:
        store.add([{**SISTER, "user_id": "ann"}, {"content": "Sisters?", "user_id": "bob"}])
    program, words, environment = stdio_command(tmp_path, "--user-id", "ann")
    client = BasicMCPClient(program, args=words, env=environment)

    found = str(await client.call_tool("recall", {"query": "Who is Ann's sister?"}))
    assert "The sister of Ann is Eva." in found
    assert "Sisters?" not in found


def _with_adapters(server: dict[str, Any]) -> dict[str, Any]:
    """What an agent of LangChain did with a server."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "serve" / "langchain_client.py")],
        input=json.dumps({"server": server, "calls": CALLS}),
        env={**os.environ, "PYTHONPATH": ADAPTERS},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.slow
@pytest.mark.skipif(not ADAPTERS, reason="needs an environment of its own: make test-install")
@pytest.mark.parametrize("over", ["http", "stdio"])
def test_an_agent_of_langchain(tmp_path: Path, over: str) -> None:
    if over == "http":
        with filled_store() as store, running(store, tokens=TOKENS) as server:
            done = _with_adapters(
                {"transport": "streamable_http", "url": url_of(server), "headers": bearer(ANN)}
            )
    else:
        program, words, environment = stdio_command(tmp_path / "memories", "--user-id", "ann")
        done = _with_adapters(
            {"transport": "stdio", "command": program, "args": words, "env": environment}
        )

    assert done["tools"] == TOOLS
    assert done["results"][0].startswith("Remembered, with the id")
    assert "The sister of Ann is Eva." in done["results"][1]
    assert done["answer"] == "Done."
