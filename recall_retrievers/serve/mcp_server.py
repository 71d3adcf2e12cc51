"""The MCP server: tools, a resource and a prompt over the memories of the client.

Whose memories is never an argument. A memory is shown in a fence: what it says is quoted material.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, ClassVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request

from recall_retrievers.agents.recall_tool import (
    AS_OF,
    DESCRIPTION,
    ONLY_WITH_EVIDENCE,
    SINCE,
    UNTIL,
    WHEN,
    nothing_found,
    shown_memories,
)
from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.message import MOST_MESSAGES
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Settings
from recall_retrievers.look.answer import MemoryView
from recall_retrievers.serve.door import client_of
from recall_retrievers.serve.greeting import INSTRUCTIONS
from recall_retrievers.serve.managing import (
    Added,
    AddMemories,
    Deleted,
    DeleteMemories,
    ListMemories,
    NewMemory,
    Page,
    SupersedeMemory,
    UpdateMemory,
)
from recall_retrievers.serve.operation import (
    MESSAGES,
    MOST_PER_REQUEST,
    Operation,
    Retrieved,
    RetrievePersonalMemory,
    Service,
    failure_of,
    without_empty_defaults,
)
from recall_retrievers.stages.plain_texts import NOTHING_FOUND
from recall_retrievers.store.conditions import Order

Do = Callable[[Operation], Awaitable[BaseModel]]
"""Runs an operation for the client that calls a tool."""


class Tool(Settings):
    """A tool: its fields are the arguments of a call."""

    model_config = ConfigDict(frozen=True, json_schema_extra=without_empty_defaults)

    public_name: ClassVar[str] = "a tool"
    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    changes: ClassVar[bool] = False
    destroys: ClassVar[bool] = False

    async def call(self, do: Do) -> str:
        """Do what is asked for; what the model reads of it."""
        raise NotImplementedError

    def _named(self) -> dict[str, Any]:
        """The arguments that the model wrote; the operation refuses an empty one."""
        return {name: value for name, value in self if name in self.model_fields_set}


class RecallTool(Tool):
    """Finds the memories that answer a question."""

    name = public_name = "recall"
    title = "Recall memories"
    description = DESCRIPTION

    query: str = Field(min_length=1, description="What to look for, as a full question.")
    k: int = Field(default=5, ge=1, le=MOST_PER_REQUEST, description="How many memories at most.")
    when: str = Field(default="", description=WHEN)
    since: str = Field(default="", description=SINCE)
    until: str = Field(default="", description=UNTIL)
    as_of: str = Field(default="", description=AS_OF)
    only_with_evidence: bool = Field(default=False, description=ONLY_WITH_EVIDENCE)
    messages: Sequence[dict[str, object]] = Field(
        default=(), max_length=MOST_MESSAGES, description=MESSAGES
    )

    async def call(self, do: Do) -> str:
        """The memories in their fences, best first."""
        done = await do(RetrievePersonalMemory(**self._named()))
        found = Retrieved.model_validate(done).metadata
        shown = _shown(found.memory_list, found.evidence)
        return shown or nothing_found(self.when, self.since, self.until, found.evidence_about)


class RememberTool(Tool):
    """Stores a memory."""

    name = public_name = "remember"
    title = "Remember something"
    description = (
        "Store one memory for later conversations: a fact, a preference, a plan, an experience. "
        "Write it so that it can be understood alone, with names instead of pronouns."
    )
    changes = True

    content: str = Field(min_length=1, description="The memory, in one or a few sentences.")
    memory_type: str = Field(
        default="observation",
        description="observation, insight, profile, event, task, or a word of your own.",
    )
    when_to_use: str = Field(default="", description="For a task: the condition in which it helps.")
    created_at: str = Field(
        default="", description="When it was said or done, in ISO 8601, if that is not now."
    )

    async def call(self, do: Do) -> str:
        """A sentence that says that it is stored, or was before, with its id."""
        named = {name: value for name, value in self if value != ""}
        stored = await do(AddMemories(memories=[NewMemory(**named)], only_new=True))
        done = Added.model_validate(stored)
        [memory_id] = done.ids
        if done.known:
            return f"This was stored already, with the id {memory_id!r}; nothing was changed."
        return f"Remembered, with the id {memory_id!r}."


class UpdateTool(Tool):
    """Changes a memory."""

    name = public_name = "update"
    title = "Correct a memory"
    description = (
        "Correct a memory that was wrong or incomplete from the beginning, by its id. What it said "
        "before is lost. If the world has changed instead, use `supersede`."
    )
    changes = True
    destroys = True

    id: str = Field(min_length=1, description="The id of the memory.")
    content: str = Field(min_length=1, description="The new text, which can be understood alone.")

    async def call(self, do: Do) -> str:
        """A sentence that says that it is changed."""
        await do(UpdateMemory(id=self.id, content=self.content))
        return f"Updated the memory {self.id!r}."


class SupersedeTool(UpdateTool):
    """Stores a memory in the place of another one."""

    name = public_name = "supersede"
    title = "Replace a memory that is no longer true"
    description = (
        "Store what is true now in the place of a memory that was true before: a new address, job, "
        "price, plan. The old memory stays, and is found when somebody asks what was so before."
    )
    destroys = False

    created_at: str = Field(
        default="", description="Since when that is so, in ISO 8601, if that is not now."
    )

    async def call(self, do: Do) -> str:
        """A sentence that says that it is stored, with its id."""
        done = await do(SupersedeMemory(**self._named()))
        [memory_id] = Added.model_validate(done).ids
        return f"Remembered, with the id {memory_id!r}, in the place of {self.id!r}."


class ForgetTool(Tool):
    """Deletes memories by their ids."""

    name = public_name = "forget"
    title = "Forget memories"
    description = (
        "Delete memories for good, by the ids that `recall` and `list_memories` show. Use it when "
        "the user asks to forget something, or when a memory has turned out wrong."
    )
    changes = True
    destroys = True

    ids: list[str] = Field(
        min_length=1, max_length=MOST_PER_REQUEST, description="The ids of the memories."
    )

    async def call(self, do: Do) -> str:
        """How many were deleted, and what to do about the others."""
        deleted = Deleted.model_validate(await do(DeleteMemories(ids=self.ids))).deleted
        others = len(set(self.ids)) - deleted
        said = f"Forgot {deleted} {'memory' if deleted == 1 else 'memories'}."
        if others:
            said += f" There is no memory with {others} of the ids; `list_memories` shows the ids."
        return said


class ListTool(Tool):
    """Lists memories by their time."""

    name = public_name = "list_memories"
    title = "List memories"
    description = (
        "List memories by their time, without a question: the latest ones, those of a time, those "
        "of a type. To find what answers a question, use `recall`."
    )

    limit: int = Field(default=20, ge=1, le=MOST_PER_REQUEST, description="How many at most.")
    order: Order = Field(default="newest", description="Which come first.")
    when: str = Field(default="", description=WHEN)
    since: str = Field(default="", description=SINCE)
    until: str = Field(default="", description=UNTIL)
    memory_type: str = Field(default="", description="Only memories of this type.")
    after: str = Field(default="", description="Where the list before ended, to go on from there.")

    async def call(self, do: Do) -> str:
        """The memories in their fences, and how to go on."""
        page = Page.model_validate(await do(ListMemories(**self._named())))
        shown = _shown(page.memories) or NOTHING_FOUND
        return f'{shown}\nThere are more: pass after="{page.next}".' if page.next else shown


TOOLS: tuple[type[Tool], ...] = (
    RecallTool,
    RememberTool,
    UpdateTool,
    SupersedeTool,
    ForgetTool,
    ListTool,
)
"""The tools, in the order in which a model sees them."""


def _shown(memories: Iterable[MemoryView], evidence: str = "") -> str:
    return shown_memories([each.candidate() for each in memories], evidence, with_ids=True)


# -- the server ---------------------------------------------------------------------------------


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
    arguments=[types.PromptArgument(name="query", description="The question.", required=True)],
)

Context = ServerRequestContext[dict[str, Any], Any]
Paging = types.PaginatedRequestParams | None


class McpTools:
    """The tools of a server, and what its clients read.

    A client on standard input and output uses the memories of ``scope``, one of HTTP those of its
    token.
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
            on_list_resource_templates=self._list_resource_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, _: Context, __: Paging) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(each) for each in self._tools.values()])

    async def _list_resources(self, _: Context, __: Paging) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[LATEST])

    async def _list_resource_templates(
        self, _: Context, __: Paging
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def _list_prompts(self, _: Context, __: Paging) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Call a tool; what is wrong is a sentence that the model can act on."""
        try:
            text, done = await self._called(context, params.name, params.arguments or {})
        except Exception as error:  # noqa: BLE001 - a model gets a sentence, and the log the rest
            return types.CallToolResult(content=[_text(failure_of(error).detail)], is_error=True)
        return types.CallToolResult(content=[_text(text)], structured_content=done)

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
        query = (params.arguments or {}).get("query", "")
        text = await self._read(context, RecallTool, {"query": query})
        message = types.PromptMessage(role="user", content=_text(f"{text}\n\n{query}"))
        return types.GetPromptResult(messages=[message])

    async def _read(
        self, context: Context, tool: type[Tool], arguments: Mapping[str, object]
    ) -> str:
        """What a tool says outside a call; what is wrong is an error of the protocol."""
        try:
            return (await self._called(context, tool.name, arguments))[0]
        except Exception as error:  # noqa: BLE001 - as of a tool
            raise _wrong(failure_of(error).detail) from None

    async def _called(
        self, context: Context, name: str, arguments: Mapping[str, object]
    ) -> tuple[str, dict[str, Any]]:
        """What a tool says, and the same as the JSON of the HTTP API, for programs."""
        if name not in self._tools:
            raise QueryError(f"there is no tool {name!r}; there are {', '.join(self._tools)}")
        request = context.request
        scope = client_of(request).scope if isinstance(request, Request) else self._scope
        tool, done = self._tools[name].model_validate(arguments), dict[str, Any]()

        async def do(operation: Operation) -> BaseModel:
            result = await self._service.do(operation, scope)
            done.update(result.model_dump(mode="json", exclude={"answer"}, exclude_defaults=True))
            return result

        return await tool.call(do), done


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
