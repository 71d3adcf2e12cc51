"""Numbers in words ("twenty-one", "the third", 三十, "a pair"), the units behind them, and dates.

A number with a unit is converted to the smallest unit of its kind: half an hour to 30 minutes.
"""

import re
from collections.abc import Iterator
from fractions import Fraction

from recall_retrievers.timeline.grammar.lexing import NUMERALS, numeral_kinds
from recall_retrievers.timeline.recurrence import MONTHS, WEEKDAYS

Found = Iterator[tuple[str, bool]]
"""Numbers as names, and whether a sentence that has the number needs a memory that has it."""

HAN = f"[{''.join(sorted(NUMERALS))}]"

_NAMES = """
    second 1 second seconds sec 秒 秒钟
    minute 1 minute minutes min mins 分钟
    minute 60 hour hours hr hrs 小时 钟头
    minute 1440 day days 天
    minute 10080 week weeks 周 星期 礼拜
    minute 20160 fortnight fortnights
    night 1 night nights 晚
    month 1 month months 月
    month 12 year years 年
    km 1 kilometer kilometers kilometre kilometres km 公里
    mile 1 mile miles 英里
    kg 1 kilogram kilograms kilo kilos kg 公斤 千克
    lb 1 pound pounds lb lbs 磅
    dollar 1 dollar dollars usd 美元
    euro 1 euro euros eur 欧元
    yuan 1 yuan rmb 元 块
    percent 1 percent %
"""
UNITS = {
    name: (base, int(factor))
    for base, factor, *names in map(str.split, _NAMES.strip().splitlines())
    for name in names
}
"""The kind of each unit, and how many of the smallest it is."""

_UNIT = (
    "(?:个)?(?P<unit>[A-Za-z]+|%|"
    + "|".join(sorted((unit for unit in UNITS if not unit.isascii()), key=len, reverse=True))
    + ")"
)
_BEHIND = (
    re.compile(rf"[\s-]{{0,2}}{_UNIT}"),
    re.compile(  # "2 to 3 days", "10-15 minutes"
        rf"\s?(?:to|or|[-–~到至或])\s?(?:\d+(?:\.\d+)?|[a-z]+|{HAN}+)[\s-]?{_UNIT}"
    ),
)

_UP_TO_19 = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_CARDINALS = {
    **{word: value for value, word in enumerate(_UP_TO_19.split())},
    **{word: 10 * tens for tens, word in enumerate(_TENS.split(), 2)},
    **SCALES,
}
_ODD = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
_ORDINALS = _ODD | {
    f"{word[:-1]}ieth" if word.endswith("y") else f"{word}th": value
    for word, value in _CARDINALS.items()
    if value > 3 and value not in _ODD.values()
}
_WORDS = _CARDINALS | _ORDINALS
_AND = "|".join(f"(?<={scale})[ ]+and[ ]+" for scale in SCALES)
_ANY = "|".join(_WORDS)
IN_WORDS = rf"(?i:\b(?:{_ANY})(?:(?:{_AND}|[ -]+)(?:{_ANY})){{0,20}}\b)"
"""Number words in a row, as a part of a pattern: "two hundred and five", but not "two and five"."""

_MEANT = {
    "a": Fraction(1), "an": Fraction(1), "another": Fraction(1), "next": Fraction(1),
    "single": Fraction(1), "half": Fraction(1, 2), "twice": Fraction(2), "double": Fraction(2),
    "both": Fraction(2), "couple": Fraction(2), "pair": Fraction(2), "dozen": Fraction(12),
}  # fmt: skip
# Where one of these follows, a numeral counts; else it may be a part of a word, as in 三明治.
_COUNTED = """
    个 只 本 张 条 次 岁 点 位 件 种 杯 间 家 部 首 场 台 辆 名 斤 公 里 米 度 倍 项 道 遍 期
    小 分 天 周 星 礼 元 块 年 月 日 号 千 美 欧 英 磅 秒 晚 段 座
"""
_COUNTED_BY = tuple(_COUNTED.split())


def is_number(word: str) -> bool:
    """Whether a word or a pair of Chinese characters is a number, or a part of one."""
    return word[0].isdigit() or word in _WORDS or not NUMERALS.isdisjoint(word)


def measured(value: Fraction, behind: str, *, needed: bool) -> Found:
    """A number with the unit that stands behind it, or bare."""
    found = [match["unit"].lower() for each in _BEHIND if (match := each.match(behind))]
    unit = next((UNITS[name] for name in found if name in UNITS), None)
    if unit is None or (unit[0] == "month" and 1900 <= value < 2100):  # 2023年 is no length
        yield str(value), needed
    else:
        yield f"{value * unit[1]} {unit[0]}", needed


def in_words(said: str, behind: str) -> Found:
    """The value of number words. "One" and "first" say too little to be needed."""
    words = [word for word in re.split("[ -]+", said.lower()) if word != "and"]
    total = current = 0
    for word in words:
        value = _WORDS[word]
        if value >= 1000:
            total, current = total + (current or 1) * value, 0
        else:
            current = (current or 1) * value if value == 100 else current + value
    number = total + current
    if words[-1] not in _ORDINALS:
        yield from measured(Fraction(number), behind, needed=number > 1)
    else:
        yield str(number), False
        if not behind.lstrip().startswith(","):  # "Second, ..." numbers a thought
            yield f"nth {number}", number > 1


def meant(word: str, behind: str) -> Found:
    """The number that a memory may mean by a word: "a" is one before a unit alone."""
    if word in _MEANT:
        for name, _ in measured(_MEANT[word], behind, needed=False):
            if _MEANT[word] != 1 or " " in name:
                yield name, word == "half" and " " in name


def in_chinese(numeral: str, behind: str) -> Found:
    """The value of Chinese numerals; 两三 is two or three."""
    bare = numeral.removeprefix("第")
    kinds = numeral_kinds(bare)
    about = kinds.get("ABOUT")
    single = [kinds[name] for name in ("NUM", "COUNT", "YEAR") if name in kinds][:1]
    for value in about if isinstance(about, tuple) else single:
        if isinstance(value, int):
            needed = value > 1 and (len(numeral) > 1 or behind.startswith(_COUNTED_BY))
            if bare != numeral:
                yield f"nth {value}", needed
                yield str(value), False
            else:
                yield from measured(Fraction(value), behind, needed=needed)


# --- Days, months, weekdays and times of day ------------------------------------------------------

_MONTHS = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_WEEKDAYS = {name[:3].lower(): number for number, name in enumerate(WEEKDAYS, 1)}
_HAN_WEEKDAYS = {name: number for number, name in enumerate("一二三四五六日", 1)} | {"天": 7}
_PARTS = re.compile("[/.-]")
_CLOCK = re.compile(r"(\d+)(?::(\d\d))?\s*([ap])?")
_MOST_MONTHS = 12


def date_names(year: int | None, month: int, day: int | None) -> Found:
    """The names of a date: its parts, and day and month together."""
    yield f"month {month}", True
    if year is not None:
        yield str(year), True
    if day is not None:
        yield f"day {day}", True
        yield f"date {month}-{day}", True


def in_figures(text: str) -> Found:
    """A date in figures: 2023-03-05, 03/2023, 28.4.2023."""
    parts = [int(part) for part in _PARTS.split(text)]
    if len(parts) == 2:
        (month, year), day = parts, None
    elif "-" in text:
        year, month, day = parts
    else:
        first, second, year = parts
        month, day = (second, first) if first > _MOST_MONTHS else (first, second)
        if first <= _MOST_MONTHS and second <= _MOST_MONTHS and first != second:
            month = 0  # 03/04/2023 is two days, and nobody knows which
    if 1 <= month <= _MOST_MONTHS:
        yield from date_names(year, month, day)
    else:
        yield from ((str(part), True) for part in parts)


def in_english(month: str, day: str | None = None) -> Found:
    """A month by its name, with or without its day."""
    return date_names(None, _MONTHS[month[:3].lower()], int(day) if day else None)


def in_han(year: str | None, month: str, day: str | None) -> Found:
    """A Chinese date: 2023年四月28日."""
    number = _number(month)
    if number is not None and 1 <= number <= _MOST_MONTHS:
        yield from date_names(_number(year), number, _number(day))


def weekday(name: str) -> Found:
    """A day of the week, in English or Chinese."""
    number = _WEEKDAYS.get(name[:3].lower()) or _HAN_WEEKDAYS[name[-1]]
    yield f"weekday {number}", True


def clock(text: str) -> Found:
    """A time of day; without "am" or "pm" it is one of two."""
    found = _CLOCK.match(text.lower())
    if found is None:
        return
    hour, minute, noon = int(found[1]), found[2] or "00", found[3]
    if noon:
        hour = hour % 12 + (12 if noon == "p" else 0)
    sure = bool(noon) or hour > 12 or hour == 0
    yield f"clock {hour}:{minute}", sure
    if not sure:
        yield f"clock {(hour + 12) % 24}:{minute}", False
    yield f"clock~ {hour % 12}:{minute}", not sure


def _number(text: str | None) -> int | None:
    if text is None or text.isdigit():
        return None if text is None else int(text)
    number = numeral_kinds(text).get("NUM")
    return number if isinstance(number, int) else None
