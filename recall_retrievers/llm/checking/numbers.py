"""The numbers of a text by value: figures, number words, Chinese numerals, months and weekdays."""

import re
from collections.abc import Iterator
from datetime import date
from fractions import Fraction

from recall_retrievers.timeline.grammar.lexing import NUMERALS, numeral_kinds
from recall_retrievers.timeline.recurrence import MONTHS, WEEKDAYS

_UP_TO_19 = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: value for value, word in enumerate(_UP_TO_19.split())}
_VALUES |= {word: 10 * tens for tens, word in enumerate(_TENS.split(), 2)}
_VALUES |= {re.sub("y$", "ie", word) + "th": value for word, value in _VALUES.items()}
_VALUES |= {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
_VALUES |= {"both": 2, "twice": 2, "couple": 2, "pair": 2, "dozen": 12}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "k": 1000}
_SCALES |= {"百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_NAMES = {name[:3]: name for name in (*MONTHS, *WEEKDAYS)}
_WORD = "|".join(sorted(filter(str.isascii, _VALUES | _SCALES), key=len, reverse=True))
_NO_NUMBER = re.compile(r"万一|千万|三明治|十分(?!钟)|四川|一[些直起样定般下切旦]")
_COUNTED = (
    "个只本张条次岁点位件种杯间家部首场台辆名斤公里米度倍项道遍期小天周星礼元块年月日号千美秒晚"
)
_TOKEN = re.compile(
    rf"""(?P<figure>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d{{1,30}}(?:\.\d{{1,30}})?)
        (?:[ -]{{0,3}}(?P<scale>{"|".join(_SCALES)})(?![A-Za-z]))?
    | \b(?P<name>(?:{"|".join(_NAMES.values())})s?\b|(?:{"|".join(_NAMES)})[a-z]?(?=\.?[ ]\d))
    | (?i:\b(?P<words>(?:{_WORD})(?:(?:[ -]|[ ]and[ ])(?:{_WORD})){{0,5}})\b)
    | (?P<han>第?[{"".join(NUMERALS)}]+)(?P<counted>[{_COUNTED}]?)""",
    re.VERBOSE,
)


def is_number(word: str) -> bool:
    """Whether a word, or a pair of Chinese characters, is a number or a part of one."""
    return word[0].isdigit() or word in _VALUES | _SCALES or not NUMERALS.isdisjoint(word)


def stated_numbers(text: str) -> frozenset[str]:
    """The numbers that a sentence states. "One" and "first" say too little to count."""
    return frozenset(_numbers(text)) - {"0", "1"}


def known_numbers(text: str, recorded: date | None = None) -> frozenset[str]:
    """The numbers that a memory supports, and those of its day."""
    months = {MONTHS[int(month) - 1] for month in re.findall(r"\b\d{4}-(0[1-9]|1[012])\b", text)}
    day = "" if recorded is None else f"{MONTHS[recorded.month - 1]} {recorded:%d %Y}"
    weekday = set() if recorded is None else {WEEKDAYS[recorded.weekday()]}
    return frozenset(months | weekday | {*_numbers(f"{text}\n{day}")})


def _numbers(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(_NO_NUMBER.sub(" ", text)):
        if match["figure"]:
            value = Fraction(match["figure"].replace(",", ""))
            yield str(value * _SCALES.get(match["scale"], 1))
        elif match["name"]:
            yield _NAMES[match["name"][:3]]
        elif match["words"]:
            total = 0
            for word in re.findall(_WORD, match["words"].lower()):
                total = (total or 1) * _SCALES[word] if word in _SCALES else total + _VALUES[word]
            yield str(total)
        elif len(match["han"]) > 1 or match["counted"]:
            kinds = numeral_kinds(match["han"].removeprefix("第"))
            yield from (str(kinds[name]) for name in ("NUM", "COUNT") if name in kinds)
