"""A text as the words that keyword search compares: stemmed, without stop words.

English is stemmed by PyStemmer (Snowball); Chinese, which writes no spaces, becomes its characters
and the pairs of them. The stop lists are our own and short: published ones drop "last", "may" and
"year", which a memory may be about.

Words of a dictionary in place of Chinese pairs, or beside them, found less or the same (jieba
0.42.1, measured on three sets in 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import Stemmer

from recall_stages.text.split_words import CJK

_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CJK = re.compile(f"[{CJK}]")
_LONGEST = 40  # letters; anything longer is an encoded blob, not a word

_STOP_LIST = """
    a about an and are as at be been but by can could did do does for from had has have he her him
    his how i if in into is it its me my of on or our she that the their them there these they this
    to was we were what when where which who whom why will with would you your
"""
STOP_WORDS = frozenset(_STOP_LIST.split())
_STOP_CHARACTERS = frozenset("的了是在我你他她它们这那吗呢吧啊呀哦哈和与就都也很有还不么什个")


def words(text: str) -> list[str]:
    """The words of a text, in order; a text of stop words alone keeps them.

    Examples:
        >>> words("What did I say about the dentists?")
        ['say', 'dentist']
        >>> words("Running to 博物馆")
        ['run', '博', '物', '馆', '博物', '物馆']
        >>> words("我的猫呢")
        ['猫', '的猫', '猫呢']
        >>> words("Who is he?")
        ['who', 'is', 'he']
    """
    all_words = _WORD.findall(text.lower())
    telling = [word for word in all_words if word not in STOP_WORDS]
    if text.isascii():
        parts = [word for word in telling or all_words if len(word) <= _LONGEST]
    else:
        parts = [part for word in telling or all_words for part in _parts(word)]
    # Chinese parts have no stem and stay as they are.
    stems: list[str] = _stemmer().stemWords(parts)
    return stems


def _parts(word: str) -> Iterable[str]:
    if word.isascii() or not _CJK.match(word):
        return (word,) if len(word) <= _LONGEST else ()
    telling = [character not in _STOP_CHARACTERS for character in word]
    if not any(telling):
        return [*word]
    places = range(len(word) - 1)
    return [
        *(word[place] for place, tells in enumerate(telling) if tells),
        *(word[place : place + 2] for place in places if telling[place] or telling[place + 1]),
    ]


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
