"""What lexers share: dates in digits, and which part of a long text is worth reading."""

import re
from collections.abc import Container, Sequence

NUMERIC = r"""
    (?P<date>
        (?: (?<! [A-Za-z\d_/.$€£¥-] ) | (?<= [/.]\d- ) | (?<= [/.]\d\d- ) | (?<= [/.]\d{4}- ) )
        \d{1,4} (?P<link>[-/.]) \d{1,2} (?P=link) \d{1,4}
        (?! \d | (?! - \d{1,4} (?P=link) \d{1,2} (?P=link) \d ) [-/.]\d ) )
  | (?P<month_year> (?<![A-Za-z\d_/.$€£¥-]) (?: (?: 1[5-9] | 2[01] ) \d\d - (?: 0?[1-9] | 1[0-2] )
        | (?: 19 | 20 ) \d\d / (?: 0[1-9] | 1[0-2] )
        | (?: 0?[1-9] | 1[0-2] ) / (?: 1[5-9] | 2[01] ) \d\d ) (?! [\d/-] ) )
  | (?P<money> [$€£¥] \s? \d [\d.,]* )
  | (?P<slashed> (?<![A-Za-z\d_/.$€£¥]) \d{1,2} / \d{1,2} (?! [\d%] | /\d ) )
  | (?P<hm> (?<!\d) (?: [01]?\d | 2[0-4] ) [:：] [0-5]\d (?: :[0-5]\d )? (?! \d ) )
  | (?P<big> \d{1,3} (?: ,\d{3} )+ )
  | (?P<dotted> \d{1,9} \. \d{1,9} )
"""
"""A part of a verbose regular expression; a group has the name of its form."""


def numeric_kinds(kind: str, text: str) -> dict[str, object]:
    """The kinds of a token that `NUMERIC` matched; empty for money and overlong numbers.

    A time of day that begins with a zero has seconds, as 06:00 is never six in the evening.
    """
    if kind == "money" or len(text) > 10:
        return {}
    if kind == "big":
        return {"NUM": int(text.replace(",", ""))}
    numbers = tuple(int(digits) for digits in re.findall(r"\d+", text))
    if kind == "hm" and text[0] == "0":
        numbers = (*numbers, 0)[:3]
    dotted = kind == "date" and "." in text and numbers[0] <= 31
    return {kind.upper(): (*numbers, 1) if dotted else numbers}


_MOST_HINTS = 18  # some 9 expressions or more; a question names a few, a pasted calendar hundreds


def worth_reading(hints: Sequence[int], weak: Container[int]) -> list[int]:
    """Of too many hints the strong ones, and of these the first and the last.

    A pasted text may stand before the question or behind it.
    """
    if len(hints) <= _MOST_HINTS:
        return [*hints]
    strong = _outermost([at for at in hints if at not in weak], _MOST_HINTS)
    others = _outermost([at for at in hints if at in weak], _MOST_HINTS - len(strong))
    return sorted(strong + others)


def _outermost(hints: list[int], most: int) -> list[int]:
    front = most - most // 2
    return hints if len(hints) <= most else hints[:front] + hints[len(hints) - most // 2 :]
