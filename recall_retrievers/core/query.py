"""Query: a question, with the reference time of its time expressions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, ValidationInfo

from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.message import Message
from recall_retrievers.core.scope import Scope
from recall_retrievers.core.settings import Count, Settings
from recall_retrievers.core.settings_messages import got
from recall_retrievers.text.follow_ups import filled
from recall_retrievers.timeline import TimeRange, parse_time
from recall_retrievers.timeline.parse_time import moment_of, resolve_timezone

TimeInput = int | float | str | datetime
"""A moment: epoch seconds, ISO 8601, or a datetime; without a zone, it is read in the asker's."""


def _moment(value: Any, field: ValidationInfo) -> datetime:
    try:
        return parse_time(value, name=field.field_name or "a time")
    except TypeError as error:  # pydantic does not gather a TypeError among its errors
        raise ValueError(str(error)) from error


AwareTime = Annotated[datetime, BeforeValidator(_moment)]


def _is_a_time(timestamp: Any, field: ValidationInfo) -> object:
    if timestamp is not None:
        _moment(timestamp, field)
    return timestamp


def _is_a_zone(timezone: str) -> str:
    resolve_timezone(timezone)
    return timezone


Timestamp = Annotated[TimeInput | None, BeforeValidator(_is_a_time)]  # None = the clock

Timezone = Annotated[str, AfterValidator(_is_a_zone)] | None  # see `Timed`


class Timed(Settings):
    """The reference time, and the time zone of the user.

    Args:
        timestamp: Epoch seconds, ISO 8601 or datetime. None = the clock.
        timezone: Such as "Europe/Berlin". None = the timestamp's own, else the machine's.
    """

    timestamp: Timestamp = None
    timezone: Timezone = None

    def moment(self, now: datetime) -> datetime:
        """The reference time, in the asker's time zone: the one set, else the clock's ``now``."""
        return moment_of(self.timestamp, self.timezone, now)


Filter = Mapping[str, object]

LONGEST_QUESTION = 50_000  # the characters of a question; of a memory as many are searched


class Query(Settings):
    """A question, with the reference time of its time expressions.

    Args:
        text: The words of the user; empty if the framework passes none.
        reference_time: The moment of the question, with its time zone.
        scope: The owner of the memories that may answer.
        filter: Conditions on metadata, as Chroma writes them.
        time_ranges: The times that the question names, best first; set by `ExtractTime`.
        search_text: The text to search for. Empty = ``text``.
        k: How many memories the caller wants; None outside a retriever.
        messages: The conversation around the question, oldest first, if it is known. Where the
            question leaves something open, they are searched for, too.
        as_of: The moment whose memories are asked; None = those of the reference time.
        include_superseded: Whether superseded memories may answer.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    reference_time: datetime
    scope: Scope = Scope()
    filter: Filter | None = None
    time_ranges: tuple[TimeRange, ...] = ()
    search_text: str = ""
    k: Count | None = None
    messages: tuple[Message, ...] = ()
    as_of: datetime | None = None
    include_superseded: bool = False

    @property
    def searched(self) -> str:
        """The text to search for; where it leaves something open, the last messages fill it."""
        text = self.search_text or self.text
        if not self.messages or not text:
            return text
        said = [(x.role, x.content) for x in self.messages if x.content not in self.text]
        return filled(text, said, names_time=any(named.span for named in self.time_ranges))


def check_length(text: str) -> None:
    if len(text) > LONGEST_QUESTION:
        raise QueryError(
            f"query may have {LONGEST_QUESTION:,} characters at most; got {len(text):,}. Ask with "
            "the part that says what to look for"
        )


def query_text(text: object) -> str:
    if not isinstance(text, str):
        raise QueryError(f"query must be a string; got {type(text).__name__}")
    if not text.strip():
        raise QueryError(
            f"query must say what to look for; got {got(text)}. To list memories, the newest "
            "first, pass a time_range or a filter"
        )
    check_length(text)
    return text.strip()
