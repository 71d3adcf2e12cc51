"""Letters that need care: of scripts without spaces between words, and those that show nothing."""

from __future__ import annotations

import re

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese and Japanese, as it stands between the brackets of a pattern.

They write no spaces between words, so there a character counts as a word.
"""

INVISIBLE = (
    r"\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f"
)
"""What no text has a use for, as it stands between the brackets of a pattern.

Marks that turn the reading direction, halves of characters, and control characters but for tab and
new line.
"""

STEERING = re.compile(rf"[{INVISIBLE}\u2028\u2029]")
"""What a terminal is not to be sent: it obeys some of these, and ends a line at others."""

_WORD = re.compile(rf"[{CJK}]|\w+(?:['\u2019]\w+)?")
_ASCII_WORD = re.compile(r"[0-9A-Za-z_]+(?:'[0-9A-Za-z_]+)?")  # the same, in two thirds of the time


def split_words(text: str) -> list[str]:
    """The words of a text as they stand, in order; for those that are looked up see `words`.

    Examples:
        >>> split_words("Don't eat 年糕!")
        ["Don't", 'eat', '年', '糕']
    """
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


def printable(text: str) -> str:
    r"""A text as a terminal may show it: what would steer the terminal is written out.

    Examples:
        >>> print(printable("\x1b[2JTea\r\nat four.\u202e"))
        \x1b[2JTea
        at four.\u202e
    """
    lines = text.replace("\r\n", "\n")
    return STEERING.sub(lambda each: each[0].encode("unicode_escape").decode(), lines)
