"""English text to tokens, in groups that may name a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from recall_retrievers.timeline.engine.grammar import Token
from recall_retrievers.timeline.engine.numeric_words import NUMERIC, numeric_kinds
from recall_retrievers.timeline.english import words
from recall_retrievers.timeline.english.context import decide
from recall_retrievers.timeline.english.hints import stretches
from recall_retrievers.timeline.english.neighbours import STRANGE
from recall_retrievers.timeline.english.words import WORDS, Kinds

_TOKEN = re.compile(
    r"""
    (?P<word> [^\W\d_]+ )
  | (?P<quoted> (?<!\w) (?: "[^"\n]{1,80}" | “[^“”\n]{1,80}” ) (?!\w) )
  | """
    + NUMERIC
    + r"""
  | (?P<ordinal> \d{1,2} (?: st | nd | rd | th ) (?! \w ) )
  | (?P<decade> (?: \d\d )? \d0 ['’]? s (?! \w ) )
  | (?P<short_year> (?<! \w ) ['’] \d\d (?! \w ) )
  | (?P<number> \d+ )
  | (?P<possessive> ['’]s (?! \w ) )
  | (?P<marks> (?: [^\w\s] \s*+ ){5,} )
  | (?P<mark> [^\w\s] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DASHES = str.maketrans("–—‐‑", "----")
_REACH = 2  # strange words a phrase may hold: "the week before our big move on 5 June"
_UNKNOWN: Kinds = {STRANGE: None}


def vocabulary(patterns: Iterable[str]) -> dict[str, Kinds]:
    """Every known word and what patterns may call it.

    Args:
        patterns: The words of the patterns, which stand for themselves.
    """
    known: dict[str, Kinds] = {word: dict(kinds) for word, kinds in WORDS.items()}
    for word in patterns:
        known.setdefault(word, {})[word] = None
    return known


def tokenize(text: str, known: Mapping[str, Kinds]) -> Iterator[list[Token]]:
    """Cut a text into groups of tokens that may name a time, and drop the rest.

    Args:
        text: The question.
        known: The vocabulary.
    """
    for start, end in stretches(text):
        tokens = [_token(match, known) for match in _TOKEN.finditer(text, start, end)]
        for at, token in enumerate(tokens):
            if token.kinds is not _UNKNOWN:
                decide(tokens, at, text)
        yield from _groups(tokens)


def _groups(tokens: list[Token]) -> Iterator[list[Token]]:
    group: list[Token] = []
    strangers = 0
    for token in [*tokens, Token("", 0, 0, {})]:
        strangers = strangers + 1 if STRANGE in token.kinds else 0
        if token.kinds and strangers <= _REACH:
            group.append(token)
            continue
        if any(map(_tells, group)):
            yield group
        group = []


def _token(match: re.Match[str], known: Mapping[str, Kinds]) -> Token:
    kind, text = match.lastgroup or "", match[0].lower()
    if kind == "word":
        kinds = known.get(text, _UNKNOWN)
    elif kind == "mark":
        text = text.translate(_DASHES)
        kinds = known.get(text, {})
    elif kind == "possessive":
        text, kinds = "'s", {"'s": None}
    else:
        kinds = _number(kind, text)
    return Token(text, *match.span(), kinds)


def _number(kind: str, text: str) -> Kinds:
    if kind in ("quoted", "marks") or len(text) > 10:
        return {}
    if kind == "number" and len(text) == 8 and 1900 <= int(text[:4]) < 2100:
        return {"DATE": (int(text[:4]), int(text[4:6]), int(text[6:]))}
    if kind == "number":
        return words.number_kinds(int(text))
    if kind == "ordinal":
        number = int(text[:-2])
        return {"ORD": number, **({"DAY": number} if 1 <= number <= 31 else {})}
    if kind == "decade":
        number = int(text.rstrip("'’s"))
        return {"SURE_DECADE" if number > 100 else "DECADE": number}
    if kind == "short_year":
        return {"SHORT_YEAR": int(text[1:])}
    return numeric_kinds(kind, text)


def _tells(token: Token) -> bool:
    """Whether a token can name a time by itself, as numbers and small words can't."""
    return token.text in words.NAMED or not words.QUIET_KINDS.issuperset(
        kind for kind in token.kinds if kind.isupper()
    )
