"""The keys and the times of rows: our own, and those of collections that somebody else made."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field

from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.core.settings import Settings
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.parse_time import EPOCH_MILLISECONDS_FROM
from recall_retrievers.timeline.written_time import calendar_day, has_two_meanings, written_time

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

EXPIRES_AT = "expires_at"
# The memory that supersedes a row, and since when.
SUPERSEDED_BY, SUPERSEDED_AT = "superseded_by", "superseded_at"
# What it supersedes, in which state. Of several programs that write this at once the first counts.
# No metadata of a user can have this name: it has the prefix of a trace.
SUPERSEDES = "recall_supersedes"
# Rows that expire or are superseded have this too: rows without a key cannot be asked for, but
# "$ne" lets them pass.
MAY_EXPIRE = "may_expire"
NODE_SOURCE = "ref_doc_id"  # the document that a node of LlamaIndex was cut from
WRITTEN_AT = "written_at"  # when a row was last written: it shows what others have changed

Row = tuple[str, str | None, Mapping[str, MetadataValue] | None]
"""A row's id, its text and its metadata."""


class Fields(Settings):
    """The metadata keys of a collection that somebody else made.

    Args:
        content: The metadata key of the text; None = the document itself.
        created_at: The key of the recorded time: epoch seconds or milliseconds, ISO 8601, or a
            common written form such as "March 5, 2024", "05.03.2024" or 20240305.
        expires_at: The key of the time from which a row is not found, in the same forms.
        memory_type: The key of the memory type.
        author: The key of the author.
        user_id: The key of the user, for scopes.
        agent_id: The key of the agent.
        session_id: The key of the conversation.
        workspace: The key of the group.
        day_first: Whether "05/03/2024" is 5 March (True) or May 3 (False). None = such a time is
            not read, and a warning says so.
    """

    model_config = ConfigDict(frozen=True)

    content: str | None = None
    created_at: str = Field(default="created_at", min_length=1)
    expires_at: str = Field(default=EXPIRES_AT, min_length=1)
    memory_type: str = Field(default="memory_type", min_length=1)
    author: str = Field(default="author", min_length=1)
    user_id: str = Field(default="user_id", min_length=1)
    agent_id: str = Field(default="agent_id", min_length=1)
    session_id: str = Field(default="session_id", min_length=1)
    workspace: str = Field(default="workspace", min_length=1)
    day_first: bool | None = None


OWN_FIELDS = Fields()


# -- times of ours: whole milliseconds ------------------------------------------------------------

EARLIEST, LATEST = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999 in epoch milliseconds, the range of a datetime."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = 86_400_000  # in milliseconds
_ZONES = 26 * 3_600_000  # from UTC-12 to UTC+14


def to_milliseconds(moment: datetime) -> int:
    """Whole epoch milliseconds, rounded down; never outside the years 1 to 9999."""
    return _in_calendar((moment - _EPOCH) // _MILLISECOND)


def up_to_milliseconds(moment: datetime) -> int:
    """Whole epoch milliseconds, rounded up: for the end of a half-open range."""
    return _in_calendar(-((_EPOCH - moment) // _MILLISECOND))


def bounds_of(time_range: TimeRange) -> tuple[int, int]:
    """The first and the last millisecond of a range; an open end is `EARLIEST` or `LATEST`."""
    first = EARLIEST if time_range.start is None else to_milliseconds(time_range.start)
    last = LATEST if time_range.end is None else up_to_milliseconds(time_range.end) - 1
    return first, last


def event_bounds(time_range: TimeRange) -> tuple[int, int]:
    """The bounds for the events of rows: a day may be that of any zone, up to 26 hours away."""
    first, last = bounds_of(time_range)
    return _in_calendar(first - _ZONES), _in_calendar(last + _ZONES)


def from_milliseconds(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND


def day_of(milliseconds: int) -> int:
    """The number of days since 1970-01-01, in UTC."""
    return milliseconds // _DAY


def is_ours(row: Mapping[str, object]) -> bool:
    """Whether a row is one of ours, however it was read: others may use some of its keys."""
    day, created = row.get("created_day"), row.get("created_at")
    return isinstance(day, int) and isinstance(created, int) and day == day_of(created)


def event_hull(events: Sequence[TimeRange]) -> dict[str, int]:
    """From the first to the last moment of all events, in milliseconds; empty without events."""
    if not events:
        return {}
    firsts, lasts = zip(*map(bounds_of, events), strict=True)
    return {"event_start": min(firsts), "event_end": _in_calendar(max(lasts) + 1)}


def new_id(created_at: datetime) -> str:
    """A new, unique id that sorts by recorded time."""
    # Counted from the year 1, so that 13 hexadecimal digits sort by time, before 1970 as after.
    return f"{to_milliseconds(created_at) - EARLIEST:013x}-{uuid.uuid4().hex[:12]}"


def _in_calendar(milliseconds: int) -> int:
    return min(max(milliseconds, EARLIEST), LATEST)


# -- times that somebody else wrote ---------------------------------------------------------------

_SAMPLE = 200  # rows from the beginning of a collection, and as many from its end
_SHOWN = 3  # values that a warning shows
_KEYS = 12  # names that it shows


def time_unit(collection: Collection, fields: Fields) -> int | None:
    """The milliseconds of the unit of all times; None = Chroma cannot compare them as numbers.

    A warning says if there are some that cannot be read.
    """
    count, key = collection.count(), fields.created_at
    starts = [0, max(_SAMPLE, count - _SAMPLE)] if count > _SAMPLE else [0]
    # Its types do not know that `include` makes the metadata be there.
    pages: list[Any] = [
        collection.get(limit=_SAMPLE, offset=start, include=["metadatas"]) for start in starts
    ]
    sample = [row or {} for page in pages for row in page["metadatas"]]
    _note_unread(collection.name, sample, fields)
    units = {_unit_of(row[key]) for row in sample if key in row}
    return units.pop() if len(units) == 1 else None


def _unit_of(value: MetadataValue) -> int | None:
    if isinstance(value, str | list | bool) or calendar_day(value):  # such as 20240305
        return None
    return 1 if abs(value) >= EPOCH_MILLISECONDS_FROM else 1000


def read_time(value: MetadataValue | None, fields: Fields) -> datetime | None:
    """The time of a row that somebody else wrote; None where there is none that can be read."""
    if value is None or isinstance(value, list | bool):
        return None
    return written_time(value, day_first=fields.day_first)


def _note_unread(name: str, sample: Sequence[Mapping[str, MetadataValue]], fields: Fields) -> None:
    """Warn of rows whose time cannot be read: the time of a question does not count for them."""
    key = fields.created_at
    values = [row[key] for row in sample if key in row]
    unread = [each for each in values if read_time(each, fields) is None]
    read = len(values) - len(unread)
    if read == len(sample):
        return
    parts = [f"{read} of {len(sample)} rows have {'one that can be read' if unread else 'it'}"]
    if unread:
        parts.append(f"not {', '.join(map(repr, unread[:_SHOWN]))}")
    if swapped := next((x for x in unread if isinstance(x, str) and has_two_meanings(x)), None):
        parts.append(f"is the day or the month first in {swapped!r}? Say day_first=True or False")
    if not read:
        keys = sorted({each for row in sample for each in row if not each.startswith("_")})
        parts.append(f"keys there: {', '.join(keys[:_KEYS]) or 'none'}")
    # A collection without any times is nothing to warn of, unless they were expected.
    expected = bool(unread) or (not read and fields != OWN_FIELDS)
    level = logging.WARNING if expected else logging.INFO
    _log.log(level, "collection %r: created_at is read from %r: %s", name, key, "; ".join(parts))
