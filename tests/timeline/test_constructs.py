"""One table of constructs by six languages: what one language reads, all read.

`constructs/ranges.txt` says which time each construct names and how that is written; a language has
two sentences of each.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recall_retrievers.timeline import TimeRange, extract_time

FOLDER = Path(__file__).parent / "constructs"
LANGUAGES = ("en", "zh", "de", "es", "fr", "ja")
NOW = "2025-03-19T14:20:00+00:00"  # a Wednesday
LEAST = 0.96
DAY = timedelta(days=1)


def rows(name: str) -> dict[str, list[str]]:
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    parts = [line.split(" | ") for line in lines if not line.startswith("#")]
    return {construct: sentences for construct, *sentences in parts}


def misread(language: str) -> list[str]:
    ranges = rows("ranges")
    return [
        f"{construct}: {sentence} -> {[each.describe() for each in found]}, not {wanted}"
        for construct, sentences in rows(language).items()
        for sentence, wanted in zip(sentences, ranges[construct], strict=True)
        if not is_right(found := extract_time(sentence, NOW), wanted)
    ]


def is_right(found: list[TimeRange], wanted: str) -> bool:
    return bool(found) and any(_fits(found[0], each) for each in wanted.split(" or "))


def _fits(found: TimeRange, wanted: str) -> bool:
    if wanted.startswith("every "):
        return bool(found.recurrence) and wanted.split()[1] in found.describe()
    start, end = found.start, found.end
    if wanted.startswith("@"):
        held = bool(start and end and end - start <= timedelta(hours=14))
        return held and found.contains(_moment(wanted[1:]))
    days, _, near = wanted.partition("~")
    first, _, last = days.partition("..")
    begin = _moment(first)
    close = _moment(last) if ".." in days else begin and begin + DAY
    margin = timedelta(days=int(near or 0))
    return all(
        (is_at is None and want is None) or (is_at and want and abs(is_at - want) <= margin)
        for is_at, want in ((start, begin), (end, close))
    )


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    whole = text if text[:4].isdigit() else f"2025-{text}"
    return datetime.fromisoformat(whole).replace(tzinfo=UTC)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_reads_each_construct(language: str) -> None:
    assert rows(language).keys() == rows("ranges").keys()
    missed = misread(language)
    assert len(missed) <= (1 - LEAST) * 2 * len(rows(language)), "\n".join(missed)
