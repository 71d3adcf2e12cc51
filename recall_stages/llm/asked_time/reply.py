"""The answer in a model's reply about a time: what it says of the start, the year, the month.

Models write JSON, with fences and thoughts and prose around it; or Python; or a list of lines like
``- Year: 2024 - Month: 3``; with English or Chinese names. What they mean by the values is none of
this room's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from recall_stages.core.errors import ReplyError
from recall_stages.llm.asked_time.values import is_absent
from recall_stages.llm.replies import json_values, spoken, spoken_parts

Answer = dict[str, object]
"""What a reply says, by the names below; what it leaves open is left out."""

_KEYS = {
    "start": "start from begin start_date start_time start_datetime 开始 起始 开始时间 开始日期",
    "end": "end to until end_date end_time end_datetime 结束 结束时间 结束日期",
    "date": "date 日期",
    "year": "year 年 年份",
    "month": "month 月 月份",
    "day": "day day_of_month 日 号",
    "week": "week week_of_year week_number 周 第几周 周数",
    "weekday": "weekday day_of_week dayofweek 星期 星期几 周几",
    "hour": "hour hours 时 小时 点 钟点",
    "words": "words text expression phrase quote 词 原文 时间词",
}
_NAMES = {key: name for name, keys in _KEYS.items() for key in keys.split()}
_LONGEST_FIRST = sorted(_NAMES, key=lambda key: -len(key))
_LINE = re.compile(
    rf"(?<![^\W_])[\"'*]*({'|'.join(_LONGEST_FIRST).replace('_', '[ _-]?')})[\"'*]*\s*[:：=]",
    re.IGNORECASE,
)
_AROUND = " \t-*\"'`,;.，；。(){}[]|"
_NAMES_OF_AN_ANSWER = re.compile(
    r"(?:the )?(?:answer|time|time range|result|时间|答案|回答)\s*[:：]"
)
_DAY = re.compile(r"\s*\d{4}-\d{2}")


def answer_in(reply: str) -> Answer:
    """What a reply says; empty where it says that there is no time.

    Raises:
        ReplyError: When there is no answer in it, or more than one.

    Examples:
        >>> answer_in('It was in March: {"year": 2024, "month": "March", "day": null}')
        {'year': 2024, 'month': 'March'}
        >>> answer_in("- Year: 2024 - Day of Week: 6, 7")
        {'year': '2024', 'weekday': '6, 7'}
        >>> answer_in("None.")
        {}
    """
    for part in spoken_parts(reply):
        if is_absent(_NAMES_OF_AN_ANSWER.sub("", part.lower(), count=1)):
            if part.strip():
                return {}
            continue
        answers = [each for value in json_values(part) for each in _answers(value)]
        answers = answers or _lines(part)
        if not answers:
            continue
        first, *others = answers
        if any({**each, "words": ""} != {**first, "words": ""} for each in others):
            raise ReplyError(f"expected one time; the model named {len(answers)}")
        return first
    raise ReplyError(f"expected a start and an end; the model said {spoken(reply)[:80]!r}")


def _answers(value: object) -> Iterator[Answer]:
    """The answers in a JSON value: itself, or what it wraps."""
    if isinstance(value, list):
        if not value:
            yield {}
        elif len(value) == 2 and all(isinstance(end, str) and _DAY.match(end) for end in value):
            yield {"start": value[0], "end": value[1]}
        else:
            for each in value:
                yield from _answers(each)
    elif isinstance(value, dict):
        named = [(_NAMES.get(_plain(key)), said) for key, said in value.items()]
        if any(name not in (None, "words") for name, _ in named):
            yield _gathered((name, said) for name, said in named if name)
        elif all(is_absent(said) for said in value.values()):
            yield {}
        else:
            for inner in value.values():
                yield from _answers(inner)


def _lines(text: str) -> list[Answer]:
    """The answer in lines of names and values, as one; none where no name is followed by one."""
    found = list(_LINE.finditer(text))
    ends = [each.start() for each in found[1:]]
    pairs = [
        (_NAMES[_plain(each[1])], text[each.end() : end].strip().split("\n")[0].strip(_AROUND))
        for each, end in zip_longest(found, ends)
    ]
    return [_gathered(pairs)] if any(name != "words" for name, _ in pairs) else []


def _gathered(pairs: Iterable[tuple[str, object]]) -> Answer:
    answer: Answer = {}
    for name, said in pairs:
        if is_absent(said):
            continue
        if answer.setdefault(name, said) != said:
            raise ReplyError(f"expected one {name}; got {answer[name]!r:.40} and {said!r:.40}")
    return answer


def _plain(key: str) -> str:
    return re.sub(r"[\s_*-]+", "_", key.strip(" *_-\"'").lower())
