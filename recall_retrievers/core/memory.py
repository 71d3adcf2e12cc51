"""Memory: one stored item, and which of its times lie in a range."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple, get_args

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationInfo,
    field_validator,
)

from recall_retrievers.core.errors import MemoryFormatError
from recall_retrievers.core.scope import Scope, ScopeInput, ScopeName
from recall_retrievers.core.settings import AwareTime, Settings, Share, TimeInput
from recall_retrievers.core.settings_messages import got
from recall_retrievers.timeline import Recurrence, TimeRange
from recall_retrievers.timeline.parse_time import in_zone
from recall_retrievers.timeline.recurrence import weekday_name

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
TimeMatch = Literal["recorded", "event"]


TRACE_PREFIX = "recall_"  # the prefix of the keys of a trace in flat metadata
REFLECTION = "reflection"  # the memory type of a reflection
SCORE_KEY = "relevance_score"  # the metadata key of a score, as LangChain's rerankers write it
_SCALARS = {str, bool, int, float}
_DAY = timedelta(days=1)
# An event may be this many times as long as the range. With 8, a day finds the week around it,
# even the week in which the clocks go back. A month does not find the year around it.
_COARSEST = 8
_LARGEST_INTEGER = 2**63 - 1  # Chroma silently turns larger ones into floats


def _says_something(text: str, field: ValidationInfo) -> str:
    if not text.strip():
        raise ValueError(f"{field.field_name} must hold some text; got only white space")
    return text


Text = Annotated[str, Field(min_length=1), AfterValidator(_says_something)]  # of a memory


class UnreadEvents(tuple[TimeRange, ...]):
    """No events yet: the store reads them from the text when it stores the memory."""

    __slots__ = ()


class Dated:
    """The times of a memory, and what they say; the base of `Memory` and of `Candidate`."""

    if TYPE_CHECKING:  # not at run time: pydantic would put these fields before all others
        created_at: datetime | None
        events: tuple[TimeRange, ...]
        expires_at: datetime | None
        superseded_at: datetime | None

    def recorded(self, timezone: tzinfo | None) -> str:
        """When it was recorded, such as "2024-03-12 15:20:00 Tuesday"; empty if not known.

        " until 2024-03-15" follows if it was superseded on that day.
        """
        if self.created_at is None:
            return ""
        local = in_zone(self.created_at, timezone)
        return f"{local:%Y-%m-%d %H:%M:%S} {weekday_name(local)}{self._until(timezone)}"

    @property
    def day(self) -> str:
        """The day on which it was recorded, in the zone of its time; empty if not known."""
        moment = self.created_at
        if moment is None:
            return ""
        return f"{moment:%Y-%m-%d} {weekday_name(moment)}{self._until(moment.tzinfo)}"

    def _until(self, timezone: tzinfo | None) -> str:
        ended = self.superseded_at and in_zone(self.superseded_at, timezone)
        return f" until {ended:%Y-%m-%d}" if ended else ""

    def expired(self, moment: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= moment

    @property
    def ends_at(self) -> datetime | None:
        """From when it is not found: when it expires or is superseded, whichever is first."""
        return min(filter(None, (self.expires_at, self.superseded_at)), default=None)

    def matches(self, time_range: TimeRange) -> TimeMatch | None:
        """Which time of the memory lies in a range: the recorded time, the event time, or none.

        An event of days, weeks or months is compared by date, whatever the zones. A day finds an
        event of "last week", and none that is much longer, as "in 2019". A session finds no event.
        """
        if self.created_at is not None and time_range.contains(self.created_at):
            return "recorded"
        for event in self.events if time_range.grain != "session" else ():
            if _event_matches(event, time_range):
                return "event"
        return None


class Standing(NamedTuple):
    """Which memories count. The row index and Chroma compare the same times as this does."""

    moment: datetime | None = None  # what has ended by then does not count; None = all count
    as_it_stood: bool = False  # whether only what was recorded by then counts
    include_superseded: bool = False  # whether what is superseded by then counts, too

    def counts(self, memory: Dated) -> bool:
        moment, created = self.moment, memory.created_at
        if moment is None:
            return True
        ends = memory.expires_at if self.include_superseded else memory.ends_at
        there = not self.as_it_stood or (created is not None and created <= moment)
        return there and (ends is None or ends > moment)


ALWAYS = Standing()  # all memories count


# Of a memory. Chroma takes more than 5,461 into its log, and can never apply what is in it then.
_MOST_VALUES = 1_000


def check_values(fields: object) -> object:
    """Refuse a memory, or its metadata, with too many values, before each of them is looked at."""
    known = fields.values() if isinstance(fields, Mapping) else ()
    values = sum(len(value) if isinstance(value, list) else 1 for value in known)
    if values > _MOST_VALUES:
        raise MemoryFormatError(
            f"a memory has {values:,} values here; expected {_MOST_VALUES:,} at most, its fields, "
            "its metadata and the items of lists counted. Put them into the text, or into one "
            "value as JSON"
        )
    return fields


class Memory(Dated, Settings):
    """One stored item.

    Args:
        content: The text; never empty.
        id: Its name in the collection. If it is empty, the store makes one.
        memory_type: conversation, observation, obs_customized, insight, reflection, profile,
            event, task, or a word of your own.
        created_at: When it was recorded: epoch seconds, ISO 8601 or datetime. A time without a zone
            is read in the zone of the machine. None = the time at which it is stored.
        events: The times that its text names, as half-open ranges. If you leave them out, the store
            reads them from the text. An empty list says that there are none.
        when_to_use: For task memories, the condition in which it helps.
        author: The person or role that said or wrote it.
        said_before: For a turn of a conversation, the end of the text that it answers. These words
            find the memory too. They are never shown as its text.
        turn_before: For a turn of a conversation, the id of the turn that it answers.
        scope: The owner.
        metadata: Further flat values: text, numbers, booleans, or lists of one of these. No name
            may begin with ``recall_`` or be ``relevance_score``: these names belong to the trace
            of a result.
        quality: How good the memory is, 0 to 1; higher is better. It is not a retrieval score.
        expires_at: The time from which it is not found, in the same forms as ``created_at``. It
            stays in the collection until `RecallStore.purge`. None = it never expires.
        superseded_by: The id of the memory that supersedes it; see `RecallStore.supersede`.
        superseded_at: Since when that is so, in the same forms as ``created_at``.

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
        **dict.fromkeys(("expiration_date", "expiry", "ttl"), "here it is expires_at"),
        **{name: f"here it is scope={{{name!r}: ...}}" for name in get_args(ScopeName)},
    }

    content: Text
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
    quality: Share | None = None
    expires_at: AwareTime | None = None
    superseded_by: str = ""
    superseded_at: AwareTime | None = None

    if TYPE_CHECKING:  # the input types; type checkers would take the types of the fields instead

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
            expires_at: TimeInput | None = None,
            superseded_by: str = "",
            superseded_at: TimeInput | None = None,
        ) -> None: ...

    @field_validator("metadata", mode="before")
    @classmethod
    def _flat(cls, metadata: object) -> object:
        check_values(metadata)
        for key, value in metadata.items() if isinstance(metadata, Mapping) else ():
            if is_reserved(key):
                raise ValueError(
                    f"metadata {got(key)} has a name in which results say how they were found: "
                    f"rename it, so that it neither begins with {TRACE_PREFIX} nor is {SCORE_KEY}"
                )
            # One sentence. Pydantic would list each of the eight types that the value is not.
            parts = value if isinstance(value, list) else [value]
            kinds = {type(part) for part in parts}
            if len(kinds) > 1 or not kinds <= _SCALARS:
                raise ValueError(
                    f"metadata {got(key)} must be text, a number, a boolean or a list of one of "
                    f"these; got {got(value)}"
                )
            if not parts:
                raise ValueError(f"metadata {got(key)} is an empty list, which no collection keeps")
            for part in parts:
                if isinstance(part, float) and not math.isfinite(part):
                    raise ValueError(f"metadata {got(key)} must be a finite number; got {part}")
                if isinstance(part, int) and abs(part) > _LARGEST_INTEGER:
                    raise ValueError(f"metadata {got(key)} must fit 64 bits; got {part}")
        return metadata


def _event_matches(event: TimeRange, time_range: TimeRange) -> bool:
    # "8 June" is 8 June in every zone.
    if event.whole_days and event.time_zone is not time_range.time_zone:
        event, time_range = event.on_the_wall(), time_range.on_the_wall()
    if not time_range.overlaps(event):
        return False
    if event.start is None or event.end is None:  # whoever set it knows that it goes on
        return time_range.recurrence is None
    length = event.end - event.start
    if time_range.recurrence is not None:
        return length <= _longest_on(time_range.recurrence) and time_range.contains(event.start)
    if time_range.start is None or time_range.end is None:
        return True
    return length <= _COARSEST * max(time_range.end - time_range.start, _DAY)


def _longest_on(recurrence: Recurrence) -> timedelta:
    """The longest event that counts as "in the mornings", "on Mondays" or "in March"."""
    if recurrence.hours:
        return _DAY / 2
    return _DAY if recurrence.weekdays or recurrence.days else 31 * _DAY


def is_reserved(key: object) -> bool:
    """Whether a key of flat metadata is reserved for the trace of a result."""
    return isinstance(key, str) and (key.startswith(TRACE_PREFIX) or key == SCORE_KEY)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
