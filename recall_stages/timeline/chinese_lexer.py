"""Chinese text to tokens: the longest known word at every place, numerals read as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recall_stages.timeline import chinese_words as words
from recall_stages.timeline.chinese_words import WORDS, Kinds
from recall_stages.timeline.grammar import Token
from recall_stages.timeline.numeric_words import NUMERIC, numeric_kinds

_NUMBER = re.compile(
    rf"""
    (?P<title> 《[^》]{{1,80}}》 )
  | {NUMERIC}
  | (?P<digits> \d+ )
  | (?P<numeral> [{"".join(sorted(words.NUMERALS))}]+ )
  | (?P<space> \s+ )
    """,
    re.VERBOSE,
)
_LONGEST = max(map(len, WORDS))


def tokenize(text: str, known: frozenset[str]) -> Iterator[list[Token]]:
    """Cut a text into groups of tokens that may name a time, dropping everything else.

    Args:
        text: What was asked, in simplified or traditional script.
        known: The words that stand for themselves in a pattern.
    """
    text = text.translate(words.SIMPLIFIED)
    longest = max(_LONGEST, *map(len, known))
    group: list[Token] = []
    at = 0
    while at < len(text):
        token = _word(text, at, known, longest) or _number(text, at)
        end = token.end if token else at + 1
        if token and token.kinds:
            group.append(token)
        elif not (token and token.text.isspace()):
            if len(group) > 1 or (group and _tells(group[0])):
                yield group
            group = []
        at = end
    if group:
        yield group


def _tells(token: Token) -> bool:
    return any(kind.isupper() and kind != "NUM" for kind in token.kinds) or len(token.text) > 1


def _word(text: str, at: int, known: frozenset[str], longest: int) -> Token | None:
    for length in range(min(longest, len(text) - at), 0, -1):
        word = text[at : at + length]
        if word not in WORDS and word not in known:
            continue
        if length == 1 and word in words.NUMERALS:
            return None
        kinds = dict(WORDS.get(word, ()))
        if "WEEKDAY" in kinds and _is_how_often(text, at, at + length):
            continue
        if word in known:
            kinds[word] = None
        return Token(word, at, at + length, kinds)
    return None


def _number(text: str, at: int) -> Token | None:
    match = _NUMBER.match(text, at)
    if match is None:
        return None
    kind = match.lastgroup or ""
    kinds: Kinds
    if kind == "digits":
        kinds = words.digits_kinds(match[0])
    elif kind == "numeral":
        kinds = words.read_numeral(match[0])
    else:
        kinds = {} if kind in ("title", "space") else numeric_kinds(kind, match[0])
    if "NUM" in kinds and _may_be_day(text, at, match.end()):
        kinds["DAY"] = kinds["NUM"]
    return Token(match[0], at, match.end(), kinds)


def _may_be_day(text: str, start: int, end: int) -> bool:
    """Whether 5号 is a day here, and not a house or a room."""
    before = text[:start].rstrip()[-1:] if start else ""
    after = text[end : end + 2].lstrip()
    return not (
        before in words.NOT_BEFORE_NUMBER
        or (before.isascii() and before.isalnum())
        or (after[1:2] or text[end + 1 : end + 2]) in words.NOT_AFTER_NUMBER
    )


def _is_how_often(text: str, start: int, end: int) -> bool:
    """Whether 周三 in 一周三次 counts how often, and names no Wednesday."""
    counted = text[start - 1 : start] in words.NUMERALS or text[start - 1 : start] == "每"
    return counted and text[end : end + 1] in words.HOW_OFTEN
