"""English text to tokens, in groups that may name a time."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from recall_retrievers.timeline.grammar.engine import Token
from recall_retrievers.timeline.grammar.lexing import NUMERIC, numeric_kinds
from recall_retrievers.timeline.english import words
from recall_retrievers.timeline.english.context import decide
from recall_retrievers.timeline.english.neighbours import STRANGE
from recall_retrievers.timeline.english.words import (
    AMBIGUOUS,
    COMMON,
    NAMED,
    QUIET_KINDS,
    WORDS,
    Kinds,
)

# One word: a quotation, because its words are not the asker's, and "5/7", "3rd" or "2 pm".
_WORD = re.compile(
    r"""
    (
        [^\W\d_]+
      | ['’]? \d (?: [/.:-]? \d ){0,7}
        (?: (?i: st | nd | rd | th | ['’]? s | \s? [ap]m ) (?! \w ) )?
      | "[^"\n]{1,80}" | “[^“”\n]{1,80}”
    )
    """,
    re.VERBOSE,
)
_WEAK_KINDS = frozenset({"UNIT", "UNITS", "PART", "PARTS", "ORD", "YEAR_BEGINS"})
_MOST_HINTS = 18  # some 9 expressions or more; a question names a few, a pasted calendar hundreds
_REACH = 6  # words to read on both sides: "nineteen hundred and twenty five" has five
_MARKS = 3  # characters to read beside them: "= 2019", "7 p.m."


def _hints() -> dict[str, bool]:
    """The words that give a hint, and whether it is a weak one: "day" more often names no time."""
    hints = {str(year): False for year in range(1500, 2200)}
    hints |= {name: name in COMMON for name in NAMED}
    for word, kinds in WORDS.items():
        telling = kinds.keys() - (QUIET_KINDS - {"ORD"})
        if telling:
            hints[word] = telling <= _WEAK_KINDS or word in AMBIGUOUS
    return hints


_HINTS = _hints()


def stretches(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text that are worth reading, from the left, apart from each other.

    Of too many hints the strong ones count, and of too many of these the first and the last.
    """
    pieces = _WORD.split(text)  # in turn: the text before a word, and the word
    words = pieces[1::2]
    telling = set(filter(_is_hint, set(words)))  # a long text says the same words again and again
    hints = [at for at, word in enumerate(words) if word in telling] if telling else []
    if not hints:
        return
    if len(hints) > _MOST_HINTS:
        doubtful = {word for word in telling if _HINTS.get(word.lower(), False)}
        strong = [at for at in hints if words[at] not in doubtful]
        weak = [at for at in hints if words[at] in doubtful]
        chosen = _outermost(strong, _MOST_HINTS)
        hints = sorted(chosen + _outermost(weak, _MOST_HINTS - len(chosen)))
    bounds = list(accumulate(map(len, pieces)))
    first = max(0, hints[0] - _REACH)
    for at, following in zip(hints, [*hints[1:], None], strict=True):
        if following is None or following - at > 2 * _REACH:
            last = min(at + _REACH, len(words) - 1)
            yield max(0, bounds[2 * first] - _MARKS), bounds[2 * last + 1] + _MARKS
            first = max(0, following - _REACH) if following else 0


def _is_hint(word: str) -> bool:
    if word.isdigit():
        return word in _HINTS or (len(word) == 8 and word[:2] in ("19", "20"))  # 20240305
    return word.lower() in _HINTS or (word[0] <= "9" and len(word) > 1)


def _outermost(hints: list[int], most: int) -> list[int]:
    """The first and the last ones: a pasted text may stand before the question or behind it."""
    front = most - most // 2
    return hints if len(hints) <= most else hints[:front] + hints[len(hints) - most // 2 :]


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
_MOST_STRANGERS = 2  # strange words a phrase may hold: "the week before our big move on 5 June"
_UNKNOWN: Kinds = {STRANGE: None}


def vocabulary(patterns: Iterable[str]) -> dict[str, Kinds]:
    """Every known word and what patterns may call it."""
    known: dict[str, Kinds] = {word: dict(kinds) for word, kinds in WORDS.items()}
    for word in patterns:
        known.setdefault(word, {})[word] = None
    return known


def tokenize(text: str, known: Mapping[str, Kinds]) -> Iterator[list[Token]]:
    """Cut a text into groups of tokens that may name a time, and drop the rest."""
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
        if token.kinds and strangers <= _MOST_STRANGERS:
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
