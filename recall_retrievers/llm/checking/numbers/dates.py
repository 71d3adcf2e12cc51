"""Days, months, weekdays and times of day, as a sentence writes them."""

from __future__ import annotations

import re

from recall_retrievers.llm.checking.numbers.said import Found
from recall_retrievers.timeline.calendar_names import MONTHS, WEEKDAYS
from recall_retrievers.timeline.chinese.numbers import numeral_kinds

_MONTHS = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_WEEKDAYS = {name[:3].lower(): number for number, name in enumerate(WEEKDAYS, 1)}
_HAN_WEEKDAYS = {name: number for number, name in enumerate("一二三四五六日", 1)} | {"天": 7}
_PARTS = re.compile("[/.-]")
_CLOCK = re.compile(r"(\d+)(?::(\d\d))?\s*([ap])?")
_MOST_MONTHS = 12


def date_names(year: int | None, month: int, day: int | None) -> Found:
    """The names of a date: its parts, and day and month together."""
    yield f"month {month}", True
    if year is not None:
        yield str(year), True
    if day is not None:
        yield f"day {day}", True
        yield f"date {month}-{day}", True


def in_figures(text: str) -> Found:
    """A date in figures: 2023-03-05, 03/2023, 28.4.2023.

    Examples:
        >>> [name for name, _ in in_figures("03/2023")]
        ['month 3', '2023']
    """
    parts = [int(part) for part in _PARTS.split(text)]
    if len(parts) == 2:
        (month, year), day = parts, None
    elif "-" in text:
        year, month, day = parts
    else:
        first, second, year = parts
        month, day = (second, first) if first > _MOST_MONTHS else (first, second)
        if first <= _MOST_MONTHS and second <= _MOST_MONTHS and first != second:
            month = 0  # 03/04/2023 is two days, and nobody knows which
    if 1 <= month <= _MOST_MONTHS:
        yield from date_names(year, month, day)
    else:
        yield from ((str(part), True) for part in parts)


def in_english(month: str, day: str | None = None) -> Found:
    """A month by its name, with or without its day."""
    return date_names(None, _MONTHS[month[:3].lower()], int(day) if day else None)


def in_han(year: str | None, month: str, day: str | None) -> Found:
    """A Chinese date: 2023年四月28日."""
    number = _number(month)
    if number is not None and 1 <= number <= _MOST_MONTHS:
        yield from date_names(_number(year), number, _number(day))


def weekday(name: str) -> Found:
    """A day of the week, in English or Chinese."""
    number = _WEEKDAYS.get(name[:3].lower()) or _HAN_WEEKDAYS[name[-1]]
    yield f"weekday {number}", True


def clock(text: str) -> Found:
    """A time of day; without "am" or "pm" it is one of two."""
    found = _CLOCK.match(text.lower())
    if found is None:
        return
    hour, minute, noon = int(found[1]), found[2] or "00", found[3]
    if noon:
        hour = hour % 12 + (12 if noon == "p" else 0)
    sure = bool(noon) or hour > 12 or hour == 0
    yield f"clock {hour}:{minute}", sure
    if not sure:
        yield f"clock {(hour + 12) % 24}:{minute}", False
    yield f"clock~ {hour % 12}:{minute}", not sure


def _number(text: str | None) -> int | None:
    if text is None or text.isdigit():
        return None if text is None else int(text)
    number = numeral_kinds(text).get("NUM")
    return number if isinstance(number, int) else None
