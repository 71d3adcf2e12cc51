"""The nouns that everything speaks: Memory, Scope and Query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_serializer,
    model_validator,
)

from recall_stages.core.clock import TimeInput
from recall_stages.core.errors import QueryError, ScopeError
from recall_stages.core.message import Message
from recall_stages.core.settings import Settings
from recall_stages.timeline import Recurrence, TimeRange, parse_time
from recall_stages.timeline.calendar_names import weekday_name

MetadataValue = (
    StrictStr
    | StrictBool
    | StrictInt
    | StrictFloat
    | list[StrictStr]
    | list[StrictBool]
    | list[StrictInt]
    | list[StrictFloat]
)
Filter = Mapping[str, object]
TimeMatch = Literal["recorded", "event"]
ScopeName = Literal["user_id", "agent_id", "session_id", "workspace"]


def _moment(given: float | str | datetime) -> datetime:
    try:
        return parse_time(given, name="created_at")
    except TypeError as error:  # which pydantic would not gather among its errors
        raise ValueError(str(error)) from error


AwareTime = Annotated[datetime, BeforeValidator(_moment)]

TRACE_PREFIX = "recall_"
"""How the keys begin under which a trace stands in flat metadata."""

SCORE_KEY = "relevance_score"
"""The key under which LangChain's rerankers write a score into metadata, and we do."""

_SCALARS = {str, bool, int, float}
_DAY = timedelta(days=1)
# How many times as long as the range an event may be. With 8 a week is found by one of its days,
# even the week in which the clocks go back; a year is not found by one of its months.
_COARSEST = 8
_LARGEST_INTEGER = 2**63 - 1  # Chroma silently turns larger ones into floats


class Scope(Settings):
    """Whose memories: the part of a collection that a retriever may see.

    Every field that is set must be equal on a memory for it to be found. A scope can be
    narrowed by a call, never widened. A field that is left out sets no limit. A field that is
    there and empty names nobody, and is an error: an unknown user must never see everybody's
    memories. Where a scope is expected, None and ``{}`` are a scope without limits.

    Args:
        user_id: The person whose memories these are.
        agent_id: The agent that keeps them.
        session_id: One conversation.
        workspace: A group of users and agents.

    Raises:
        ScopeError: When a field is no text, or an empty one; None is neither.

    Examples:
        >>> Scope(user_id="alice").narrow(Scope(session_id="monday")).fields()
        {'user_id': 'alice', 'session_id': 'monday'}
        >>> Scope(user_id="")
        Traceback (most recent call last):
        recall_stages.core.errors.ScopeError: scope user_id must be a text with at least 1 \
character that is no space; got ''. An empty user_id is nobody: pass the right one, or leave \
user_id out
    """

    model_config = ConfigDict(frozen=True)

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    workspace: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _names_somebody(cls, scope: object) -> object:
        if scope is None:
            return {}
        if isinstance(scope, Scope):
            return scope
        if not isinstance(scope, Mapping):
            raise ScopeError(
                f'scope must be a Scope or a mapping such as {{"user_id": "ann"}}; got {scope!r}'
            )
        for name in (field for field in get_args(ScopeName) if field in scope):
            value = scope[name]
            if not isinstance(value, str) or not value.strip():
                raise ScopeError(
                    f"scope {name} must be a text with at least 1 character that is no space; "
                    f"got {value!r}. An empty {name} is nobody: pass the right one, or leave "
                    f"{name} out"
                )
        return dict(scope)

    @model_serializer
    def _only_what_is_set(self) -> dict[str, str]:
        # Written out, a field without a value would be there and empty when it is read again.
        return self.fields()

    def fields(self) -> dict[str, str]:
        """The fields that are set, by name."""
        # Asked for each memory of a collection; `model_dump` takes twice as long.
        return {name: value for name, value in vars(self).items() if value is not None}

    def narrow(self, other: Scope) -> Scope:
        """Both scopes at once.

        Raises:
            ScopeError: When ``other`` names another value for a field that is already set.
        """
        mine, others = self.fields(), other.fields()
        for name, value in others.items():
            if mine.get(name, value) != value:
                raise ScopeError(
                    f"scope {name} is {mine[name]!r} and cannot be changed to {value!r} by a call; "
                    f"open another retriever with scope={{{name!r}: {value!r}}}"
                )
        return Scope(**mine | others) if others else self

    def holds(self, other: Scope) -> bool:
        """Whether a memory of another scope lies in this one.

        Examples:
            >>> Scope(user_id="alice").holds(Scope(user_id="alice", session_id="monday"))
            True
        """
        return self.fields().items() <= other.fields().items()

    def require(self, names: Sequence[str]) -> None:
        """Refuse to go on where a field is not set.

        Args:
            names: The fields that must be set, as ``require_scope`` has them.

        Raises:
            ScopeError: When one is not.
        """
        for name in names:
            if getattr(self, name) is None:
                raise ScopeError(
                    f"the scope must name {name}, because of require_scope={tuple(names)!r}; got "
                    f"{self.fields()}. Pass scope={{{name!r}: ...}}"
                )


def required_names(names: object) -> tuple[ScopeName, ...]:
    """The fields that a scope must name, checked.

    Raises:
        ScopeError: When it is no list of fields of a scope.

    Examples:
        >>> required_names(["user_id"])
        ('user_id',)
    """
    known: tuple[ScopeName, ...] = get_args(ScopeName)
    if not isinstance(names, list | tuple) or not all(name in known for name in names):
        raise ScopeError(
            f"require_scope takes a tuple of {', '.join(known)}, such as ('user_id',); got "
            f"{names!r}"
        )
    return tuple(names)


ScopeInput = Scope | Mapping[str, str] | None
"""How a scope may be written; None and ``{}`` set no limit."""


def with_scope(row: Mapping[str, object]) -> dict[str, object]:
    """A row with the fields of a scope that stand at its top put under ``scope``.

    In a row, of a file or of `RecallStore.add`, a field such as ``user_id`` may stand at the top
    or under ``scope``. Everywhere else in Python it stands under ``scope``.

    Raises:
        ScopeError: When a field is there and empty, or the two places contradict each other.

    Examples:
        >>> with_scope({"content": "Tea.", "user_id": "ann"})["scope"].fields()
        {'user_id': 'ann'}
    """
    flat = {name: value for name, value in row.items() if name in Scope.model_fields}
    rest = {name: value for name, value in row.items() if name not in flat}
    if flat:
        rest["scope"] = Scope.model_validate(flat).narrow(Scope.model_validate(row.get("scope")))
    return rest


class UnreadEvents(tuple[TimeRange, ...]):
    """The events of a memory that does not say which it has: they are read when it is stored."""

    __slots__ = ()


class Memory(Settings):
    """One thing remembered.

    Args:
        content: The text; never empty.
        id: Its name in the collection; made when stored, where empty.
        memory_type: conversation, observation, obs_customized, insight, reflection, profile,
            event, task, or a word of your own.
        created_at: When it was recorded: epoch seconds, ISO 8601 or datetime; a time without
            a zone is read in the machine's. None = the clock, when stored.
        events: The times that its text names, as half-open ranges; read from the text when it is
            stored, where they are not given. An empty list says that there are none.
        when_to_use: For task memories, the condition in which it helps.
        author: Who said or wrote it.
        said_before: The end of what was said before it, for a turn of a conversation: its words
            find the memory too, and are never shown as its text.
        turn_before: The id of the turn before it, for a turn of a conversation.
        scope: Whose it is.
        metadata: Further flat values: text, numbers, booleans, or lists of one of these. No name
            may begin with ``recall_`` or be ``relevance_score``: results say there how they were
            found.
        quality: How good it was judged to be, 0 to 1, higher is better; no retrieval score.

    Examples:
        >>> Memory(content="The dentist is on Elm Street.", created_at="2024-03-12T15:20:00Z").id
        ''
    """

    model_config = ConfigDict(frozen=True)

    elsewhere: ClassVar[Mapping[str, str]] = {
        "text": "here it is content",
        "page_content": "here it is content",
        "timestamp": "here it is created_at",
        "date": "here it is created_at, or metadata={'date': ...}",
        **{name: f"here it is scope={{{name!r}: ...}}" for name in get_args(ScopeName)},
    }

    content: str = Field(min_length=1)
    id: str = ""
    memory_type: str = "observation"
    created_at: AwareTime | None = None
    events: tuple[TimeRange, ...] = UnreadEvents()
    when_to_use: str = ""
    author: str = ""
    said_before: str = ""
    turn_before: str = ""
    scope: Scope = Scope()
    metadata: dict[str, MetadataValue] = Field(default_factory=dict)
    quality: float | None = Field(default=None, ge=0, le=1)

    if TYPE_CHECKING:  # what may be handed in; checkers would take the types that are read back

        def __init__(  # noqa: PLR0913 - a memory's fields, each by name
            self,
            *,
            content: str,
            id: str = "",
            memory_type: str = "observation",
            created_at: TimeInput | None = None,
            events: Sequence[TimeRange] = (),
            when_to_use: str = "",
            author: str = "",
            said_before: str = "",
            turn_before: str = "",
            scope: ScopeInput = None,
            metadata: Mapping[str, MetadataValue] = ...,
            quality: float | None = None,
        ) -> None: ...

    @field_validator("content")
    @classmethod
    def _says_something(cls, content: str) -> str:
        if not content.strip():
            raise ValueError("content must hold some text; got only white space")
        return content

    @field_validator("metadata", mode="before")
    @classmethod
    def _flat(cls, metadata: object) -> object:
        for key, value in metadata.items() if isinstance(metadata, Mapping) else ():
            if is_reserved(key):
                raise ValueError(
                    f"metadata {key!r} has a name in which results say how they were found: "
                    f"rename it, so that it neither begins with {TRACE_PREFIX} nor is {SCORE_KEY}"
                )
            # In one sentence, where pydantic would name each of the eight types that it is not.
            kinds = {type(part) for part in (value if isinstance(value, list) else [value])}
            if len(kinds) > 1 or not kinds <= _SCALARS:
                raise ValueError(
                    f"metadata {key!r} must be text, a number, a boolean or a list of one of "
                    f"these; got {value!r}"
                )
        return metadata

    @field_validator("metadata")
    @classmethod
    def _storable(cls, metadata: dict[str, MetadataValue]) -> dict[str, MetadataValue]:
        for key, value in metadata.items():
            if value == []:
                raise ValueError(f"metadata {key!r} is an empty list, which no collection keeps")
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, float) and not math.isfinite(part):
                    raise ValueError(f"metadata {key!r} must be a finite number; got {part}")
                if isinstance(part, int) and abs(part) > _LARGEST_INTEGER:
                    raise ValueError(f"metadata {key!r} must fit 64 bits; got {part}")
        return metadata

    def recorded(self, timezone: tzinfo | None) -> str:
        """When it was recorded, as in 2024-03-12 15:20:00 Tuesday; empty where that is not known.

        Examples:
            >>> from datetime import UTC
            >>> Memory(content="Tea.", created_at="2024-03-12T15:20:00Z").recorded(UTC)
            '2024-03-12 15:20:00 Tuesday'
        """
        return recorded(self.created_at, timezone)

    def matches(self, time_range: TimeRange) -> TimeMatch | None:
        """Which of its times lies in a range: when it was recorded, when it happened, or none.

        An event that is much coarser than the range does not lie in it: "last week" is found by one
        of its days, "in 2019" by that year or by its summer, not by a day of it.
        """
        return time_match(self.created_at, self.events, time_range)


def recorded(moment: datetime | None, timezone: tzinfo | None) -> str:
    """A moment as in 2024-03-12 15:20:00 Tuesday; empty where there is none."""
    if moment is None:
        return ""
    local = moment.astimezone(timezone)
    return f"{local:%Y-%m-%d %H:%M:%S} {weekday_name(local)}"


def time_match(
    moment: datetime | None, events: Sequence[TimeRange], time_range: TimeRange
) -> TimeMatch | None:
    """Which times of a memory lie in a range; see `Memory.matches`.

    Args:
        moment: When it was recorded.
        events: The times that its text names.
        time_range: The range.
    """
    if moment is not None and time_range.contains(moment):
        return "recorded"
    for event in events:
        if _tells_of(event, time_range):
            return "event"
    return None


def _tells_of(event: TimeRange, asked: TimeRange) -> bool:
    if not asked.overlaps(event):
        return False
    if event.start is None or event.end is None:  # its giver knows that it goes on
        return asked.recurrence is None
    length = event.end - event.start
    if asked.recurrence is not None:
        return length <= _longest_on(asked.recurrence) and asked.contains(event.start)
    if asked.start is None or asked.end is None:
        return True
    return length <= _COARSEST * max(asked.end - asked.start, _DAY)


def _longest_on(recurrence: Recurrence) -> timedelta:
    """How long an event may be that took place "in the mornings", "on Mondays", "in March"."""
    if recurrence.hours:
        return _DAY / 2
    return _DAY if recurrence.weekdays or recurrence.days else 31 * _DAY


class Query(Settings):
    """A question, with the moment against which its words of time are read.

    Args:
        text: The user's words; empty where a framework hands over none.
        reference_time: The moment of asking, with its time zone.
        scope: Whose memories may answer.
        filter: Conditions on metadata, as Chroma writes them.
        time_ranges: The times that the question names, best first; set by `ExtractTime`.
        search_text: What the embedding sees; the text itself where empty.
        k: How many memories the asker wants; None outside a retriever.
        messages: The conversation in which it is asked, oldest first, where that is known.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    reference_time: datetime
    scope: Scope = Scope()
    filter: Filter | None = None
    time_ranges: tuple[TimeRange, ...] = ()
    search_text: str = ""
    k: int | None = Field(default=None, ge=1)
    messages: tuple[Message, ...] = ()


def query_text(text: object) -> str:
    """The words of a question, stripped.

    Raises:
        QueryError: When there are none.

    Examples:
        >>> query_text("  Where is the dentist? ")
        'Where is the dentist?'
    """
    if not isinstance(text, str):
        raise QueryError(f"query must be a string; got {type(text).__name__}")
    if not text.strip():
        raise QueryError(f"query must say what to look for; got {text!r}")
    return text.strip()


def is_reserved(key: object) -> bool:
    """Whether a key of flat metadata is one in which results say how they were found.

    Examples:
        >>> [is_reserved(key) for key in ("recall_similarity", "relevance_score", "topic")]
        [True, True, False]
    """
    return isinstance(key, str) and (key.startswith(TRACE_PREFIX) or key == SCORE_KEY)
