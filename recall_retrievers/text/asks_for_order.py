"""Whether a question asks for the latest or the first: "the latest three about the dentist".

Only forms with one meaning are read, in questions about the asker. "Their latest project" may be
one of many things. "When did Joanna first watch it?" asks for what a text says, not for its place
among the memories. Both are left to the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_SMALL: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_CHINESE: Final = "零一二三四五六七八九十"
_NUMBER = rf"(?P<count>{'|'.join(_SMALL)}|\d{{1,3}}|few)"
_NOUN = (
    r"(?:memor(?:y|ies)|notes?|messages?|entr(?:y|ies)|mentions?|conversations?|chats?|records?|"
    r"tasks?|events?|observations?|insights?)"
)
_WHOSE = r"(?:the |my |our |your |their |his |her )?"
_UNIT = r"(?:night|(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|month|year|spring|summer|autumn|"
_UNIT += r"fall|winter|weekend|quarter|semester)"
_WHO = r"(?:i|we|you)"
_NEXT = r"(?= (?:about|on|regarding|concerning|that|when|where|with|from|i|we|you)\b|\W*$)"


def _english(words: Iterable[str], adverb: str) -> str:
    which = "|".join(words)
    return "|".join(
        (
            rf"\b{_WHOSE}(?:{which}) {_NUMBER}(?: {_NOUN}| times)?{_NEXT}",
            rf"\b{_WHOSE}{_NUMBER.replace('count', 'before')} (?:{which}) {_NOUN}\b",
            rf"\b{_WHOSE}(?:{which}) {_NOUN}\b",
            rf"(?<!\bfor )\bthe (?:{which}) time(?= {_WHO}\b)",
            rf"\b(?:did|have|has|had) {_WHO} {adverb}\b(?! {_UNIT}\b)(?= \w)",
        )
    )


_TIMES = "月|星期|礼拜|小时|季度|学期|世纪"
_COUNTED = rf"(?P<count>[{_CHINESE}两]|\d{{1,3}}|几)(?:条|次|篇|则|件|个(?!{_TIMES}))"
# A question, and no story such as "last time we saw a tiger!".
_ASKS = "(?=[^。！!\\n]{0,40}(?:[？?吗哪谁几]|什么|多少|怎么|何时))"
_LONGEST = 200  # characters: a pasted dialogue asks for no order
_NEW: Final = ("latest", "most recent", "newest", "last")
_OLD: Final = ("first", "earliest", "oldest")
_NEWEST: Final = (
    re.compile(_english(_NEW, "last"), re.IGNORECASE),
    re.compile(rf"(?:最新|最近|最后)的?{_COUNTED}|(?:最近|最后|上)一?次{_ASKS}"),
)
_OLDEST: Final = (
    re.compile(_english(_OLD, "first"), re.IGNORECASE),
    re.compile(rf"(?:最早|最初|最先)的?{_COUNTED}|(?:最早|第)一次(?!世界){_ASKS}"),
)


@dataclass(frozen=True, slots=True)
class AskedOrder:
    """The order in which a question wants its memories, by recorded time.

    Attributes:
        newest: Whether the newest comes first; else the oldest.
        count: How many it asks for; None = it names no number.
        span: Where its words stand in the question.
    """

    newest: bool
    count: int | None
    span: tuple[int, int]

    @property
    def name(self) -> str:
        """The order for people."""
        return "newest first" if self.newest else "oldest first"


def asked_order(text: str, taken: Iterable[tuple[int, int]] = ()) -> AskedOrder | None:
    """The order that a question asks for; None if it asks for none.

    Args:
        text: The question.
        taken: The places of its words of time: "the last three days" is a time.

    Examples:
        >>> asked_order("the latest three about the dentist")
        AskedOrder(newest=True, count=3, span=(0, 16))
        >>> asked_order("When did I first see the dentist?").name
        'oldest first'
        >>> asked_order("最近三次看牙医").count
        3
        >>> asked_order("What did I do last week?") is None
        True
    """
    if len(text) > _LONGEST:
        return None
    spans, lower = [*taken], text.lower()
    for newest, words, (english, chinese) in ((True, _NEW, _NEWEST), (False, _OLD, _OLDEST)):
        # Hardly any question has one of the words, and to look for these takes no time.
        by_words = english if any(map(lower.__contains__, words)) else None
        for pattern in (by_words, None if text.isascii() else chinese):
            found = pattern and pattern.search(text)
            if found and not any(a < found.end() and found.start() < b for a, b in spans):
                named = [each for each in found.groupdict().values() if each]
                return AskedOrder(newest, _number(named[0]) if named else None, found.span())
    return None


def _number(word: str) -> int | None:
    """A small number; None for "few", and for a number that asks for nothing."""
    lower = word.lower()
    if lower in _SMALL:
        return _SMALL.index(lower) + 1
    if lower == "两":
        return 2
    if lower in _CHINESE:
        return _CHINESE.index(lower) or None
    return (int(lower) or None) if lower.isdigit() else None
