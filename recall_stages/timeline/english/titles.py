"""English titles: "Friday Night Lights" names no Friday."""

from __future__ import annotations

from recall_stages.timeline.engine.grammar import Token
from recall_stages.timeline.english import words
from recall_stages.timeline.english.neighbours import STRANGE, has

TITLED = frozenset({"WEEKDAY", "WEEKDAYS", "SEASON", "today", "tomorrow", "yesterday"})
"""Kinds of words that titles borrow."""


def is_in_title(tokens: list[Token], at: int, text: str) -> bool:
    """Whether a day stands in a title: "Friday Night Lights", "The Man Who Was Thursday".

    A title has other words in capitals, after words in small letters.
    """
    token = tokens[at]
    if not _is_capital(token, text):
        return False
    first = last = at
    while first and _is_capital(tokens[first - 1], text):
        first -= 1
    while last + 1 < len(tokens) and _is_capital(tokens[last + 1], text):
        last += 1
    if first in (0, last) or not tokens[first - 1].text.isalpha():
        return False
    behind, ahead = tokens[first:at], tokens[at + 1 : last + 1]
    if len(behind) > 1 and any(one.text in words.FOLLOWERS for one in behind):
        return True
    if not any(has(one, STRANGE, "PARTS") for one in ahead):
        return False
    named_after = has(ahead[0], STRANGE) and "SEASON" not in token.kinds
    return not (named_after and tokens[at - 1].text in words.HOLIDAY_PREPOSITIONS - {"the"})


def _is_capital(token: Token, text: str) -> bool:
    first, second = text[token.start], text[token.start + 1 : token.start + 2]
    return first.isupper() and second.islower()
