"""Whether a word or a number is one of time, by its neighbours."""

from __future__ import annotations

from collections.abc import Mapping

from recall_retrievers.timeline.chinese.lookalikes import (
    HOW_OFTEN,
    NEVER_A_UNIT,
    NOT_AFTER_NUMBER,
    NOT_BEFORE,
    NOT_BEFORE_NUMBER,
    NOT_BEHIND,
    SAYS_AN_HOUR,
)
from recall_retrievers.timeline.chinese.numbers import NUMERALS

_NAMED_YEAR = frozenset({"YEAR", "SHORT_YEAR", "LATE_YEAR"})
_COUNTING = frozenset({"NUM", "COUNT", "ABOUT", "YEAR", "SHORT_YEAR", "LATE_YEAR", "DAY"})


def is_word(
    text: str, at: int, word: str, kinds: Mapping[str, object], previous: Mapping[str, object]
) -> bool:
    """Whether a known word is meant at this place, behind a token of the ``previous`` kinds."""
    following = text[at + len(word) : at + len(word) + 1]
    if following and following in NOT_BEFORE.get(word, ()):
        return False
    if at and text[at - 1] in NOT_BEHIND.get(word, ()):
        return False
    if "WEEKDAY" in kinds and at:  # 周三 in 一周三次 counts how often, and names no Wednesday
        counted = text[at - 1] in NUMERALS or text[at - 1] == "每"
        return not (counted and following and following in HOW_OFTEN)
    if word in ("年中", "周中") and "NUM" in previous and not _NAMED_YEAR & previous.keys():
        return False  # 一年中, 过去一年中
    if word[0] in "前后" and len(word) > 1 and "UNIT" in previous:  # 三天前天气 is not 前天
        return False
    numbered = not _COUNTING.isdisjoint(previous)  # 5日报名 is the 5th, 三年级 no three years
    return bool(kinds) or not numbered or word[0] not in "年月日号" or word in NEVER_A_UNIT


def is_hour(text: str, end: int) -> bool:
    """Whether 一 is a number here: 一点意思 is "a bit of", 一点半 half past one."""
    if text[end : end + 1] != "点":
        return True
    following = text[end + 1 : end + 2]
    return not following or following in SAYS_AN_HOUR or following in NUMERALS


def is_day(text: str, start: int, end: int) -> bool:
    """Whether the number in 5号 may be a day, and not a house or a room."""
    before = text[max(0, start - 2) : start].rstrip()[-1:]
    after = text[end : end + 2].lstrip()
    return not (
        before in NOT_BEFORE_NUMBER
        or (before.isascii() and before.isalnum())
        or (after[1:2] or text[end + 1 : end + 2]) in NOT_AFTER_NUMBER
    )
