"""The settings of the reference time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator

from recall_retrievers.core.settings import Settings
from recall_retrievers.timeline import parse_time
from recall_retrievers.timeline.parse_time import in_zone, resolve_timezone

TimeInput = int | float | str | datetime
"""A moment: epoch seconds, ISO 8601, or a datetime; without a zone, it is read in the asker's."""


def _is_a_time(timestamp: object) -> object:
    if timestamp is not None:
        try:
            parse_time(timestamp)  # type: ignore[arg-type]  # whether it is one, it says itself
        except TypeError as error:  # which pydantic would not gather among its errors
            raise ValueError(str(error)) from error
    return timestamp


def _is_a_zone(timezone: str) -> str:
    resolve_timezone(timezone)
    return timezone


Timestamp = Annotated[TimeInput | None, BeforeValidator(_is_a_time)]
"""The setting of the moment of asking; None = the clock."""

Timezone = Annotated[str, AfterValidator(_is_a_zone)] | None
"""The setting of the asker's time zone; None = the timestamp's own, else the machine's."""


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
        return moment(self.timestamp, self.timezone, now)


def moment(timestamp: TimeInput | None, timezone: str | None, now: datetime) -> datetime:
    """The reference time, in the asker's time zone: the one set, else the clock's ``now``."""
    zone = None if timezone is None else resolve_timezone(timezone)
    if timestamp is None:
        return now.astimezone(zone or resolve_timezone(None))
    asked_at = parse_time(timestamp, zone)
    return in_zone(asked_at, zone) if zone else asked_at
