"""The times of rows that somebody else wrote: their unit, their forms, and what cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recall_retrievers.core.memory import MetadataValue
from recall_retrievers.store.chroma.epoch import from_milliseconds
from recall_retrievers.store.chroma.row_fields import OWN_FIELDS, Fields, TimeUnit
from recall_retrievers.timeline.parse_time import EPOCH_MILLISECONDS_FROM
from recall_retrievers.timeline.written_time import calendar_day, has_two_meanings, written_time

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

_log = logging.getLogger(__name__)

_Row = Mapping[str, MetadataValue]

_SAMPLE = 200  # rows from the beginning of a collection, and as many from its end; the cloud: 300
_SHOWN = 3  # values that a warning shows
_KEYS = 12  # names that it shows

# As seconds 1973 to 2128, as milliseconds the first weeks of 1970.
_SECONDS = (1e8, 5e9)


def sample_of(collection: Collection) -> list[_Row]:
    """The metadata of the first and the last rows of a collection."""
    # Its types do not know that `include` makes the metadata be there.
    count, reads = collection.count(), collection
    starts = [0, max(_SAMPLE, count - _SAMPLE)] if count > _SAMPLE else [0]
    pages: list[Any] = [reads.get(limit=_SAMPLE, offset=x, include=["metadatas"]) for x in starts]
    return [row or {} for page in pages for row in page["metadatas"]]


def time_unit(sample: Sequence[_Row], fields: Fields) -> TimeUnit:
    """The unit of the times of a collection; Chroma can compare only numbers of one unit."""
    values = [row[fields.created_at] for row in sample if fields.created_at in row]
    numbers = [x for x in values if isinstance(x, int | float) and not isinstance(x, bool)]
    if not numbers:
        return "iso"
    if len(numbers) < len(values):
        return "mixed"
    if all(map(calendar_day, numbers)):
        return "mixed"  # such as 20240305: no unit of time
    large = sum(abs(each) >= EPOCH_MILLISECONDS_FROM for each in numbers)
    if not large:
        return "seconds"
    return "mixed" if any(_SECONDS[0] <= x < _SECONDS[1] for x in numbers) else "milliseconds"


def read_time(value: MetadataValue | None, unit: TimeUnit, fields: Fields) -> datetime | None:
    """The time of a row that somebody else wrote; None where there is none that can be read.

    A number that cannot be meant in the unit of the collection is read by itself.
    """
    if value is None or isinstance(value, list | bool):
        return None
    if isinstance(value, str):
        return written_time(value, day_first=fields.day_first)
    try:
        if unit == "milliseconds" and not _SECONDS[0] <= value < _SECONDS[1]:
            return from_milliseconds(int(value))
        if unit == "seconds" and abs(value) < EPOCH_MILLISECONDS_FROM:
            return from_milliseconds(round(value * 1000))
    except (ValueError, OverflowError):  # not finite, or outside the years 1 to 9999
        return None
    return written_time(value)


def note_unread(
    name: str, sample: Sequence[_Row], rows: int, unit: TimeUnit, fields: Fields
) -> None:
    """Warn of rows whose time cannot be read: the time of a question does not count for them."""
    key = fields.created_at
    values = [row[key] for row in sample if key in row]
    unread = [each for each in values if read_time(each, unit, fields) is None]
    read = len(values) - len(unread)
    if read == len(sample):
        return
    looked_at = f"{read} of {len(sample)} rows"
    parts = [f"{looked_at} have it" if not unread else f"{looked_at} have one that can be read"]
    if len(sample) < rows:
        parts[0] += f" ({len(sample)} of {rows:,} were looked at)"
    if unread:
        parts.append(f"not {', '.join(repr(each) for each in unread[:_SHOWN])}")
    if swapped := next((x for x in unread if isinstance(x, str) and has_two_meanings(x)), None):
        parts.append(f"is the day or the month first in {swapped!r}? Say day_first=True or False")
    if not read:
        keys = sorted({each for row in sample for each in row if not each.startswith("_")})
        parts.append(f"keys there: {', '.join(keys[:_KEYS]) or 'none'}")
    # A collection without any times is nothing to warn of, unless they were expected.
    expected = bool(unread) or (not read and fields != OWN_FIELDS)
    level = logging.WARNING if expected else logging.INFO
    _log.log(level, "collection %r: created_at is read from %r: %s", name, key, "; ".join(parts))
