"""The time a question names, written on its candidates.

A stock compressor or postprocessor list hands the next stage only documents and the question's
text. So what `ExtractTime` understood travels on the candidates, as flat text in their trace, and
`FuseRerank` reads it there: one extraction a question, and the reader of the result sees it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timezone, tzinfo

from recall_stages.core.memory import Memory
from recall_stages.timeline import Recurrence, TimeRange
from recall_stages.timeline.interval import format_interval, parse_interval
from recall_stages.timeline.parse_time import resolve_timezone

_NAMES = ("time_range", "time_words", "time_alternatives")
_BETWEEN = " | "
_OR = ", "
_SOFT = "~"
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_ZONE = "TZID"
_RULE = {"weekdays": "BYDAY", "months": "BYMONTH", "days": "BYMONTHDAY", "hours": "BYHOUR"}


def time_stamp(ranges: Sequence[TimeRange]) -> dict[str, float | str]:
    """The ranges, the words that named them, and how else these can be read, as flat text.

    Several ranges have " | " between them, the alternatives of one range a comma. Each is written
    as ``start/end``, with a "~" before it where the words are vague, and for "on Mondays" with the
    recurrence behind it, as calendars write it (RFC 5545): ``../.. BYDAY=MO;TZID=Europe/Berlin``.

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


def stamped(memories: Iterable[Memory], ranges: Sequence[TimeRange]) -> tuple[Memory, ...]:
    """The memories with the stamp of these ranges, and none of a question asked before.

    Examples:
        >>> old = Memory(content="Tea.", trace={"time_words": "in March"})
        >>> stamped([old], [])[0].trace
        {}
    """
    stamp = time_stamp(ranges)

    def stamping(memory: Memory) -> Memory:
        if not stamp and memory.trace.keys().isdisjoint(_NAMES):
            return memory
        unstamped = {k: v for k, v in memory.trace.items() if k not in _NAMES}
        return memory.model_copy(update={"trace": unstamped | stamp})

    return tuple(stamping(memory) for memory in memories)


def stamped_ranges(memories: Iterable[Memory]) -> tuple[TimeRange, ...]:
    """The ranges that an earlier stage left on the first candidate that has any.

    Examples:
        >>> stamp = {"time_range": "../.. BYDAY=MO", "time_words": "on Mondays"}
        >>> [mondays] = stamped_ranges([Memory(content="Tea.", trace=stamp)])
        >>> mondays.describe()
        'every Monday'
    """
    for memory in memories:
        if _NAMES[0] not in memory.trace:
            continue
        written, *told = (str(memory.trace.get(name, "")).split(_BETWEEN) for name in _NAMES)
        words, others = ([*each, *[""] * len(written)] for each in told)
        with suppress(ValueError):  # none, or somebody else's
            return tuple(map(_read, written, words, others))
    return ()


def _written(time_range: TimeRange) -> str:
    interval = _SOFT * time_range.soft + format_interval(time_range)
    if time_range.recurrence is None:
        return interval
    rule = [
        f"{by}={','.join(_DAYS[n] if by == 'BYDAY' else str(n) for n in sorted(numbers))}"
        for field, by in _RULE.items()
        if (numbers := getattr(time_range.recurrence, field))
    ]
    zone = _zone_name(time_range.recurrence.timezone)
    rule += [f"{_ZONE}={zone}"] if zone else []
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
        },
        timezone=_zone(said[_ZONE]) if _ZONE in said else None,
    )


def _zone_name(zone: tzinfo | None) -> str | None:
    """Its IANA name, or UTC+02:00; other kinds of zones have no name that can be read back."""
    return str(zone) if isinstance(zone, timezone) else getattr(zone, "key", None)


def _zone(name: str) -> tzinfo | None:
    if name == str(UTC):
        return UTC
    offset = name.startswith(("UTC+", "UTC-"))
    return datetime.strptime(name, "UTC%z").tzinfo if offset else resolve_timezone(name)
