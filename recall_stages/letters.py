"""The letters of scripts that write no spaces between words: there a character counts as a word."""

from __future__ import annotations

import re

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese and Japanese, as it stands between the brackets of a pattern."""

_WORD = re.compile(rf"[{CJK}]|\w+(?:['\u2019]\w+)?")
_ASCII_WORD = re.compile(r"[0-9A-Za-z_]+(?:'[0-9A-Za-z_]+)?")  # the same, in two thirds of the time


def split_words(text: str) -> list[str]:
    """The words of a text as they stand, in order; for those that are looked up see `words`.

    Examples:
        >>> split_words("Don't eat 年糕!")
        ["Don't", 'eat', '年', '糕']
    """
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)
