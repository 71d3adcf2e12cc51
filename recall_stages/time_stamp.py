"""The time a question names, written on its candidates.

A stock compressor or postprocessor list hands the next stage only documents and the question's
text. So what `ExtractTime` understood travels on the candidates, as flat text in their trace, and
`FuseRerank` reads it there: one extraction a question, and the reader of the result sees it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from recall_stages.memory import Memory
from recall_stages.timeline import Recurrence, TimeRange
from recall_stages.timeline.interval import format_interval, parse_interval

_BETWEEN = " | "
_OR = ", "
_SOFT = "~"
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_RULE = {"weekdays": "BYDAY", "months": "BYMONTH", "days": "BYMONTHDAY", "hours": "BYHOUR"}


def time_stamp(ranges: Sequence[TimeRange]) -> dict[str, float | str]:
    """The ranges, the words that named them, and how else these can be read, as flat text.

    Several ranges have " | " between them, the alternatives of one range a comma. Each is written
    as ``start/end``, with a "~" before it where the words are vague, and for "on Mondays" with the
    recurrence behind it, as calendars write it (RFC 5545): ``../.. BYDAY=MO``.

    Examples:
        >>> from datetime import UTC, datetime
        >>> first, last = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 4, 1, tzinfo=UTC)
        >>> march = TimeRange(first, last, "month", text="in March")
        >>> time_stamp([march])["time_words"]
        'in March'
        >>> time_stamp([TimeRange(None, None, "day", recurrence=Recurrence(frozenset({0})))])
        {'time_range': '../.. BYDAY=MO', 'time_words': ''}
    """
    if not ranges:
        return {}
    stamp: dict[str, float | str] = {
        "time_range": _BETWEEN.join(map(_written, ranges)),
        "time_words": _BETWEEN.join(each.text.replace(_BETWEEN, " ") for each in ranges),
    }
    if any(each.alternatives for each in ranges):
        stamp["time_alternatives"] = _BETWEEN.join(
            _OR.join(map(_written, each.alternatives)) for each in ranges
        )
    return stamp


def stamped_ranges(memories: Iterable[Memory]) -> tuple[TimeRange, ...]:
    """The ranges that an earlier stage left on the first candidate that has any.

    Examples:
        >>> stamp = {"time_range": "../.. BYDAY=MO", "time_words": "on Mondays"}
        >>> [mondays] = stamped_ranges([Memory(content="Tea.", trace=stamp)])
        >>> mondays.describe()
        'every Monday'
    """
    for memory in memories:
        if "time_range" not in memory.trace:
            continue
        written, *told = (
            str(memory.trace.get(name, "")).split(_BETWEEN)
            for name in ("time_range", "time_words", "time_alternatives")
        )
        words, others = ([*each, *[""] * len(written)] for each in told)
        with suppress(ValueError):  # none, or somebody else's
            return tuple(map(_read, written, words, others))
    return ()


def _written(time_range: TimeRange) -> str:
    interval = _SOFT * time_range.soft + format_interval(time_range)
    if time_range.recurrence is None:
        return interval
    rule = (
        f"{by}={','.join(_DAYS[n] if by == 'BYDAY' else str(n) for n in sorted(numbers))}"
        for field, by in _RULE.items()
        if (numbers := getattr(time_range.recurrence, field))
    )
    return f"{interval} {';'.join(rule)}"


def _read(written: str, words: str, others: str = "") -> TimeRange:
    interval, _, rule = written.removeprefix(_SOFT).partition(" ")
    return replace(
        parse_interval(interval),
        text=words,
        soft=written.startswith(_SOFT),
        recurrence=_recurrence(rule) if rule else None,
        alternatives=tuple(_read(other, words) for other in others.split(_OR) if other),
    )


def _recurrence(rule: str) -> Recurrence:
    said = dict(part.split("=", 1) for part in rule.split(";"))
    return Recurrence(
        **{
            field: frozenset(
                _DAYS.index(number) if by == "BYDAY" else int(number)
                for number in said[by].split(",")
            )
            for field, by in _RULE.items()
            if by in said
        }
    )
