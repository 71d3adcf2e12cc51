"""Whether a clause of a memory looks back or ahead: "booked for 5 June", "the course starts".

The words that tell it stand in the languages' files. A clause has the direction of the one that is
nearest to the time. An act of arranging looks ahead: who signs up for a run on 20 September, runs
on that day.
"""

import re
from typing import Literal

from recall_retrievers.timeline.extract_time import cues_of

Direction = Literal["ahead", "back"]

_REACH = 12  # characters before a time that may lead to it
_WINDOW = 200  # characters on either side that are looked at
_SENTENCE = re.compile(r"(?<!\b\d)(?<!\b\d\d)\.(?=\s|$)|[!?;\n。！？；]")
_CLAUSE = re.compile("[,，、:：]")


def direction(text: str, span: tuple[int, int], language: str, *, dated: bool) -> Direction | None:
    """The direction of the clause around a time; None where it has none, or where both may be.

    Args:
        text: The memory.
        span: The place of the time in it.
        language: The code of its language.
        dated: Whether the time is a date. On a weekday, an act of arranging may have taken place.

    Examples:
        >>> direction("We came on Friday.", (8, 17), "en", dated=False)
        'back'
        >>> direction("It is booked for Friday.", (13, 23), "en", dated=False)
        'ahead'
        >>> direction("Signed up for the run on 3 May.", (22, 30), "en", dated=True)
        'ahead'
    """
    for border in (_CLAUSE, _SENTENCE):
        first, last = _around(text, span, border)
        clause, start, end = text[first:last], span[0] - first, span[1] - first
        found = _of_clause(clause, start, end, language, dated=dated)
        if found is not None:
            return found
    return None


def _of_clause(
    clause: str, start: int, end: int, language: str, *, dated: bool
) -> Direction | None:
    cues = cues_of(language)
    if cues.put_off_in(clause) or cues.lead_to(clause, start):
        return "ahead"
    if language == "zh" and set("是在").intersection(clause[max(start - 1, 0) : start + 1]):
        if not clause[end:]:
            return "ahead"  # 考试在6月6日
        if "的" in clause[end : end + 4]:
            return "back"  # 是6月6日结的婚
    near: dict[str, int] = {}
    for kind, first, last in cues.find(clause):
        if kind == "arranged" and not dated:  # booked on Sunday; but 订了周日的票, 日曜の予約
            ahead_of = language == "zh" and last <= start
            of_it = language == "ja" and clause[end : end + 1] == "の"
            kind = "ahead" if ahead_of or of_it else "back"  # noqa: PLW2901 - its meaning here
        # A date stands before its verb or behind it, never inside another word.
        distance = max(first - end, start - last, 0)
        near[kind] = min(distance, near.get(kind, distance))
    ahead = min((near[kind] for kind in ("ahead", "arranged") if kind in near), default=None)
    if "back" in near:
        return "back" if ahead is None or near["back"] <= ahead else "ahead"
    if ahead is not None or "present" in near:
        return "ahead"
    return "ahead" if cues.onward_in(clause[max(start - _REACH, 0) : end]) else None


def _around(text: str, span: tuple[int, int], border: re.Pattern[str]) -> tuple[int, int]:
    """The clause, or the sentence, that holds a time."""
    begin, stop = max(span[0] - _WINDOW, 0), span[1] + _WINDOW
    first, last = begin, min(stop, len(text))
    marks = [*_SENTENCE.finditer(text, begin, stop)]
    if border is _CLAUSE:
        marks += _CLAUSE.finditer(text, begin, stop)
    for mark in marks:
        if mark.end() <= span[0]:
            first = max(first, mark.end())
        elif mark.start() >= span[1]:
            last = min(last, mark.start())
    return first, last
