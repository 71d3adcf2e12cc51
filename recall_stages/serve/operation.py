"""What a client can ask a server for: an operation is its arguments, and how it is done.

The routes of HTTP, the tools of MCP and the processes that share a folder all use these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from pydantic import BaseModel, ConfigDict, Field

from recall_stages.agents.recall_tool import RecallToolInput
from recall_stages.core.clock import Timestamp, Timezone
from recall_stages.core.query import Filter
from recall_stages.core.scope import Scope
from recall_stages.core.settings import Settings
from recall_stages.retriever.call_options import CallOptions
from recall_stages.serve.answers import Retrieved
from recall_stages.serve.scoped_service import ScopedService

MOST_RESULTS = 100


class ScopeFields(Settings):
    """The fields of a scope. They narrow the scope of the client.

    Args:
        user_id: Only the memories of this user.
        agent_id: Only the memories of this agent.
        session_id: Only the memories of this conversation.
        workspace_id: Only the memories of this workspace.
    """

    model_config = ConfigDict(frozen=True)

    user_id: str | None = Field(default=None, description="The user whose memories they are.")
    agent_id: str | None = Field(default=None, description="The agent whose memories they are.")
    session_id: str | None = Field(default=None, description="The conversation they are of.")
    workspace_id: str | None = Field(default=None, description="The workspace they are of.")

    def scope(self) -> Scope:
        """The scope that is named.

        Raises:
            ScopeError: When a field is empty.
        """
        named = {
            "user_id": self.user_id,
            "agent_id": self.agent_id,
            "session_id": self.session_id,
            "workspace": self.workspace_id,
        }
        return Scope.model_validate({k: value for k, value in named.items() if value is not None})


class Operation(ScopeFields):
    """The arguments of an operation, and how it is done."""

    result: ClassVar[type[BaseModel]]
    changes: ClassVar[bool] = False
    """Whether it writes."""

    def repeatable(self) -> Operation:
        """The same operation in a form that changes nothing more when it is done twice."""
        return self

    async def done_by(self, service: ScopedService) -> BaseModel:
        """Do it within the scope of a service, and return a ``result``."""
        raise NotImplementedError


class Service(Protocol):
    """What does operations: here, or in the process that holds the folder."""

    async def do(self, operation: Operation, scope: Scope) -> BaseModel:
        """Do an operation for a client that is bound to a scope."""


@dataclass(frozen=True, slots=True)
class ZonedService:
    """Does operations in a time zone where they name none.

    Attributes:
        service: What does them.
        timezone: The time zone.
    """

    service: Service
    timezone: str

    async def do(self, operation: Operation, scope: Scope) -> BaseModel:
        """Do an operation for a client that is bound to a scope."""
        if isinstance(operation, TimedOperation) and operation.timezone is None:
            operation = operation.model_copy(update={"timezone": self.timezone})
        return await self.service.do(operation, scope)


@dataclass(frozen=True, slots=True)
class LocalService:
    """Does operations in this process.

    Attributes:
        service: The store and its retrievers, in the widest scope that is served.
    """

    service: ScopedService

    async def do(self, operation: Operation, scope: Scope) -> BaseModel:
        """Do an operation for a client that is bound to a scope."""
        own = self.service.within(scope)
        return await operation.done_by(own.within(operation.scope()))


class TimedOperation(Operation):
    """An operation that may name a time, in words or as dates.

    Args:
        when: The time in words.
        since: The first day, or moment, in ISO 8601.
        until: The last day, or moment, in ISO 8601.
        timestamp: The moment of asking.
        timezone: The asker's time zone.
    """

    when: str | None = Field(
        default=None, description='Only memories of this time, in words: "last Tuesday".'
    )
    since: str | None = Field(default=None, description="Only memories from this day on.")
    until: str | None = Field(default=None, description="Only memories up to this day, included.")
    timestamp: Timestamp = Field(
        default=None, description="The moment of asking, ISO 8601 or epoch seconds; null = now."
    )
    timezone: Timezone = Field(default=None, description="The asker's, such as Europe/Berlin.")

    def time_options(self) -> CallOptions:
        """The time as settings of a call of a retriever."""
        options = RecallToolInput(
            query="", when=self.when, since=self.since, until=self.until
        ).options()
        if self.timestamp is not None:
            options["timestamp"] = self.timestamp
        if self.timezone is not None:
            options["timezone"] = self.timezone
        return options


class RetrievePersonalMemory(TimedOperation):
    """Find the memories that answer a question, best first.

    Args:
        query: The question.
        messages: The conversation before the question.
        k: How many memories at most.
        filter: Conditions on metadata.
        threshold_score: The lowest similarity of a candidate.
    """

    result = Retrieved
    of_tasks: ClassVar[bool] = False

    query: str = Field(default="", description="The question, in plain words.")
    messages: Sequence[dict[str, object]] = Field(
        default=(), description="The conversation before it: messages with role and content."
    )
    k: int | None = Field(
        default=None, ge=1, le=MOST_RESULTS, description="How many memories at most."
    )
    filter: Filter | None = Field(
        default=None, description="Conditions on metadata, as Chroma writes them."
    )
    threshold_score: float | None = Field(
        default=None, ge=0, le=1, description="The lowest similarity that a candidate may have."
    )

    async def done_by(self, service: ScopedService) -> Retrieved:
        """Ask, with the settings of the call over those of the server."""
        options = self.time_options()
        if self.messages:
            options["messages"] = self.messages
        if self.k is not None:
            options["k"] = self.k
        if self.filter is not None:
            options["filter"] = self.filter
        if self.threshold_score is not None:
            options["threshold_score"] = self.threshold_score
        return Retrieved.of(await service.recall(self.query, options, tasks=self.of_tasks))


class RetrieveTaskMemory(RetrievePersonalMemory):
    """Find experiences with tasks like this one, and put them into one text.

    Args:
        query: The task. If it is empty, the last three messages are.
    """

    of_tasks = True
