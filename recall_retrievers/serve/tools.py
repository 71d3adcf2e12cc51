"""The tools of the MCP server: their arguments, which a model writes, and what it reads of a call.

Whose memories is never an argument. A memory is shown in a fence: what it says is quoted material.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from recall_retrievers.agents.recall_tool import DESCRIPTION, nothing_found, shown_memories
from recall_retrievers.core.settings import Settings
from recall_retrievers.serve.answers import Added, Deleted, MemoryView, Page, Retrieved
from recall_retrievers.serve.managing import AddMemories, DeleteMemories, ListMemories, NewMemory
from recall_retrievers.serve.operation import (
    MOST_PER_REQUEST,
    Operation,
    RetrievePersonalMemory,
    without_empty_defaults,
)
from recall_retrievers.stages.plain_texts import NOTHING_FOUND
from recall_retrievers.store.conditions import Order

_WHEN = 'Only memories of this time, in words: "last Tuesday", "in March".'
_SINCE = "Only memories from this day on: 2024-03-01."
_UNTIL = "Only memories up to this day, included: 2024-03-31."


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

    question: str = Field(min_length=1, description="What to look for, as a full question.")
    k: int = Field(default=5, ge=1, le=MOST_PER_REQUEST, description="How many memories at most.")
    when: str = Field(default="", description=_WHEN)
    since: str = Field(default="", description=_SINCE)
    until: str = Field(default="", description=_UNTIL)

    async def call(self, do: Do) -> str:
        """The memories in their fences, best first."""
        named = self._named()
        done = await do(RetrievePersonalMemory(query=named.pop("question"), **named))
        found = Retrieved.model_validate(done).metadata.memory_list
        return _shown(found) or nothing_found(self.when, self.since, self.until)


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
        """A sentence that says that it is stored, with its id."""
        named = {name: value for name, value in self if value != ""}
        done = await do(AddMemories(memories=[NewMemory(**named)]))
        [memory_id] = Added.model_validate(done).ids
        return f"Remembered, with the id {memory_id!r}."


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
    when: str = Field(default="", description=_WHEN)
    since: str = Field(default="", description=_SINCE)
    until: str = Field(default="", description=_UNTIL)
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
    ForgetTool,
    ListTool,
)
"""The tools, in the order in which a model sees them."""


def _shown(memories: Iterable[MemoryView]) -> str:
    return shown_memories([each.candidate() for each in memories], with_ids=True)
