"""Time understanding alone: texts, and the ranges of time that they name.

    python -m benchmarks.time_expressions --data FILE... [--language auto|en|zh|...] [--worst]
        [--memories FILE] [--json OUT]

The project's own sets, in six languages, are `tests/timeline/forms/*.jsonl`.

Ranges are compared by their first and their last day (the end does not belong to a range, so
midnight ends the day before); an open end equals only an open end. Shares of a set:

- ``strict``: of the texts that name a time, those where the first range found is the time named,
  or one of the case's alternatives;
- ``lenient``: the same where any range found, or any other reading that came with one, is it;
- ``silent``: of the texts that name no time, those where nothing is found; vague ranges
  ("recently"), which only prefer, count as nothing.

A share is null where a set has no such text. A text with "two weeks ago" names, besides its gold
range, the day two weeks back and the calendar week that holds it; months and years likewise.

With ``--memories`` also how the times in memories are read, from a file such as
`data/memory_times.jsonl`, by half and by language. ``direction`` is the share of memories whose
times are all read on the right side of the day of writing. ``range`` is the share of memories with
one time, and the right one.

With ``--worst`` also the slowest of texts made to be slow, each 10,000 characters long and timed as
the best of five (``ms_worst``, and which it was): a fragment repeated without end ("in May in May",
"1 1 1", "last last", "and and", "the the", "from to", "2020-2020-", digits, "two hundred thousand",
quotation marks and parentheses that never close, dates, hours, weekdays, ordinals, phrases that
lean on each other, one hint in every dozen words, Chinese and mixed ones), and a long plain text
that names one time in its middle.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks.ago import ago_days
from benchmarks.datasets import (
    Bounds,
    DataError,
    Days,
    Expression,
    Remembered,
    read_expressions,
    read_remembered,
)
from benchmarks.output import json_file, write_json
from benchmarks.report import print_expressions, print_remembered
from recall_retrievers.timeline import TimeRange, extract_time
from recall_retrievers.timeline.event_times import event_times
from recall_retrievers.timeline.extract_time import LANGUAGES

_INSTANT = timedelta(microseconds=1)
_LONG = 10_000
_PLAIN = (
    "We went to the market and it may rain a second time, as the day had been nice for a while. "
)
_REPEATED = (
    "in May ", "last ", "1 ", "and ", "the ", "from to ", "2020-", "1", "2023 ", "a ", "q1 ",
    "two hundred thousand ", '"', '"may ', "“may ", "(", "1/1/", "5:30 ", "- ", "* ", "' ", "\n",
    "before ", "the end of ", "the last week of ", "the week before the week after ", "yesterday ",
    "on Monday and ", "since May until ", "2023-05-07 ", "the 3rd ", "at 5 pm ", "two weeks ago ",
    "day ", "between May and ", "every Monday and ", "90s ", "May!!!!!!!!!!!!!", "half an hour ",
    "2023 to the a and of in to from by the a of and in ", "day one two to the a and of in from ",
    "twenty three hundred and five ", "é", "三月", "一", "上周", "年", "从到", "三月 in May ",
    "1-", "noon ", "morning ", "thursday before ", "年底", "年中", "百年好合", "前任七日游",
    "since we left in May ", "as I said on 3 May ", "1, 2 and 3 May ", "im Mai ", "el lunes de ",
    "hier soir ", "de la semana ", "昨日の", "3月から", "une semaine et demie ", "Mon - Wed and ",
)  # fmt: skip


def measure(cases: Sequence[Expression], language: str = "auto") -> dict[str, object]:
    """Read every text, and count; returns what ``--json`` writes."""
    found = []
    milliseconds = []
    for case in [cases[0], *cases]:  # the first call of a process builds the grammar
        started = time.perf_counter()
        ranges = extract_time(case.text, case.reference, language=language)  # type: ignore[arg-type]  # argparse has checked it
        milliseconds.append(1000 * (time.perf_counter() - started))
        found.append(ranges)
    by_set = defaultdict(list)
    for case, ranges in zip(cases, found[1:], strict=True):
        by_set[case.set].append((case, ranges))
    return {
        "by_set": {name: _shares(outcomes) for name, outcomes in by_set.items()},
        "ms_median": round(statistics.median(milliseconds[1:]), 4),
    }


def measure_memories(cases: Sequence[Remembered]) -> dict[str, dict[str, float | None]]:
    """Read the times of memories as a store does, and count by half and by language."""
    outcomes = defaultdict(list)
    for case in cases:
        found = event_times(case.text, case.recorded_at)
        ahead = [each.start is not None and each.start > case.recorded_at for each in found]
        right = ({*ahead} == {case.ahead}, [_days(each) for each in found] == [case.days])
        for name in (case.half, f"{case.half}, {case.language}"):
            outcomes[name].append(right)
    return {
        name: {
            "n": len(rights),
            "direction": _share(direction for direction, _ in rights),
            "range": _share(days for _, days in rights),
        }
        for name, rights in sorted(outcomes.items())
    }


def worst(language: str = "auto") -> tuple[float, str]:
    """The slowest of the texts made to be slow: milliseconds, and how it begins."""
    middle = _PLAIN * (_LONG // 2 // len(_PLAIN))
    texts = [
        *((fragment * _LONG)[:_LONG] for fragment in _REPEATED),
        f"{middle}What did we plan last Tuesday? {middle}",
    ]
    return max((_milliseconds(text, language), text[:20]) for text in texts)


def _milliseconds(text: str, language: str) -> float:
    """The best of five, as anything else that runs only adds to it."""
    took = []
    for _ in range(5):
        started = time.perf_counter()
        extract_time(text, "2024-06-12T15:30:00+00:00", language=language)  # type: ignore[arg-type]  # argparse has checked it
        took.append(1000 * (time.perf_counter() - started))
    return round(min(took), 4)


def strict(case: Expression, ranges: Sequence[TimeRange]) -> bool:
    """Whether the first range found is the time that the text names."""
    return bool(ranges) and _days(ranges[0]) in _right(case)


def lenient(case: Expression, ranges: Sequence[TimeRange]) -> bool:
    """Whether any reading of any range found is the time that the text names."""
    readings = [reading for each in ranges for reading in (each, *each.alternatives)]
    return not _right(case).isdisjoint(map(_days, readings))


def silent(ranges: Sequence[TimeRange]) -> bool:
    """Whether nothing is found that could exclude a memory."""
    return all(each.soft for each in ranges)


def _shares(outcomes: Sequence[tuple[Expression, list[TimeRange]]]) -> dict[str, float | None]:
    naming = [outcome for outcome in outcomes if outcome[0].readings]
    return {
        "n": len(outcomes),
        "strict": _share(strict(*outcome) for outcome in naming),
        "lenient": _share(lenient(*outcome) for outcome in naming),
        "silent": _share(silent(ranges) for case, ranges in outcomes if not case.readings),
    }


def _share(outcomes: Iterable[bool]) -> float | None:
    counted = list(outcomes)
    return round(sum(counted) / len(counted), 4) if counted else None


def _right(case: Expression) -> set[Days]:
    return {*map(_days, case.readings), *ago_days(case.text, case.reference.date())}


def _days(bounds: Bounds | TimeRange) -> Days:
    return (
        None if bounds.start is None else bounds.start.date(),
        None if bounds.end is None else (bounds.end - _INSTANT).date(),
    )


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.time_expressions")
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--language", choices=("auto", *LANGUAGES), default="auto")
    parser.add_argument("--worst", action="store_true")
    parser.add_argument("--memories", type=Path)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        cases = [case for file in given.data for case in read_expressions(file)]
        memories = read_remembered(given.memories) if given.memories else []
    except DataError as error:
        parser.error(str(error))
    result = measure(cases, given.language)
    print_expressions(result)
    if memories:
        result["memories"] = measure_memories(memories)
        print_remembered(result["memories"])
    if given.worst:
        result["ms_worst"], result["worst_text"] = worst(given.language)
        print(f"{result['ms_worst']:.3f} ms a text (worst: {result['worst_text']!r} ...)")
    write_json(given.json, result)


if __name__ == "__main__":
    main()
