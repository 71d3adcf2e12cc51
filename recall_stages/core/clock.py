"""The settings of the reference time."""

from __future__ import annotations

from datetime import datetime

from pydantic import field_validator

from recall_stages.core.settings import Settings
from recall_stages.timeline import parse_time
from recall_stages.timeline.parse_time import resolve_timezone

TimeInput = int | float | str | datetime
"""A moment: epoch seconds, ISO 8601, or a datetime; without a zone, it is read in the asker's."""


class Timed(Settings):
    """The reference time, and the time zone of the user.

    Args:
        timestamp: Epoch seconds, ISO 8601 or datetime. None = the clock.
        timezone: Such as "Europe/Berlin". None = the timestamp's own, else the machine's.
    """

    timestamp: TimeInput | None = None
    timezone: str | None = None

    @field_validator("timestamp", mode="before")
    @classmethod
    def _is_a_time(cls, timestamp: TimeInput | None) -> TimeInput | None:
        if timestamp is not None:
            try:
                parse_time(timestamp)
            except TypeError as error:  # which pydantic would not gather among its errors
                raise ValueError(str(error)) from error
        return timestamp

    @field_validator("timezone")
    @classmethod
    def _is_a_zone(cls, timezone: str | None) -> str | None:
        if timezone is not None:
            resolve_timezone(timezone)
        return timezone

    def moment(self, now: datetime) -> datetime:
        """The reference time, in the asker's time zone: the one set, else the clock's ``now``."""
        zone = None if self.timezone is None else resolve_timezone(self.timezone)
        if self.timestamp is None:
            return now.astimezone(zone or resolve_timezone(None))
        moment = parse_time(self.timestamp, zone)
        return moment.astimezone(zone) if zone else moment
