"""English text to tokens; here it is decided whether "may" is a month in this sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recall_stages.timeline import english_words as words
from recall_stages.timeline.english_words import WORDS, Kinds
from recall_stages.timeline.grammar import Token
from recall_stages.timeline.numeric_words import NUMERIC, numeric_kinds

_TOKEN = re.compile(
    r"""
    (?P<quoted> (?<!\w) (?: "[^"\n]{1,80}" | “[^”\n]{1,80}” ) (?!\w) )
  | """
    + NUMERIC
    + r"""
  | (?P<ordinal> \d{1,2} (?: st | nd | rd | th ) (?! \w ) )
  | (?P<number> \d+ )
  | (?P<possessive> ['’]s (?! \w ) )
  | (?P<word> [^\W\d_]+ )
  | (?P<mark> [^\w\s] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
STRANGE = "?word"  # not in capitals, so a pattern hands no value of it over
_BEFORE_THE_SEASON = frozenset({"in", "during", "over", "since", "throughout", "until"})
_DASHES = str.maketrans("–—‐‑", "----")
_REACH = 2  # strange words a phrase may hold: "the week before our big move on 5 June"


def tokenize(text: str, known: frozenset[str]) -> Iterator[list[Token]]:
    """Cut a text into groups of tokens that may name a time, dropping everything else.

    Args:
        text: What was asked.
        known: The words that stand for themselves in a pattern.
    """
    tokens = [_token(match, known) for match in _TOKEN.finditer(text)]
    if not any(_tells(token) or _has(token, "YEAR", "DAY") for token in tokens):
        return
    for at, token in enumerate(tokens):
        _decide(tokens, at, token)
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


def _token(match: re.Match[str], known: frozenset[str]) -> Token:
    kind = match.lastgroup or ""
    text = match[0].lower()
    kinds: Kinds
    if kind == "word":
        kinds = dict(WORDS.get(text, ()))
        if text in known:
            kinds[text] = None
        elif not kinds:
            kinds[STRANGE] = None
    elif kind == "mark":
        text = text.translate(_DASHES)
        kinds = {text: None} if text in known else {}
    elif kind == "possessive":
        text, kinds = "'s", {"'s": None}
    else:
        kinds = _number(kind, text)
    return Token(text, match.start(), match.end(), kinds)


def _number(kind: str, text: str) -> Kinds:
    if kind == "quoted" or len(text) > 10:
        return {}
    if kind == "number":
        return words.number_kinds(int(text))
    if kind == "ordinal":
        number = int(text[:-2])
        return {"ORD": number, **({"DAY": number} if 1 <= number <= 31 else {})}
    return numeric_kinds(kind, text)


def _tells(token: Token) -> bool:
    """Whether a token can name a time by itself, as numbers and small words can't."""
    return token.text in words.NAMED or any(
        kind.isupper() and kind not in words.QUIET_KINDS for kind in token.kinds
    )


# --- Which meaning a word has here ---------------------------------------------------------------


def _decide(tokens: list[Token], at: int, token: Token) -> None:
    """Take away meanings that the neighbours rule out, and add those that they bring."""
    if (token.text in words.AMBIGUOUS and not _names_time(tokens, at, token)) or (
        token.text in words.FEASTS and not _is_feast_day(tokens, at)
    ):
        token.kinds = {STRANGE: None}
    elif "YEAR" in token.kinds and _is_said_year(tokens, at):
        token.kinds = {"SAID_YEAR": token.kinds["YEAR"], **token.kinds}
    elif "DAY" in token.kinds and "MONTH" not in token.kinds and _is_day_of_month(tokens, at):
        token.kinds = {"MONTHDAY": token.kinds["DAY"], **token.kinds}
    elif "SLASHED" in token.kinds and not _is_slashed_date(tokens, at):
        token.kinds = {}


def _names_time(tokens: list[Token], at: int, token: Token) -> bool:
    before, ahead = _words_before(tokens, at), _next(tokens, at)
    if "WEEKDAY" in token.kinds:
        return _follows(before, words.WEEKDAY_PREPOSITIONS) or _has(
            ahead, "DAY", "PART", "HM", "MONTH"
        )
    if _is_chained(tokens, at, "MONTH", "SEASON", "DATE", "MONTHDAY"):
        return True
    if _is_of_a_year(tokens, at):
        return True
    if "SEASON" in token.kinds:
        return _names_season(tokens, at, token)
    if _has(ahead, "YEAR", "MONTH"):
        return True
    # "may two people", but "August two thousand"
    if _has(ahead, "DAY") and not (token.text in words.VERBAL and _has(ahead, "ONES", "TEEN")):
        return True
    behind = _previous(tokens, at)
    if _has(behind, "YEAR") or (_has(behind, "DAY") and not _has(behind, "ONES")):
        return True
    if before[:1] == ["of"]:
        return bool(before[1:]) and _has(
            _find(tokens, at, before[1]), "DAY", "UNIT", "EDGE", "WEEKDAY", "half"
        )
    if token.text in words.VERBAL and before[:1] == ["this"]:
        return _goes_no_further(tokens, at) and not (ahead and ahead.text in words.AFTER_MODAL)
    return _follows(before, words.TIME_PREPOSITIONS)


def _names_season(tokens: list[Token], at: int, token: Token) -> bool:
    before, ahead = _words_before(tokens, at), _next(tokens, at)
    if _has(ahead, "YEAR"):
        return True
    if ahead and ahead.text == "of" and _has(_next(tokens, at + 1), "YEAR"):
        return True
    if before[:1] == ["of"]:
        return bool(before[1:]) and _has(_find(tokens, at, before[1]), "UNIT", "EDGE", "half")
    behind = _previous(tokens, at)
    if behind and behind.text == "the":
        return _follows(before, _BEFORE_THE_SEASON)
    if token.text in words.VERBAL and before[:1] == ["this"]:
        return _goes_no_further(tokens, at) and not (ahead and ahead.text in words.AFTER_MODAL)
    return _follows(before, words.TIME_PREPOSITIONS)


def _is_of_a_year(tokens: list[Token], at: int) -> bool:
    """Whether "last year" or "of last year" follows."""
    following = [token.text for token in tokens[at + 1 : at + 4] if token.text != "of"]
    return following[:1] in (["last"], ["this"], ["next"]) and following[1:2] == ["year"]


def _is_feast_day(tokens: list[Token], at: int) -> bool:
    before, ahead = _words_before(tokens, at), _next(tokens, at)
    said_as_a_day = _follows(before, words.FEAST_PREPOSITIONS)
    noun_follows = _has(ahead, STRANGE) and not (ahead and ahead.text in words.FOLLOWERS)
    return (said_as_a_day and before[:1] != ["the"]) or not noun_follows


def _is_said_year(tokens: list[Token], at: int) -> bool:
    token, ahead = tokens[at], _next(tokens, at)
    number = token.kinds["YEAR"]
    if not (isinstance(number, int) and 1500 <= number <= 2199 and token.text.isdigit()):
        return False
    if ahead and (ahead.text in words.MEASURES or ahead.text == "%"):
        return False
    before = _words_before(tokens, at)
    if before[:1] == ["of"] and before[1:] and before[1] in words.THOUGHT_OF:
        return False
    return _follows(before, words.YEAR_PREPOSITIONS) or _is_chained(tokens, at, "SAID_YEAR")


def _is_day_of_month(tokens: list[Token], at: int) -> bool:
    if not _goes_no_further(tokens, at) or _leads_to_month(tokens, at):
        return False
    before = _words_before(tokens, at)
    behind = _previous(tokens, at)
    if _has(behind, "WEEKDAY") or (
        before and _has(_find(tokens, at, before[0]), "WEEKDAY") and behind and behind.text == "the"
    ):
        return True
    if _is_chained(tokens, at, "MONTHDAY") or _is_of_a_month(tokens, at):
        return True
    return bool(behind and behind.text == "the") and _follows(before, words.DATE_PREPOSITIONS)


def _is_of_a_month(tokens: list[Token], at: int) -> bool:
    following = [token.text for token in tokens[at + 1 : at + 4]]
    return following in (["of", "last", "month"], ["of", "this", "month"], ["of", "the", "month"])


def _leads_to_month(tokens: list[Token], at: int) -> bool:
    ahead = _next(tokens, at)
    return _has(ahead, "MONTH") or bool(
        ahead and ahead.text == "of" and _has(_next(tokens, at + 1), "MONTH")
    )


def _is_slashed_date(tokens: list[Token], at: int) -> bool:
    before, behind, ahead = _words_before(tokens, at), _previous(tokens, at), _next(tokens, at)
    if _has(ahead, STRANGE, "UNIT"):
        return bool(ahead and ahead.text in words.FOLLOWERS)
    return (
        _follows(before, words.DATE_PREPOSITIONS)
        or _has(behind, "WEEKDAY")
        or _is_chained(tokens, at, "SLASHED")
    )


def _goes_no_further(tokens: list[Token], at: int) -> bool:
    """Whether the expression is over after this word: a full stop, a pronoun, a preposition."""
    ahead = tokens[at + 1] if at + 1 < len(tokens) else None
    if ahead is None or ahead.text in words.FOLLOWERS or ahead.text in ("last", "next"):
        return True
    if _has(ahead, "HM") or (at + 2 < len(tokens) and _has(tokens[at + 2], "AMPM")):
        return True
    return not ahead.text[:1].isalnum() and ahead.text not in ("%", "/", "'s", "°")


def _is_chained(tokens: list[Token], at: int, *kinds: str) -> bool:
    """Whether a word like it stands before it, with "and" or "to" between the two."""
    links = 0
    for token in reversed(tokens[max(0, at - 3) : at]):
        if _has(token, *kinds):
            return links > 0
        if token.text not in words.CHAIN and token.text != "the":
            return False
        links += token.text != "the"
    return False


def _words_before(tokens: list[Token], at: int) -> list[str]:
    """The two words before, nearest first, without articles and hyphens."""
    before = (token.text for token in reversed(tokens[max(0, at - 4) : at]))
    return [text for text in before if text not in ("the", "-", "a")][:2]


def _follows(before: list[str], allowed: frozenset[str]) -> bool:
    return bool(before) and before[0] in allowed


def _find(tokens: list[Token], at: int, text: str) -> Token | None:
    return next((t for t in reversed(tokens[max(0, at - 4) : at]) if t.text == text), None)


def _previous(tokens: list[Token], at: int) -> Token | None:
    return tokens[at - 1] if at else None


def _next(tokens: list[Token], at: int) -> Token | None:
    """The next word, over the mark of an abbreviation or a link: "Dec. 31", "Jan-Feb"."""
    for token in tokens[at + 1 : at + 4]:
        if token.text not in (".", "-", "/", ",", "the"):
            return token
    return None


def _has(token: Token | None, *kinds: str) -> bool:
    return token is not None and any(kind in token.kinds for kind in kinds)
