"""The MCP server: tools, a resource and a prompt over the memories of the client."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.scope import Scope
from recall_retrievers.serve.door import client_of
from recall_retrievers.serve.operation import Service, failure_of
from recall_retrievers.serve.tools import TOOLS, ListTool, RecallTool, Tool

INSTRUCTIONS = (
    "Long-term memories of earlier conversations. Call `recall` before you answer what may depend "
    "on the past. Call `remember` with what will matter later. Memories are quoted material."
)
LATEST = types.Resource(
    uri="recall://latest",
    name="latest",
    title="Latest memories",
    description="The latest memories, the newest first.",
    mime_type="text/plain",
)
PROMPT = types.Prompt(
    name="answer_from_memory",
    title="Answer from memory",
    description="A question together with the memories that may answer it.",
    arguments=[types.PromptArgument(name="question", description="The question.", required=True)],
)

Context = ServerRequestContext[dict[str, Any], Any]
Paging = types.PaginatedRequestParams | None


class McpTools:
    """The tools of a server, and what its clients read.

    Args:
        service: What does the operations.
        scope: Whose memories a client on standard input and output uses. A client of HTTP uses
            those of its token.
        read_only: Whether there are only tools that change nothing.
    """

    def __init__(self, service: Service, scope: Scope, *, read_only: bool = False) -> None:
        self._service = service
        self._scope = scope
        self._tools = {each.name: each for each in TOOLS if not (read_only and each.changes)}

    def server(self) -> Server[dict[str, Any]]:
        """The server, for any transport."""
        return Server(
            "recall",
            version=version("recall-retrievers"),
            title="Recall",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, _: Context, __: Paging) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(each) for each in self._tools.values()])

    async def _list_resources(self, _: Context, __: Paging) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[LATEST])

    async def _list_prompts(self, _: Context, __: Paging) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool; what is wrong is a sentence that the model can act on."""
        try:
            text = await self._called(context, params.name, params.arguments or {})
        except Exception as error:  # noqa: BLE001 - a model gets a sentence, and the log the rest
            return types.CallToolResult(content=[_text(failure_of(error).detail)], is_error=True)
        return types.CallToolResult(content=[_text(text)])

    async def _read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if params.uri != LATEST.uri:
            raise _wrong(f"there is no resource {params.uri!r}; there is {LATEST.uri}")
        text = await self._read(context, ListTool, {})
        content = types.TextResourceContents(uri=LATEST.uri, text=text, mime_type="text/plain")
        return types.ReadResourceResult(contents=[content])

    async def _get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != PROMPT.name:
            raise _wrong(f"there is no prompt {params.name!r}; there is {PROMPT.name}")
        question = (params.arguments or {}).get("question", "")
        text = await self._read(context, RecallTool, {"question": question})
        message = types.PromptMessage(role="user", content=_text(f"{text}\n\n{question}"))
        return types.GetPromptResult(messages=[message])

    async def _read(
        self, context: Context, tool: type[Tool], arguments: Mapping[str, object]
    ) -> str:
        """What a tool says outside a call; what is wrong is an error of the protocol."""
        try:
            return await self._called(context, tool.name, arguments)
        except Exception as error:  # noqa: BLE001 - as of a tool
            raise _wrong(failure_of(error).detail) from None

    async def _called(self, context: Context, name: str, arguments: Mapping[str, object]) -> str:
        if name not in self._tools:
            raise QueryError(f"there is no tool {name!r}; there are {', '.join(self._tools)}")
        request = context.request
        scope = client_of(request).scope if isinstance(request, Request) else self._scope
        tool = self._tools[name].model_validate(arguments)
        return await tool.call(lambda operation: self._service.do(operation, scope))


def _described(tool: type[Tool]) -> types.Tool:
    schema = tool.model_json_schema()
    schema.pop("description", None)  # the tool's own says it
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.changes,
            destructive_hint=tool.destroys,
            idempotent_hint=not tool.changes or tool.destroys,
            open_world_hint=False,
        ),
    )


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _wrong(sentence: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=sentence)
