"""The neighbours of a word in an English sentence, for `context`."""

from __future__ import annotations

from recall_retrievers.timeline.engine.grammar import Token
from recall_retrievers.timeline.english import words

STRANGE = "?word"  # in small letters: a pattern passes no value of it on


def goes_no_further(tokens: list[Token], at: int) -> bool:
    """Whether the expression is over after this word: a full stop, a pronoun, a preposition."""
    ahead = tokens[at + 1] if at + 1 < len(tokens) else None
    if ahead is None or ahead.text in words.FOLLOWERS or ahead.text in ("last", "next"):
        return True
    if has(ahead, "HM") or (at + 2 < len(tokens) and has(tokens[at + 2], "AMPM")):
        return True
    return not ahead.text[:1].isalnum() and ahead.text not in ("%", "/", "'s", "°")


def is_chained(tokens: list[Token], at: int, *kinds: str) -> bool:
    """Whether a word like it stands before it, with "and" or "to" between the two."""
    links = 0
    for token in reversed(tokens[max(0, at - 3) : at]):
        if has(token, *kinds):
            return links > 0
        if token.text not in words.CHAIN and token.text != "the":
            return False
        links += token.text != "the"
    return False


def words_before(tokens: list[Token], at: int) -> list[str]:
    """The two words before, nearest first, without articles and hyphens."""
    before = (token.text for token in reversed(tokens[max(0, at - 4) : at]))
    return [text for text in before if text not in ("the", "-", "a")][:2]


def follows(before: list[str], allowed: frozenset[str]) -> bool:
    """Whether the nearest of the words before is one of these."""
    return bool(before) and before[0] in allowed


def find(tokens: list[Token], at: int, text: str) -> Token | None:
    """The nearest token before that has this text."""
    return next((t for t in reversed(tokens[max(0, at - 4) : at]) if t.text == text), None)


def previous(tokens: list[Token], at: int) -> Token | None:
    """The token before."""
    return tokens[at - 1] if at else None


def next_word(tokens: list[Token], at: int) -> Token | None:
    """The next word, over the mark of an abbreviation or a link: "Dec. 31", "Jan-Feb"."""
    for token in tokens[at + 1 : at + 4]:
        if token.text not in (".", "-", "/", ",", "the"):
            return token
    return None


def has(token: Token | None, *kinds: str) -> bool:
    """Whether a token may be called one of these."""
    return token is not None and any(kind in token.kinds for kind in kinds)
