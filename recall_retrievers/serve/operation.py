"""What a client can ask a server for, an operation, what does it, and what it answers.

The routes of HTTP, the tools of MCP and the processes that share a folder all use these. The models
are the JSON of the HTTP API and its description.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, ClassVar, Protocol, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from recall_retrievers.agents.recall_tool import (
    ONLY_WITH_EVIDENCE,
    SINCE,
    UNTIL,
    WHEN,
    RecallToolInput,
)
from recall_retrievers.core import errors
from recall_retrievers.core.errors import QueryError, StoreError, StoreUnavailableError
from recall_retrievers.core.message import MOST_MESSAGES
from recall_retrievers.core.query import Filter
from recall_retrievers.core.scope import ANYBODY, Scope
from recall_retrievers.core.settings import Settings, Timestamp, Timezone
from recall_retrievers.core.stage import Recall
from recall_retrievers.core.world import World
from recall_retrievers.look.answer import MemoryView, Span, TimeView
from recall_retrievers.retriever.call_options import CallOptions, combine_options
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.retriever.stage_list import TASKS, default_stages
from recall_retrievers.stages.build_query import BuildQuery
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.plain_texts import MergeMemory, PrintMemory
from recall_retrievers.store.store import Store
from recall_retrievers.timeline import TimeRange

_log = logging.getLogger(__name__)

NO_STORE = {"Cache-Control": "no-store"}  # an answer is its client's alone
_BUSY = {"Retry-After": "5"}  # when to try again what is not available now
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (errors.ScopeError, 403),
    (errors.MissingMemoryError, 404),
    (errors.ForeignCollectionError, 409),
    (errors.SupersededError, 409),
    (errors.MissingCollectionError, 404),
    (errors.StoreUnavailableError, 503),
    (errors.StoreClosedError, 503),
    (errors.StoreLockedError, 503),
    (errors.StoreError, 500),
    (ValueError, 400),  # ours about questions, filters, memories and settings are all of this kind
    (errors.RecallError, 500),
)
_FAILED = "the server failed, and its log says why; the request may be sent again"
_AWAY = "the memories cannot be reached now, and the server's log says why; send it again later"


def failure_of(error: Exception) -> HTTPException:
    """What a client reads of an error: a sentence about the request, never about the server."""
    is_ours = isinstance(error, errors.RecallError)
    status = next((each for kind, each in _STATUS if is_ours and isinstance(error, kind)), 500)
    if status < 500:
        return HTTPException(status, str(error))
    errors.log_failure(_log, "a request failed", error)
    return HTTPException(503, _AWAY, _BUSY) if status == 503 else HTTPException(500, _FAILED)


def answer_to(failure: HTTPException) -> JSONResponse:
    """An error as the answer to a request: ``{"error": "..."}``."""
    headers = {**NO_STORE, **(failure.headers or {})}
    return JSONResponse({"error": failure.detail}, failure.status_code, headers=headers)


MOST_PER_REQUEST = 100
MESSAGES = "The conversation before it: role and content of each message."


def _says_something(sent: Collection[object] | None) -> object:
    # What is empty comes from a variable that is not set. It must not mean all memories.
    if not (sent and all(sent)):
        raise ValueError("must not be empty: pass a value, or leave it out")
    return sent


NotEmpty = AfterValidator(_says_something)  # pydantic checks what was sent, and no default
_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
# In a URL a flag is a text. Of JSON, true and false are taken, and no number.
Flag = Annotated[
    bool,
    Field(strict=True),
    BeforeValidator(lambda sent: {"true": True, "false": False}.get(str(sent).lower(), sent)),
]
OptionalText = Annotated[str | SkipJsonSchema[None], NotEmpty, WithJsonSchema(_TEXT)]
_DAY = {"format": "date", "examples": ["0001-01-01", "9999-12-31"]}  # which have no day beside them
OptionalDay = Annotated[OptionalText, WithJsonSchema({**_TEXT, **_DAY})]
"""They may be left out, and no schema offers null."""

# From the year 1 on, and from a point on milliseconds.
_SECONDS = {"type": "number", "minimum": -62_135_596_800, "maximum": 253_402_300_799_999}
_TIME = [{"type": "string", "format": "date-time"}, {"type": "string", **_DAY}, _SECONDS]
Moment = Annotated[Timestamp, WithJsonSchema({"anyOf": _TIME})]
MomentOrNull = Annotated[Timestamp, WithJsonSchema({"anyOf": [*_TIME, {"type": "null"}]})]


def without_empty_defaults(schema: dict[str, Any]) -> None:
    """Take null and "" out of the defaults of a schema: what is left out is not sent."""
    for described in schema["properties"].values():
        if described.get("default", 0) in (None, ""):
            del described["default"]


def with_one_of(*names: str) -> Callable[[dict[str, Any]], None]:
    """The same for an operation that needs one of some arguments."""

    def described(schema: dict[str, Any]) -> None:
        without_empty_defaults(schema)
        # As an `anyOf` of what is required, generators would make a client without types.
        schema["not"] = {"properties": {name: {"not": {}} for name in names}}

    return described


class ScopeFields(Settings):
    """The fields of a scope. They narrow the scope of the client. An empty one is a ScopeError."""

    model_config = ConfigDict(frozen=True, json_schema_extra=without_empty_defaults)

    user_id: OptionalText = Field(default=None, description="The user whose memories they are.")
    agent_id: OptionalText = Field(default=None, description="The agent whose memories they are.")
    session_id: OptionalText = Field(default=None, description="The conversation they are of.")
    workspace: OptionalText = Field(default=None, description="The workspace they are of.")

    @field_validator(*Scope.model_fields, mode="before")
    @classmethod
    def _names_somebody(cls, sent: object, field: ValidationInfo) -> object:
        Scope.model_validate({str(field.field_name): sent})
        return sent

    def scope(self) -> Scope:
        """The scope that is named."""
        named = {name: getattr(self, name) for name in Scope.model_fields}
        return Scope.model_validate({k: value for k, value in named.items() if value is not None})


class Operation(ScopeFields):
    """The arguments of an operation, and how it is done."""

    result: ClassVar[type[BaseModel]]

    async def done_by(self, service: ScopedService) -> BaseModel:
        """Do it within the scope of a service, and return a ``result``."""
        raise NotImplementedError


class Service(Protocol):
    """What does operations: here, or in the process that holds the folder."""

    async def do(self, operation: Operation, scope: Scope) -> BaseModel:
        """Do an operation for a client that is bound to a scope."""


class TimedOperation(Operation):
    """An operation that may name a time, in words or as dates."""

    when: OptionalText = Field(default=None, description=WHEN)
    since: OptionalDay = Field(default=None, description=SINCE)
    until: OptionalDay = Field(default=None, description=UNTIL)
    timestamp: Moment = Field(
        default=None, description="The moment of asking, ISO 8601; left out = now."
    )
    timezone: Annotated[Timezone, WithJsonSchema({"anyOf": [_TEXT, {"type": "null"}]})] = Field(
        default=None, description="The asker's, such as Europe/Berlin."
    )

    def options(self) -> CallOptions:
        """The arguments that are settings of a call of a retriever."""
        time = RecallToolInput(query="", when=self.when, since=self.since, until=self.until)
        known = CallOptions.__annotations__
        named = {name: value for name, value in self if name in known and value is not None}
        return cast("CallOptions", {**named, **time.options()})


class ReadingOperation(TimedOperation):
    """An operation that reads memories as they stand, or as they stood at a moment."""

    as_of: Moment = Field(
        default=None, description="As the memories stood then; a date is the end of that day."
    )
    include_superseded: Flag = Field(default=False, description="Superseded memories, too.")


@dataclass(frozen=True, slots=True)
class ScopedService:
    """Does operations in this process: a store and its retrievers in one scope."""

    store: Store
    personal: MemoryRetriever
    tasks: MemoryRetriever
    scope: Scope = ANYBODY
    # While texts are looked for and then stored: of two clients with one text, one stores it.
    adding_new: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def of(cls, store: Store, *, timezone: str | None = None) -> ScopedService:
        """A service for all memories of a store, with flows that ask no model."""
        retriever = partial(MemoryRetriever, store=store, timezone=timezone, everyone=True)
        personal = retriever(stages=[*default_stages(), PrintMemory()])
        tasks = retriever(filter=TASKS, stages=[BuildQuery(), MergeMemory()])
        return cls(store, personal, tasks)

    def within(self, scope: Scope) -> ScopedService:
        """The same service for a scope inside its own."""
        fields = scope.fields()
        if not fields:
            return self
        own = self.store.for_scope(**fields)
        return replace(self, store=own, scope=self.scope.narrow(scope))

    async def do(self, operation: Operation, scope: Scope) -> BaseModel:
        """Do an operation for a client that is bound to a scope."""
        try:
            return await operation.done_by(self.within(scope.narrow(operation.scope())))
        except StoreError as error:
            if not self.store.broken:
                raise
            raise StoreUnavailableError(str(error)) from error.__cause__

    async def recall(self, query: str, options: CallOptions, *, tasks: bool) -> Recall:
        """Answer a question."""
        retriever = self.tasks if tasks else self.personal
        bound = combine_options({"scope": self.scope}, options)
        return await retriever.recalled(query, bound, partial(World, asynchronous=True))

    def time_range(self, options: CallOptions) -> TimeRange | None:
        """The one time that the settings of a call name; None if they name none."""
        call = self.personal.for_call(options)
        ranges = call.bounds(call.moment(datetime.now(UTC)), ExtractTime)
        if len(ranges) > 1:
            named = ", ".join(each.text for each in ranges)
            raise QueryError(f"name one time; there are {len(ranges)}: {named}")
        # A range that is open at both ends is every time: it must not limit a deletion.
        return next((x for x in ranges if x.start or x.end or x.recurrence), None)


class RetrievedMetadata(BaseModel):
    """What was found, and what was understood."""

    memory_list: list[MemoryView]
    time: list[TimeView] = Field(default_factory=list, description="The times in the question.")
    degraded: list[str] = Field(default_factory=list, description="What could not be done.")
    evidence: str = Field(
        default="", description="Whether memories are about the question: strong, some, none."
    )
    evidence_about: str = Field(default="", description="What speaks against it, in words.")


class Retrieved(BaseModel):
    """The answer to a question: the memories as one text, and one by one."""

    answer: str
    success: bool = True
    metadata: RetrievedMetadata

    @classmethod
    def of(cls, recall: Recall) -> Self:
        """The answer of a retriever."""
        times = [TimeView(words=x.text, **dict(Span.of(x))) for x in recall.query.time_ranges]
        sign, about = (recall.notes().get(x, "") for x in ("evidence", "evidence_about"))
        found = RetrievedMetadata(
            memory_list=recall.memories,
            time=times,
            degraded=recall.fallbacks,
            evidence=sign,
            evidence_about=about if recall.memories else recall.why_nothing or about,
        )
        return cls(answer=recall.text, metadata=found)


_MESSAGE = {
    "type": "object",
    "properties": {"role": {"type": "string"}, "content": {"type": "string"}},
    "required": ["content"],  # a message without a role is the user's
}
_MESSAGES: dict[str, Any] = {
    "type": "array",
    "items": _MESSAGE,
    "minItems": 1,
    "maxItems": MOST_MESSAGES,
}
_FILTER: dict[str, Any] = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"minLength": 1},
    "additionalProperties": {"not": {"enum": ["", [], {}, None]}},
}


class AskingOperation(ReadingOperation):
    """An operation that asks a question."""

    model_config = ConfigDict(json_schema_extra=with_one_of("query", "when", "since", "until"))

    query: Annotated[str, WithJsonSchema({**_TEXT, "pattern": r"\S"})] = Field(
        default="", description="The question, in plain words."
    )
    messages: Annotated[Sequence[dict[str, object]], WithJsonSchema(_MESSAGES)] = Field(
        default=(), description=MESSAGES
    )
    k: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=MOST_PER_REQUEST,
        description="How many memories at most.",
    )
    filter: Annotated[Filter | SkipJsonSchema[None], NotEmpty, WithJsonSchema(_FILTER)] = Field(
        default=None, description="Conditions on metadata, as Chroma writes them."
    )
    threshold_score: float | None = Field(
        default=None,
        strict=True,
        ge=0,
        le=1,
        description="The lowest similarity that a candidate may have.",
    )
    only_with_evidence: Flag = Field(default=False, description=ONLY_WITH_EVIDENCE)

    @model_validator(mode="before")
    @classmethod
    def _as_in_reme(cls, sent: object) -> object:
        # A program that was written for ReMe names the workspace so.
        if isinstance(sent, Mapping) and "workspace_id" in sent:
            named = {"workspace": sent["workspace_id"], **sent}
            return {name: each for name, each in named.items() if name != "workspace_id"}
        return sent


class RetrievePersonalMemory(AskingOperation):
    """Find the memories that answer a question, best first."""

    result = Retrieved
    of_tasks: ClassVar[bool] = False

    async def done_by(self, service: ScopedService) -> Retrieved:
        """Ask, with the settings of the call over those of the server."""
        found = await service.recall(self.query, self.options(), tasks=self.of_tasks)
        return Retrieved.of(found)


class RetrieveTaskMemory(RetrievePersonalMemory):
    """Find experiences with tasks like this one, and put them into one text.

    The query is the task. If it is empty, the last three messages are.
    """

    model_config = ConfigDict(json_schema_extra=with_one_of("query", "messages"))

    of_tasks = True
