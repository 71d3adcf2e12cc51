"""Moments from outside: epoch numbers, ISO 8601 strings and datetimes become aware datetimes."""

import math
from contextlib import suppress
from datetime import date, datetime, timedelta, tzinfo
from difflib import get_close_matches
from zoneinfo import ZoneInfo, available_timezones

from tzlocal import get_localzone

EPOCH_MILLISECONDS_FROM = 1e11
"""Numbers at least this large are milliseconds: as seconds they would lie beyond the year 5000."""


def parse_time(
    value: float | str | datetime,
    timezone: tzinfo | str | None = None,
    *,
    name: str = "timestamp",
) -> datetime:
    """Read a moment in any of the usual forms as a datetime with a time zone.

    Args:
        value: Seconds since 1970 (or milliseconds, when the number is 1e11 or larger either
            way), an ISO 8601 string, or a datetime. Without an offset of its own it is read in
            `timezone`. A string of digits is refused: it does not say what it counts.
        timezone: A time zone or its IANA name; None means the zone of this machine.
        name: What to call the value in an error.

    Returns:
        The moment; a value that brings its own offset keeps it.

    Raises:
        TypeError: If `value` is none of these types; a bool is not a number here.
        ValueError: If it does not name a moment, or one outside the years 1 to 9999.

    Examples:
        >>> parse_time("2024-03-05", "UTC").isoformat()
        '2024-03-05T00:00:00+00:00'
        >>> parse_time(1709640000, "Europe/Berlin").isoformat()
        '2024-03-05T13:00:00+01:00'
        >>> parse_time("2024-03-05T12:00:00Z").isoformat()
        '2024-03-05T12:00:00+00:00'
        >>> parse_time(True)
        Traceback (most recent call last):
        TypeError: timestamp must be an int, float, ISO 8601 string or datetime; got True
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | datetime):
        raise TypeError(_complaint(name, value))
    if isinstance(value, int | float):
        return _from_epoch(value, resolve_timezone(timezone), name)
    moment = _from_iso(value, name) if isinstance(value, str) else value
    if moment.utcoffset() is None:
        moment = moment.replace(tzinfo=resolve_timezone(timezone))
    return moment


def end_of_day(
    value: float | str | datetime, timezone: tzinfo | str | None = None, *, name: str = "timestamp"
) -> datetime:
    """Read a moment as `parse_time` does; a date without a time is the end of its day."""
    moment = parse_time(value, timezone, name=name)
    with suppress(TypeError, ValueError):
        date.fromisoformat(value.strip() if isinstance(value, str) else "")
        moment += timedelta(days=1, microseconds=-1)
    return moment


def resolve_timezone(timezone: tzinfo | str | None) -> tzinfo:
    """Find a time zone: itself, by its IANA name, or the zone of this machine for None."""
    if timezone is None:
        return get_localzone()
    if isinstance(timezone, tzinfo):
        return timezone
    if not isinstance(timezone, str):
        msg = (
            "timezone must be a tzinfo, an IANA name such as 'Europe/Berlin' or None; "
            f"got {timezone!r:.60}"
        )
        raise TypeError(msg)
    try:
        return ZoneInfo(timezone)
    except (ValueError, OSError, LookupError) as error:
        close = get_close_matches(timezone, available_timezones(), n=1)
        hint = f". Did you mean {close[0]!r}?" if close else ""
        msg = f"timezone must be an IANA name such as 'Europe/Berlin'; got {timezone!r:.60}{hint}"
        raise ValueError(msg) from error


def in_zone(moment: datetime, timezone: tzinfo | None) -> datetime:
    """A moment in a time zone; None = that of the machine.

    On the first and the last day that the calendar has, the zone may be on a day that it has not.
    Then the moment stays as it is.
    """
    try:
        return moment.astimezone(timezone)
    except OverflowError:
        return moment


def moment_of(
    timestamp: float | str | datetime | None, timezone: str | None, now: datetime
) -> datetime:
    """A moment of asking in the asker's time zone: the one set, else the clock's ``now``."""
    zone = None if timezone is None else resolve_timezone(timezone)
    if timestamp is None:
        return now.astimezone(zone or resolve_timezone(None))
    asked_at = parse_time(timestamp, zone)
    return in_zone(asked_at, zone) if zone else asked_at


def _from_epoch(value: float, zone: tzinfo, name: str) -> datetime:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(_complaint(name, value))
    try:
        seconds = value / 1000 if abs(value) >= EPOCH_MILLISECONDS_FROM else value
        return datetime.fromtimestamp(seconds, zone)
    except (OverflowError, OSError, ValueError) as error:
        msg = f"{name} must lie between the years 1 and 9999; got the number {_short(value)}"
        raise ValueError(msg) from error


def _short(value: float) -> str:
    # Thousands of digits would neither print nor help.
    return f"{value!r}" if abs(value) < 10**20 else "beyond 1e20"


def _from_iso(value: str, name: str) -> datetime:
    text = value.strip()
    # Python reads "20240305" as a date; an epoch passed as a string would be misread silently.
    if text.isdigit():
        raise ValueError(_complaint(name, value))
    try:
        return datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "Zz" else text)
    except ValueError as error:
        raise ValueError(_complaint(name, value)) from error


def _complaint(name: str, value: object) -> str:
    return f"{name} must be an int, float, ISO 8601 string or datetime; got {value!r:.60}"
