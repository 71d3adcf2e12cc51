from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import table
from timeline.test_chinese import ONE_RANGE as CHINESE
from timeline.test_english import ONE_RANGE as ENGLISH

from recall_retrievers.timeline import TimeRange, extract_time

NOW = "2024-06-12T15:30:00+00:00"
MOMENTS = st.datetimes(
    datetime(1, 1, 2),
    datetime(9999, 12, 30),
    timezones=st.sampled_from([UTC, ZoneInfo("Europe/Berlin")]),
)
# Words of time in any order find more broken rules than letters in any order.
PIECES = sorted({word for text, *_ in ENGLISH for word in text.split()} | {t for t, *_ in CHINESE})
JUMBLES = st.lists(
    st.one_of(st.sampled_from(PIECES), st.integers(0, 10**12).map(str)), max_size=12
).map(" ".join)
TEXTS = st.one_of(st.text(max_size=60), JUMBLES)


def _check(found: list[TimeRange], text: str) -> None:
    for one in found:
        assert one.span is not None
        assert text[slice(*one.span)] == one.text
        for reading in (one, *one.alternatives):
            for moment in (reading.start, reading.end):
                assert moment is None or moment.utcoffset() is not None
            if reading.start is not None and reading.end is not None:
                assert reading.start.astimezone(UTC) < reading.end.astimezone(UTC)
    assert all(one.soft <= other.soft for one, other in pairwise(found))


@settings(max_examples=150)
@given(TEXTS, st.sampled_from(["auto", "en", "zh", "de", "es", "fr", "ja"]))
def test_any_text_gives_sound_ranges_and_no_error(text: str, language: str) -> None:
    _check(extract_time(text, NOW, language=language), text)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(JUMBLES, MOMENTS)
def test_any_moment_is_survived(text: str, moment: datetime) -> None:
    extract_time(text, moment)


@table("text", [text for text, *_ in ENGLISH if not text.endswith("?")])
def test_case_and_unrelated_words_change_nothing(text: str) -> None:
    plain = [(one.start, one.end) for one in extract_time(text, NOW)]
    for changed in (text.upper(), text.lower(), f"Tell me, please: {text}. Thank you kindly!"):
        assert [(one.start, one.end) for one in extract_time(changed, NOW)] == plain


@table("text", [text for text, *_ in ENGLISH] + [text for text, *_ in CHINESE])
def test_same_question_same_answer_in_every_zone(text: str) -> None:
    for zone in ("Asia/Shanghai", "America/New_York"):
        local = datetime(2024, 6, 12, 15, 30, tzinfo=ZoneInfo(zone))
        here = [(one.start, one.end) for one in extract_time(text, NOW)]
        there = [(one.start, one.end) for one in extract_time(text, local)]
        assert [_wall(pair) for pair in here] == [_wall(pair) for pair in there]


def _wall(pair: tuple[datetime | None, datetime | None]) -> list[str | None]:
    return [moment and moment.replace(tzinfo=None).isoformat() for moment in pair]


def test_the_answer_is_in_the_asked_zone() -> None:
    (found,) = extract_time("today", "2024-06-12T20:00:00Z", timezone="Asia/Shanghai")
    assert found.describe() == "2024-06-13 (Thursday)"
    assert found.time_zone == ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize("day", ["2024-03-31", "2024-10-27"])
def test_days_and_hours_of_a_clock_change(day: str) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    noon = datetime.fromisoformat(f"{day}T12:30").replace(tzinfo=berlin)
    for hour in range(24):
        for text in (f"today at {hour}:00", f"{hour} hours ago", "today"):
            _check(extract_time(text, noon), text)
    (today,) = extract_time("today", noon)
    assert today.start is not None
    assert today.end is not None
    length = today.end.astimezone(UTC) - today.start.astimezone(UTC)
    assert length.total_seconds() / 3600 == (23 if "-03-" in day else 25)


def test_what_is_no_question_is_refused() -> None:
    with pytest.raises(TypeError, match="text must be a string"):
        extract_time(None, NOW)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="language must be one of 'auto', 'en', 'zh', 'ja', 'de'"):
        extract_time("today", NOW, language="it")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="reference_time must be"):
        extract_time("today", None)  # type: ignore[arg-type]
