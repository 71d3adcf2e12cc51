"""How a store of somebody else writes times: learnt from its answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from recall_retrievers.store.chroma.epoch import to_milliseconds, up_to_milliseconds
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.parse_time import EPOCH_MILLISECONDS_FROM

Form = Literal["seconds", "milliseconds", "iso", "naive", "aware", "other"]
Bounds = tuple[str, str, float | str | datetime | None, float | str | datetime | None]
"""The key with a lower bound, the key with an upper bound, and both bounds; None = open."""

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_DAY = timedelta(days=1)  # no zone is further from UTC
_WITH_FOUR_DIGITS = (datetime(1000, 1, 3, tzinfo=UTC), datetime(9999, 12, 28, tzinfo=UTC))


@dataclass(slots=True)
class TimeForms:
    """The forms of time that a store has shown so far.

    Attributes:
        recorded: The forms of the recorded time.
        bare: Whether events are written without their first and last moment in keys of their own.
    """

    recorded: set[Form] = field(default_factory=set)
    bare: bool = False

    def see(self, rows: Iterable[Mapping[str, object]], key: str) -> None:
        """Learn from the metadata of rows.

        Examples:
            >>> forms = TimeForms()
            >>> forms.see([{"date": 1709632800}, {"date": "2024-03-05"}], "date")
            >>> sorted(forms.recorded)
            ['iso', 'seconds']
        """
        for row in rows:
            if row.get(key) not in (None, ""):
                self.recorded.add(_form(row[key]))
            if row.get("event_ranges") and not {"event_start", "event_end"} <= row.keys():
                self.bare = True

    def comparable(self, *, missing: bool) -> bool:
        """Whether a store can compare its times.

        Args:
            missing: Whether it can check for a missing key.
        """
        seen = self.recorded and "other" not in self.recorded
        return bool(seen) and (missing or not self.bare)

    def bounds(self, time_range: TimeRange, key: str) -> Iterator[Bounds]:
        """The bounds of the recorded time and of events, one after the other, never too narrow."""
        start, end = time_range.start, time_range.end
        low = None if start is None else to_milliseconds(start)
        high = None if end is None else up_to_milliseconds(end)
        if "milliseconds" in self.recorded:
            yield key, key, low, high
        if "seconds" in self.recorded:
            first = None if low is None else low // 1000
            yield key, key, first, None if high is None else -(-high // 1000)
        if "iso" in self.recorded:
            yield key, key, _date(start, -_DAY), _date(end, 2 * _DAY)
        if "aware" in self.recorded:
            yield key, key, start, end
        if "naive" in self.recorded:
            yield key, key, _shifted(start, -_DAY), _shifted(end, _DAY)
        yield "event_end", "event_start", low, high


def _form(value: object) -> Form:
    if isinstance(value, datetime):
        return "naive" if value.utcoffset() is None else "aware"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "milliseconds" if abs(value) >= EPOCH_MILLISECONDS_FROM else "seconds"
    return "iso" if isinstance(value, str) and _ISO.fullmatch(value) else "other"


def _date(moment: datetime | None, margin: timedelta) -> str | None:
    """The date of a moment, moved by a margin: what any time of that day begins with, or more."""
    if moment is None:
        return None
    first, last = _WITH_FOUR_DIGITS
    if not first < moment < last:
        return None
    return (moment.astimezone(UTC) + margin).date().isoformat()


def _shifted(moment: datetime | None, margin: timedelta) -> datetime | None:
    first, last = _WITH_FOUR_DIGITS
    if moment is None or not first < moment < last:
        return None
    return (moment.astimezone(UTC) + margin).replace(tzinfo=None)
