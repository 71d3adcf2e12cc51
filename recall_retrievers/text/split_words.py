"""A text as words and as safe output: scripts without spaces, and characters that show nothing."""

from __future__ import annotations

import re

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The Chinese and Japanese characters, for the brackets of a pattern.

These scripts have no spaces between words, so a character counts as a word.
"""

INVISIBLE = (
    r"\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f-\x9f"
)
"""Characters that no text needs, for the brackets of a pattern.

Marks that turn the reading direction, halves of characters, and control characters except tab and
new line.
"""

STEERING = re.compile(rf"[{INVISIBLE}\u2028\u2029]")
"""Characters not for a terminal: it obeys some of them, and ends a line at others."""

_WORD = re.compile(rf"[{CJK}]|\w+(?:['\u2019]\w+)?")
_ASCII_WORD = re.compile(r"[0-9A-Za-z_]+(?:'[0-9A-Za-z_]+)?")  # the same, in two thirds of the time

# ASCII is split without a pattern, again in two thirds of the time.
_SPACED = bytes(
    ord(" ") if code > ord("z") or _ASCII_WORD.fullmatch(f"a{chr(code)}a") is None else code
    for code in range(256)
)


def split_words(text: str) -> list[str]:
    """The words of a text as they stand, in order; `stems.words` gives the words for a search.

    Examples:
        >>> split_words("Don't eat 年糕!")
        ["Don't", 'eat', '年', '糕']
    """
    if not text.isascii():
        return _WORD.findall(text)
    words = text.encode().translate(_SPACED).decode().split()
    if "'" in text and not all(map(_ASCII_WORD.fullmatch, [each for each in words if "'" in each])):
        return _ASCII_WORD.findall(text)  # an apostrophe is a quotation mark
    return words


def printable(text: str) -> str:
    r"""A text for a terminal: characters that would steer the terminal are written out.

    Examples:
        >>> print(printable("\x1b[2JTea\r\nat four.\u202e"))
        \x1b[2JTea
        at four.\u202e
    """
    lines = text.replace("\r\n", "\n")
    return STEERING.sub(lambda match: match[0].encode("unicode_escape").decode(), lines)
