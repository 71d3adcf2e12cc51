"""Calendar fields as models write them: "March", "3月" and 3 are one month."""

from __future__ import annotations

import re
from itertools import pairwise

from recall_stages.core.errors import ReplyError

LIMITS = {
    "year": (1900, 9999),
    "month": (1, 12),
    "day": (1, 31),
    "week": (1, 53),
    "weekday": (1, 7),
    "hour": (0, 23),
}
"""The fields, and the numbers that the calendar has for them; weekday 1 is Monday."""

_SAYS_NOTHING = """-1, -, ?, none, null, nil, n/a, na, unknown, unspecified, not specified,
    not given, not mentioned, no time, every, 无, 没有, 未知, 未提及, 每"""
_ABSENT = frozenset(["", *(each.strip() for each in _SAYS_NOTHING.split(","))])
_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_NAMES = {"month": _MONTHS.split(" "), "weekday": _WEEKDAYS.split(" ")}
_WEEKEND = {"weekend": (6, 7), "周末": (6, 7)}
_NUMERALS = {c: str(n) for n, c in enumerate("零一二三四五六七八九")} | {"〇": "0", "两": "2"}
_NUMBER = re.compile(
    r"(?:第|w|week\s*|周|星期|礼拜)?([0-9]{1,4}|[零〇一二两三四五六七八九十]+|[日天])"
    r"\s*(?:st|nd|rd|th|年|月份?|日|号|周)?"
)
_CLOCK = re.compile(
    r"(?P<part>[上中下]午|早上|晚上|傍晚|凌晨)?\s*(?P<hour>[0-9]{1,2}|[一二三四五六七八九十]+)"
    r"(?::[0-9]{2}){0,2}\s*(?:点钟?|时|h|o'clock)?\s*(?:(?P<half>[ap])\.?m\.?)?"
)
_LATE = ("下午", "晚上", "傍晚", "p")
_AND = re.compile(r"\s*(?:[,，、/&和]|\band\b)\s*")
_FROM_TO = re.compile(r"\s*(?:[–—~～至到]|\bto\b|(?<=\w)\s*-)\s*")


def is_absent(value: object) -> bool:
    """Whether a model says with this that it knows nothing: null, -1, "none", "无".

    Examples:
        >>> is_absent(None), is_absent("None."), is_absent("未知"), is_absent("March")
        (True, True, True, False)
    """
    if isinstance(value, list | dict):
        return not value
    return value is None or str(value).strip().strip("\"'*.。").lower() in _ABSENT


def read_field(name: str, value: object) -> tuple[int, int] | None:
    """The first and the last number that a model gave for a field; None where it gave none.

    Raises:
        ReplyError: When the value is no such field.

    Examples:
        >>> read_field("month", "March"), read_field("weekday", "周六, 周日"), read_field("day", -1)
        ((3, 3), (6, 7), None)
        >>> read_field("hour", "3 PM"), read_field("year", "2019-2021")
        ((15, 15), (2019, 2021))
    """
    if is_absent(value):
        return None
    if name == "weekday" and str(value).lower() in _WEEKEND:
        return _WEEKEND[str(value).lower()]
    ends = _FROM_TO.split(value.strip()) if isinstance(value, str) else []
    if len(ends) == 2:
        low, high = (_number(name, end) for end in ends)
        if low <= high:
            return low, high
    parts = _AND.split(value) if isinstance(value, str) else value
    numbers = [_number(name, part) for part in (parts if isinstance(parts, list) else [parts])]
    if any(after - before != 1 for before, after in pairwise(numbers)):
        raise ReplyError(f"expected one {name}, or some in a row; got {value!r:.80}")
    return numbers[0], numbers[-1]


def _number(name: str, said: object) -> int:
    number = None
    if isinstance(said, str):
        text = said.strip().strip("\"'*").lower()
        number = _hour(text) if name == "hour" else _named(name, text) or _numeral(text)
    elif isinstance(said, int | float) and not isinstance(said, bool) and said == said // 1:
        number = int(said)
    low, high = LIMITS[name]
    if number is None or not low <= number <= high:
        raise ReplyError(f"{name} must be one of {low} to {high}, or its name; got {said!r:.80}")
    return number


def _named(name: str, text: str) -> int | None:
    short = text.rstrip(".")
    names = _NAMES.get(name, [])
    fits = [number for number, each in enumerate(names, 1) if each.startswith(short)]
    return fits[0] if len(fits) == 1 and len(short) >= 2 else None


def _numeral(text: str) -> int | None:
    """The number in "21st", "3月", "十二月", "二〇二四年", "周日"."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    said = match[1]
    if said in "日天":
        return 7
    if "十" not in said:
        return int("".join(_NUMERALS.get(character, character) for character in said))
    tens, _, ones = said.partition("十")
    digits = _NUMERALS.get(tens or "一"), _NUMERALS.get(ones or "零")
    return int("".join(digits)) if all(digits) else None  # type: ignore[arg-type]  # none is None


def _hour(text: str) -> int | None:
    match = _CLOCK.fullmatch(text)
    hour = _numeral(match["hour"]) if match else None
    if match is None or hour is None:
        return None
    late = match["half"] or match["part"]
    if late is not None and hour <= 12:
        return hour % 12 + 12 * (late in _LATE or (late == "中午" and hour in (12, 1, 2)))
    return hour
