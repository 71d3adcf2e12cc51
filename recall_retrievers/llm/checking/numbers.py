"""The numbers of a text by their value: "ten", "10" and "10.00" are one, "3.5" and "5.3" are two.

A number has a name: "10", "30 minute", "month 3", "date 3-5", "clock 17:00", "nth 2".
"""

import re
from collections.abc import Callable
from datetime import date
from fractions import Fraction

from recall_retrievers.llm.checking import number_words as spelled

_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yuan"}
_FACTORS = spelled.SCALES | {"k": 1000, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_LONG_MONTH = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
)
_MONTH = rf"(?:{_LONG_MONTH}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
_LONGEST = 100  # digits of a number that has a value
_PERCENT = re.compile(rf"百分之(\d+(?:\.\d+)?|{spelled.HAN}+)")
_NO_NUMBER = re.compile(
    r"万一|千万|百般|三明治|十分(?!钟|之)|四川|一[些直起样定般下切旦]|第一次?|\[\d{1,3}(?:,\s?\d{1,3})*\]"
)
_LIST = re.compile(r":\s|：|\(")
_COMMA = re.compile(r"[,;，；、](?:\s*and\b)?")
_AND = re.compile(r"\band\b|和|及")
_TOKEN = re.compile(
    rf"""
      (?P<date>\b\d{{4}}-\d\d?-\d\d?\b
        |\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}\b|\b\d{{1,2}}/\d{{4}}\b)
    | (?P<han_date>(?:(?P<y>\d{{4}}|{spelled.HAN}{{4}})年)?(?P<m>\d{{1,2}}|{spelled.HAN}{{1,2}})月
        (?:(?P<d>\d{{1,2}}|{spelled.HAN}{{1,3}})[日号])?)
    | (?P<day_month>\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m1>{_MONTH}\b))
    | (?P<month_day>\b(?P<m2>{_MONTH})\s+(?:the\s+)?(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d))
    | (?P<month>\b(?:January|February|April|June|July|August|September|October|November|December
        |(?<=[a-z]\s)(?:March|May)|(?:March|May)(?=,?\s\d{{4}}))\b)
    | (?P<weekday>(?i:\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b)
        |(?:星期|周|礼拜)[一二三四五六日天](?![个年岁本]))
    | (?P<clock>\b\d{{1,2}}:\d\d(?:\s*[ap]\.?m\b)?|\b\d{{1,2}}\s*[ap]\.?m\b)
    | (?P<half>(?i:\bhalf\s+(?:an?\s+)?(?P<halved>hour|day|year|week)\b)
        |半个?(?P<half_of>小时|天|年|月))
    | (?P<version>\d+(?:\.\d+){{2,}})
    | (?P<figure>(?P<sign>[$€£¥]\s?)?(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)
        (?P<behind>(?:st|nd|rd|th|k|s)\b|[ -]{{0,3}}(?:hundred|[mb]illion|thousand)\b|[百千万亿])?)
    | (?P<han>第?{spelled.HAN}+)
    | (?P<said>{spelled.IN_WORDS})
    | (?P<word>[A-Za-z]+)
    """,
    re.VERBOSE,
)


def stated_numbers(text: str) -> frozenset[str]:
    """The numbers that a sentence states. "One" and "first" say too little to count.

    The length of a list within it is known: "Two books were recommended: A and B".
    """
    counted, *listed = _LIST.split(text, maxsplit=1)
    stated = {name for name, needed in _numbers(counted) if needed}
    for part in listed:
        commas, ands = len(_COMMA.findall(part)), len(_AND.findall(_COMMA.sub("", part)))
        least = max(commas + min(ands, 1), 1)  # others may be of titles: "Emma and Pride and Joy"
        stated -= {str(1 + each) for each in range(least, commas + ands + 1)}
        stated |= {name for name, needed in _numbers(part) if needed}
    return frozenset(stated)


def known_numbers(text: str, recorded: date | None = None) -> frozenset[str]:
    """The numbers that a memory supports, and those of its day; "a pair" is two."""
    names = {name for name, _ in _numbers(text)}
    if recorded is not None:
        day = spelled.date_names(recorded.year, recorded.month, recorded.day)
        names.update(name for name, _ in day)
        names.add(f"weekday {recorded.isoweekday()}")
    return frozenset(names)


def unknown_numbers(stated: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """The stated numbers that are not among the known ones."""
    return frozenset(name for name in stated - known if not _is_known(name, known))


def _is_known(name: str, known: frozenset[str]) -> bool:
    """Whether a number is known by another name."""
    kind, _, rest = name.partition(" ")
    with_unit = {each.partition(" ")[0] for each in known if each[0].isdigit()}
    if kind == "nth":
        return rest in with_unit or f"day {rest}" in known
    if kind == "clock":
        hour = int(rest.partition(":")[0])
        return rest.endswith(":00") and not known.isdisjoint({str(hour), str(hour % 12 or 12)})
    if not kind[0].isdigit():
        return False
    if not rest:
        return name in with_unit or (name.isdigit() and f"clock~ {int(name) % 12}:00" in known)
    if any(each.endswith(f" {rest}") for each in known):
        return False
    # The unit is left out.
    factors = [factor for base, factor in spelled.UNITS.values() if base == rest]
    return any(str(Fraction(kind) / factor) in known for factor in factors)


def _numbers(text: str) -> spelled.Found:
    text = _PERCENT.sub(r"\1%", text)
    text = _NO_NUMBER.sub(lambda match: "·" * len(match[0]), text)
    for match in _TOKEN.finditer(text):
        read = _READERS[match.lastgroup or ""]
        yield from read(match, text[match.end() : match.end() + 40])


def _half(match: re.Match[str], _: str) -> spelled.Found:
    base, factor = spelled.UNITS[(match["halved"] or match["half_of"]).lower()]
    yield f"{Fraction(factor, 2)} {base}", True


def _figure(match: re.Match[str], behind: str) -> spelled.Found:
    if len(match["digits"]) > _LONGEST:  # Python refuses to make a number of it
        yield f"digits {match['digits']}", True
        return
    ending = (match["behind"] or "").strip(" -")
    value = Fraction(match["digits"].replace(",", "")) * _FACTORS.get(ending, 1)
    if match["sign"]:
        yield f"{value} {_SIGNS[match['sign'].strip()]}", True
    elif ending in ("st", "nd", "rd", "th"):
        yield f"nth {value}", True
        yield str(value), False
    else:
        yield from spelled.measured(value, behind, needed=True)


_READERS: dict[str, Callable[[re.Match[str], str], spelled.Found]] = {
    "date": lambda match, _: spelled.in_figures(match[0]),
    "han_date": lambda match, _: spelled.in_han(match["y"], match["m"], match["d"]),
    "day_month": lambda match, _: spelled.in_english(match["m1"], match["d1"]),
    "month_day": lambda match, _: spelled.in_english(match["m2"], match["d2"]),
    "month": lambda match, _: spelled.in_english(match[0]),
    "weekday": lambda match, _: spelled.weekday(match[0]),
    "clock": lambda match, _: spelled.clock(match[0]),
    "half": _half,
    "version": lambda match, _: iter([(match[0], True)]),
    "figure": _figure,
    "han": lambda match, behind: spelled.in_chinese(match[0], behind),
    "said": lambda match, behind: spelled.in_words(match[0], behind),
    "word": lambda match, behind: spelled.meant(match[0].lower(), behind),
}
"""What reads each group of `_TOKEN`, with the text behind it."""
