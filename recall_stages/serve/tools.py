"""The tools of the MCP server: their arguments, which a model writes, and what it reads.

Whose memories is never an argument. A memory is shown in a fence: what it says is quoted material.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from recall_stages.agents.recall_tool import DESCRIPTION, nothing_found, shown_memories
from recall_stages.core.settings import Settings
from recall_stages.serve.answers import Added, Deleted, MemoryView, Page, Retrieved
from recall_stages.serve.managing import AddMemories, DeleteMemories, ListMemories, NewMemory
from recall_stages.serve.operation import MOST_RESULTS, Operation
from recall_stages.serve.retrieving import RetrievePersonalMemory
from recall_stages.stages.print_memory import NOTHING_FOUND
from recall_stages.store.position import Order

_WHEN = 'Only memories of this time, in words: "last Tuesday", "in March".'
_SINCE = "Only memories from this day on: 2024-03-01."
_UNTIL = "Only memories up to this day, included: 2024-03-31."


class ToolArguments(Settings):
    """The base of the arguments of a tool."""

    model_config = ConfigDict(frozen=True)

    public_name: ClassVar[str] = "a tool"
    name: ClassVar[str]
    title: ClassVar[str]
    description: ClassVar[str]
    changes: ClassVar[bool] = False
    destroys: ClassVar[bool] = False

    def _named(self) -> dict[str, Any]:
        """The arguments without empty texts: a model that passes one has left it out."""
        return {name: value for name, value in self if value != ""}

    def operation(self) -> Operation:
        """What is done."""
        raise NotImplementedError

    def text(self, result: BaseModel) -> str:
        """What the model reads of the result."""
        raise NotImplementedError


class RecallArguments(ToolArguments):
    """The arguments of the tool ``recall``."""

    name = public_name = "recall"
    title = "Recall memories"
    description = DESCRIPTION

    question: str = Field(min_length=1, description="What to look for, as a full question.")
    k: int = Field(default=5, ge=1, le=MOST_RESULTS, description="How many memories at most.")
    when: str = Field(default="", description=_WHEN)
    since: str = Field(default="", description=_SINCE)
    until: str = Field(default="", description=_UNTIL)

    def operation(self) -> RetrievePersonalMemory:
        """A question."""
        named = self._named()
        return RetrievePersonalMemory(query=named.pop("question"), **named)

    def text(self, result: BaseModel) -> str:
        """The memories in their fences, best first."""
        found = Retrieved.model_validate(result).metadata.memory_list
        return _shown(found) or nothing_found(self.when, self.since, self.until)


class RememberArguments(ToolArguments):
    """The arguments of the tool ``remember``."""

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

    def operation(self) -> AddMemories:
        """A memory to store."""
        return AddMemories(memories=[NewMemory(**self._named())])

    def text(self, result: BaseModel) -> str:
        """That it is stored."""
        [memory_id] = Added.model_validate(result).ids
        return f"Remembered, with the id {memory_id!r}."


class ForgetArguments(ToolArguments):
    """The arguments of the tool ``forget``."""

    name = public_name = "forget"
    title = "Forget memories"
    description = (
        "Delete memories for good, by the ids that `recall` and `list_memories` show. Use it when "
        "the user asks to forget something, or when a memory has turned out wrong."
    )
    changes = True
    destroys = True

    ids: list[str] = Field(
        min_length=1, max_length=MOST_RESULTS, description="The ids of the memories."
    )

    def operation(self) -> DeleteMemories:
        """Memories to delete."""
        return DeleteMemories(ids=self.ids)

    def text(self, result: BaseModel) -> str:
        """How many were deleted, and what to do about the others."""
        deleted = Deleted.model_validate(result).deleted
        others = len(set(self.ids)) - deleted
        said = f"Forgot {deleted} {'memory' if deleted == 1 else 'memories'}."
        if others:
            said += f" There is no memory with {others} of the ids; `list_memories` shows the ids."
        return said


class ListArguments(ToolArguments):
    """The arguments of the tool ``list_memories``."""

    name = public_name = "list_memories"
    title = "List memories"
    description = (
        "List memories by their time, without a question: the latest ones, those of a time, those "
        "of a type. To find what answers a question, use `recall`."
    )

    limit: int = Field(default=20, ge=1, le=MOST_RESULTS, description="How many at most.")
    order: Order = Field(default="newest", description="Which come first.")
    when: str = Field(default="", description=_WHEN)
    since: str = Field(default="", description=_SINCE)
    until: str = Field(default="", description=_UNTIL)
    memory_type: str = Field(default="", description="Only memories of this type.")
    after: str = Field(default="", description="Where the list before ended, to go on from there.")

    def operation(self) -> ListMemories:
        """Memories to list."""
        return ListMemories(**self._named())

    def text(self, result: BaseModel) -> str:
        """The memories in their fences, and how to go on."""
        page = Page.model_validate(result)
        shown = _shown(page.memories) or NOTHING_FOUND
        return f'{shown}\nThere are more: pass after="{page.next}".' if page.next else shown


TOOLS: tuple[type[ToolArguments], ...] = (
    RecallArguments,
    RememberArguments,
    ForgetArguments,
    ListArguments,
)
"""The tools, in the order in which a model sees them."""


def _shown(memories: Iterable[MemoryView]) -> str:
    return shown_memories([each.candidate() for each in memories], with_ids=True)
