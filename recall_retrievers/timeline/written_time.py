"""Moments as people and programs write them: "March 5, 2024", "05.03.2024", 20240305.

Only forms with one meaning are read. `parse_time` is stricter: it reads what a program passes.
"""

import re
from datetime import datetime, tzinfo
from typing import Final

from recall_retrievers.timeline.parse_time import parse_time, resolve_timezone
from recall_retrievers.timeline.recurrence import MONTHS, WEEKDAYS

_MONTH: Final = {
    name: number
    for number, month in enumerate(MONTHS, 1)
    for name in (month.lower(), month[:3].lower(), "sept" if number == 9 else month.lower())
}
_WEEKDAY = "|".join(f"{day}|{day[:3]}|{day[:4]}" for day in WEEKDAYS)
_NAME = rf"(?P<name>{'|'.join(sorted(_MONTH, key=len, reverse=True))})\.?"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?"
)
_ZONE = r"(?P<zone>Z|(?:UTC|GMT)?[+-]\d\d:?\d\d|UTC|GMT)(?: \([^)]*\))?"
_DAY = r"(?P<day>\d{1,2})"

# The parts of a date, in each order in which they are written.
_DATES: Final = (
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
    r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]",
    r"(?P<first>\d{1,2})(?P<mark>\. ?|/|-)(?P<second_number>\d{1,2})(?P=mark)(?P<year>\d{4})",
    rf"{_NAME}[ -]{_DAY}(?:st|nd|rd|th)?,?[ -](?P<year>\d{{4}})",
    rf"{_DAY}(?:st|nd|rd|th|\.)?(?: of)?[ -]{_NAME},?[ -](?P<year>\d{{4}})",
)
_FORMS: Final = [
    *(
        re.compile(
            rf"(?:(?:{_WEEKDAY})\.?,? )?{date}(?:(?:,? (?:at )?|T){_CLOCK})?(?: ?{_ZONE})?",
            re.IGNORECASE,
        )
        for date in _DATES
    ),
    # As C's ctime writes it.
    re.compile(
        rf"(?:{_WEEKDAY}) {_NAME} {_DAY} {_CLOCK}(?: {_ZONE})? (?P<year>\d{{4}})", re.IGNORECASE
    ),
]
_NUMBER = re.compile(r"-?\d{9,13}(?:\.\d+)?")  # seconds or milliseconds, as a text
_CALENDAR = range(1900_01_01, 2100_12_32)


def written_time(
    value: float | str, timezone: tzinfo | None = None, *, day_first: bool | None = None
) -> datetime | None:
    """The moment that a value names; None if it names none, or may name two.

    A number is epoch seconds, or milliseconds from 1e11 on, or eight digits of a date. None as the
    zone is that of this machine. "05/03/2024" needs ``day_first``, unless a number is above 12.

    Examples:
        >>> from datetime import UTC
        >>> written_time("March 5, 2024 at 3:04 pm", UTC).isoformat()
        '2024-03-05T15:04:00+00:00'
        >>> written_time("05.03.2024", UTC) == written_time(20240305, UTC)
        True
        >>> written_time("05/03/2024", UTC) is None
        True
        >>> written_time("05/03/2024", UTC, day_first=False).date().isoformat()
        '2024-05-03'
    """
    try:
        if isinstance(value, str):
            return _of_text(" ".join(value.split()), timezone, day_first)
        return calendar_day(value, timezone) or parse_time(value, timezone)
    except (ValueError, TypeError):
        return None


def calendar_day(value: float, timezone: tzinfo | None = None) -> datetime | None:
    """The day that a number such as 20240305 names; None if it names none."""
    if not isinstance(value, int) or isinstance(value, bool) or value not in _CALENDAR:
        return None
    try:
        day = datetime(value // 10_000, value // 100 % 100, value % 100)  # noqa: DTZ001 - see below
    except ValueError:
        return None
    return day.replace(tzinfo=resolve_timezone(timezone))


def has_two_meanings(text: str) -> bool:
    """Whether a text is a date whose day and month may be swapped, such as 05/03/2024."""
    readings = [written_time(text, day_first=first) for first in (None, True, False)]
    return readings[0] is None and None not in readings[1:]


def _of_text(text: str, timezone: tzinfo | None, day_first: bool | None) -> datetime | None:
    if _NUMBER.fullmatch(text):
        return parse_time(float(text), timezone)
    if len(text) == 8 and text.isdecimal():
        return calendar_day(int(text), timezone)
    try:
        return parse_time(text, timezone)
    except ValueError:
        found = next((match for form in _FORMS if (match := form.fullmatch(text))), None)
    return None if found is None else _moment(found.groupdict(), timezone, day_first)


def _moment(
    parts: dict[str, str | None], timezone: tzinfo | None, day_first: bool | None
) -> datetime | None:
    day_month = _day_and_month(parts, day_first)
    if day_month is None:
        return None
    year, hour, minute, second = (
        int(parts[name] or 0) for name in ("year", "hour", "minute", "second")
    )
    if parts["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if parts["half"] in "pP" else 0)
    day, month = day_month
    moment = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - the zone follows
    zone = (parts["zone"] or "").upper().removeprefix("UTC").removeprefix("GMT")
    if not parts["zone"]:
        return moment.replace(tzinfo=resolve_timezone(timezone))
    return datetime.fromisoformat(moment.isoformat() + ("+00:00" if zone in ("", "Z") else zone))


def _day_and_month(parts: dict[str, str | None], day_first: bool | None) -> tuple[int, int] | None:
    """The day and the month; None if they may be swapped."""
    if parts.get("name"):
        return int(parts["day"] or 0), _MONTH[str(parts["name"]).lower()]
    if parts.get("month"):
        return int(parts["day"] or 0), int(parts["month"] or 0)
    first, second = int(parts["first"] or 0), int(parts["second_number"] or 0)
    if day_first is None:
        dotted = (parts["mark"] or "").startswith(".")  # nobody writes the month first with dots
        if not dotted and first <= 12 and second <= 12 and first != second:
            return None
        day_first = dotted or first > 12
    return (first, second) if day_first else (second, first)
