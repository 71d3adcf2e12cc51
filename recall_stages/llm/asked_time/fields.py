"""The stretch of time that a model means: by its two ends, or by the calendar fields it names.

A year that was left out is the latest that fits, as in a question. What contradicts itself is an
error: a model that says Wednesday where the calendar says Tuesday has got one of them wrong, and
nobody knows which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, time, timedelta

from recall_stages.core.errors import ReplyError
from recall_stages.llm.asked_time.values import is_absent
from recall_stages.timeline import Recurrence, TimeRange
from recall_stages.timeline.engine import calendar_math as cal
from recall_stages.timeline.time_range import Grain

Fields = Mapping[str, tuple[int, int]]
"""The first and the last value of each field that was given; weekday 1 is Monday."""

_ISO = re.compile(r"(\d{4})(?:[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?)?[年月日号]?")
_NOW = frozenset({"now", "present", "today", "ongoing", "现在", "至今", "今天"})
_GRAINS: tuple[Grain, ...] = ("minute", "day", "month", "year")
_YEARS_BACK = 8  # the 29th of February may be that long ago


def range_of_ends(start: object, end: object, now: datetime) -> TimeRange:
    """The range between two ISO 8601 ends in the time zone of ``now``; whole days include the last.

    Raises:
        ReplyError: When an end is no time, or the range would be empty.

    Examples:
        >>> now = datetime.fromisoformat("2024-06-12T15:30:00+00:00")
        >>> range_of_ends("2021-07-23", "2021-08-08", now).describe()
        '2021-07-23 to 2021-08-08'
        >>> range_of_ends("2021-07", None, now).end == now
        True
    """
    until_now = str(end).strip().lower() in _NOW
    first = None if is_absent(start) else _ends(start, now)
    last = None if is_absent(end) or until_now else _ends(end, now)
    if first is None and last is None:
        raise ReplyError(f"expected a start; got only {end!r:.80} for an end")
    begin, close = first and first[0], last and last[1]
    if begin and close is None and begin < now:
        close = now
    finest = min((each[2] for each in (first, last) if each), key=_GRAINS.index)
    try:
        return TimeRange(begin, close, finest)
    except ValueError as error:
        raise ReplyError(str(error)) from error


def _ends(said: object, now: datetime) -> tuple[datetime, datetime, Grain]:
    """The beginning and the end of what is said: a year, a month, a day or a moment."""
    text = str(said).strip()
    try:
        if (match := _ISO.fullmatch(text)) is not None:
            numbers = [int(number) for number in match.groups() if number]
            grain = _GRAINS[-len(numbers)]
            begin, close = cal.unit_ends(grain, cal.day_of(*(*numbers, 1, 1)[:3]))
            return begin.replace(tzinfo=now.tzinfo), close.replace(tzinfo=now.tzinfo), grain
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise ReplyError(f"expected an ISO 8601 date; got {text!r:.80}") from error
    moment = moment.astimezone(now.tzinfo) if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
    # Who says 23:59 means the end of that hour.
    last = moment.minute == 59 and moment.second in (0, 59)
    close = cal.start_of("hour", moment) + timedelta(hours=1) if last else moment
    return moment, close, "minute" if close.time() != time.min else "day"


def range_of_fields(fields: Fields, now: datetime) -> TimeRange:
    """What the fields name together, in the time zone of ``now``.

    Raises:
        ReplyError: When the calendar has no such date.

    Examples:
        >>> now = datetime.fromisoformat("2024-06-12T15:30:00+00:00")
        >>> range_of_fields({"month": (11, 11)}, now).describe()
        '2023-11-01 to 2023-11-30'
        >>> week = {"year": (2024, 2024), "week": (10, 10), "weekday": (6, 7)}
        >>> range_of_fields(week, now).describe()
        '2024-03-09 to 2024-03-10'
    """
    lows = {name: low for name, (low, _) in fields.items()}
    highs = {name: high for name, (_, high) in fields.items()}
    wall = now.replace(tzinfo=None)
    for anchor in _anchors(fields, wall):
        try:
            start, _, grain = _unit(lows, anchor)
            _, end, _ = _unit(highs, anchor)
            if start <= wall or "year" in fields:
                return TimeRange(
                    start.replace(tzinfo=now.tzinfo), end.replace(tzinfo=now.tzinfo), grain
                )
        except (ValueError, OverflowError):  # that year has no 29th of February
            continue
    raise ReplyError(f"the calendar has no {_told(fields)}")


def _anchors(fields: Fields, wall: datetime) -> Iterator[datetime]:
    """The days that lend what was left out, the latest first."""
    unit: Grain = "day"
    if "year" in fields or "month" in fields or "week" in fields:
        unit = "year"
    elif "day" in fields:
        unit = "month"
    first = wall if unit == "day" else wall.replace(day=1)
    for back in range(_YEARS_BACK + 1):
        yield cal.shift(first, unit, -back)


def _unit(given: Mapping[str, int], anchor: datetime) -> tuple[datetime, datetime, Grain]:
    """The finest unit that the fields name in one piece."""
    year = given.get("year", anchor.year)
    unit: Grain = "day"
    if "day" in given:
        if "year" in given and "month" not in given:
            raise ReplyError(f"expected a month beside the day; got {dict(given)}")
        start = cal.day_of(year, given.get("month", anchor.month), given["day"])
    elif "week" in given:
        start = _week(year, given)
        if "weekday" not in given:
            return start, start + cal.WEEK, "week"
        start = _on(start, given["weekday"])
    elif "month" in given or "year" in given:
        unit = "month" if "month" in given else "year"
        start = cal.day_of(year, given.get("month", 1), 1)
    else:
        start = cal.midnight(anchor)
        if "weekday" in given:
            start = _on(start - 6 * cal.DAY, given["weekday"])
    if unit == "day" and "hour" in given:
        unit, start = "hour", start + timedelta(hours=given["hour"])
    return *cal.unit_ends(unit, start), unit


def _week(year: int, given: Mapping[str, int]) -> datetime:
    """The week of the year; where that lies in another month, the week of the month."""
    week, month = given["week"], given.get("month")
    monday = cal.iso_week(year, week)
    if month is None or month in (monday.month, (monday + 6 * cal.DAY).month):
        return monday
    return cal.day_of(year, month, 7 * week - 6)


def _on(day: datetime, weekday: int) -> datetime:
    return day + cal.DAY * ((weekday - day.isoweekday()) % 7)


def fitted(found: TimeRange, fields: Fields) -> TimeRange:
    """The range with what the fields add: "a Tuesday in March" has a range and a recurrence.

    Raises:
        ReplyError: When a field contradicts the range.
    """
    moments = [each for each in (found.start, found.end and _just_before(found.end)) if each]
    length = found.end - found.start if found.start and found.end else timedelta.max
    weekdays = hours = frozenset[int]()
    for name, (low, high) in fields.items():
        if name == "weekday" and length > cal.WEEK:
            weekdays = frozenset(range(low - 1, high))
        elif name == "hour" and length >= cal.DAY:
            hours = frozenset(range(low, high + 1))
        elif not any(_has(moment, name, low, high, fields) for moment in moments):
            raise ReplyError(f"{name} contradicts {found.describe()}: {_told(fields)}")
    if not weekdays and not hours:
        return found
    recurrence = Recurrence(weekdays=weekdays, hours=hours, timezone=found.time_zone)
    return replace(found, recurrence=recurrence)


def _has(moment: datetime, name: str, low: int, high: int, fields: Fields) -> bool:
    iso = moment.isocalendar()
    values = {
        "year": (moment.year, iso.year if "week" in fields else moment.year),
        "week": (iso.week, (moment.day + 6) // 7 if "month" in fields else iso.week),
        "weekday": (iso.weekday,),
    }.get(name) or (getattr(moment, name),)
    return any(low <= value <= high for value in values)


def _just_before(end: datetime) -> datetime:
    return end - timedelta(microseconds=1)


def _told(fields: Fields) -> str:
    return ", ".join(
        f"{name} {low}" if low == high else f"{name} {low} to {high}"
        for name, (low, high) in fields.items()
    )
