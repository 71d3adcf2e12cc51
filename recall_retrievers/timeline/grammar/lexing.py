"""What lexers share: dates in digits, numerals, and which part of a long text is worth reading."""

import re
from collections.abc import Container, Sequence

from recall_retrievers.timeline.grammar.vocabulary import Kinds

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


# --- Chinese numerals ----------------------------------------------------------------------------

_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_DIGITS |= {c: n for n, c in enumerate("壹贰叁肆伍陆柒捌玖", 1)}  # as cheques write them
_TENS = {"廿": 20, "卅": 30}
_POWERS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_MYRIADS = {"万": 10_000, "亿": 100_000_000}
NUMERALS = frozenset(_DIGITS) | frozenset(_TENS) | frozenset(_POWERS) | frozenset(_MYRIADS)
_MOST_DIGITS = 9  # no count and no year is longer; a telephone number is


def numeral_kinds(text: str) -> Kinds:
    """The meanings of a run of Chinese numerals.

    Examples:
        >>> numeral_kinds("二十三"), numeral_kinds("两")
        ({'HAN': 23, 'NUM': 23}, {'COUNT': 2})
        >>> numeral_kinds("二〇二二")
        {'YEAR': 2022, 'NUM': 2022}
        >>> numeral_kinds("两三"), numeral_kinds("十七八")
        ({'ABOUT': (2, 3)}, {'ABOUT': (17, 18)})
    """
    if len(text) > _MOST_DIGITS:
        return {}
    about = _about(text)
    if about is not None:
        return {"ABOUT": about}
    if len(text) > 1 and all(c in _DIGITS for c in text):
        return {} if "两" in text else digits_kinds("".join(str(_DIGITS[c]) for c in text))
    number = _value(text)
    if "两" in text:  # 两 counts and never numbers: 两月 is two months, 二月 is February
        return {"YEAR": number} if 2000 <= number < 3000 else {"COUNT": number}
    if number > 1000 and number % 1000 and number < 3000:  # 一千九百九十八年
        return {"YEAR": number}
    return {"HAN": number, "NUM": number}


def _about(text: str) -> tuple[int, int] | None:
    """两三 is two or three, 十七八 is 17 or 18, 二三十 is 20 or 30."""
    scale = _POWERS.get(text[-1], 1) if len(text) > 2 else 1
    stem = text[:-1] if scale > 1 else text
    base = 0
    if len(stem) > 2 and stem[-3] in _POWERS:
        base, stem = _value(stem[:-2]), stem[-2:]
    if len(stem) != 2 or any(c not in _DIGITS for c in stem):
        return None
    low, high = (_DIGITS[c] for c in stem)
    if not low or not (high - low == 1 or (low, high) == (3, 5)):
        return None
    return base + low * scale, base + high * scale


def _value(text: str) -> int:
    total = myriads = current = 0
    for character in text:
        if character in _DIGITS:
            current = current * 10 + _DIGITS[character]
        elif character in _TENS:
            total += _TENS[character]
        elif character in _POWERS:
            total += (current or 1) * _POWERS[character]
            current = 0
        else:
            myriads += (total + current or 1) * _MYRIADS[character]
            total = current = 0
    return myriads + total + current


def digits_kinds(text: str) -> Kinds:
    """The meanings of a run of digits: a count, a year of four or two digits, a whole date."""
    if len(text) > _MOST_DIGITS:
        return {}
    number = int(text)
    if len(text) == 8 and 1900 <= number // 10_000 < 2100:
        return {"DATE": (number // 10_000, number // 100 % 100, number % 100)}
    if len(text) == 2 and (text[0] == "0" or number >= 50):  # 07年 and 98年 are no amounts
        return {"SHORT_YEAR": number, "NUM": number}
    if len(text) == 2:
        return {"LATE_YEAR": number, "NUM": number}
    year: Kinds = {"YEAR": number} if len(text) == 4 and 1000 <= number <= 2999 else {}
    return {**year, "NUM": number}


# --- Long texts ----------------------------------------------------------------------------------

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
