"""The times that a memory's text names: read against the moment it was recorded, in its zone."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tables import table

from recall_retrievers.core.memory import Memory
from recall_retrievers.timeline import TimeRange, extract_time
from recall_retrievers.timeline.event_times import event_times
from recall_retrievers.timeline.grammar.calendar_math import shift, unit_ends
from recall_retrievers.timeline.time_range import Grain, format_interval, parse_interval

RECORDED = datetime(2024, 3, 20, 18, 30, tzinfo=UTC)  # a Wednesday


def told(text: str, recorded_at: datetime = RECORDED) -> list[str]:
    return [each.describe() for each in event_times(text, recorded_at)]


@table(
    ("text", "events"),
    [
        ("We met Anna two weeks ago.", ["2024-03-04 to 2024-03-10"]),
        ("Yesterday the tap was repaired.", ["2024-03-19 (Tuesday)"]),
        ("I moved here in 2019.", ["2019-01-01 to 2019-12-31"]),
        ("We fly to Rome next Friday.", ["2024-03-22 (Friday)"]),
        (
            "First on March 4, then in May 2023.",
            ["2024-03-04 (Monday)", "2025-03-04 (Tuesday)", "2023-05-01 to 2023-05-31"],
        ),
        ("As of March 2023 we had twelve hens.", ["2023-03-01 to 2023-03-31"]),
        ("Yesterday I ran, and yesterday I swam.", ["2024-03-19 (Tuesday)"]),
        ("我们上个月去了北京。", ["2024-02-01 to 2024-02-29"]),
    ],
)
def test_what_a_text_tells_of(text: str, events: list[str]) -> None:
    assert told(text) == events


@table(
    "text",
    [
        "Anna likes green tea.",
        "I am tired today.",
        "I recently learned to knit.",
        "We swim on Mondays.",
        "She lived in Rome until May 5, 2023.",
    ],
    ids=["no time", "the recorded day", "vague", "again and again", "no beginning"],
)
def test_what_tells_of_no_event(text: str) -> None:
    assert told(text) == []


@table(
    ("text", "day"),
    [
        ("The deadline is May 12.", "2024-05-12 (Sunday)"),
        ("See you on Thursday.", "2024-03-21 (Thursday)"),
        ("It was in January.", "2024-01-01 to 2024-01-31"),
        ("I booked the flights on Sunday.", "2024-03-17 (Sunday)"),
        ("I heard that the course starts on 1 February.", "2025-02-01 (Saturday)"),
        ("The course started on 1 September.", "2023-09-01 (Friday)"),
        ("From 1 September on I work less.", "2024-09-01 (Sunday)"),
        ("The meeting was moved to 2 October.", "2024-10-02 (Wednesday)"),
        ("Der Ausweis gilt bis zum 30. November.", "2024-11-30 (Saturday)"),
        ("Am 3. November haben wir geheiratet.", "2023-11-03 (Friday)"),
        ("A partir de octubre trabajo menos.", "2024-10-01 to 2024-10-31"),
        ("Compré una bici el 2 de junio.", "2023-06-02 (Friday)"),
        ("Je courrai un marathon en février.", "2025-02-01 to 2025-02-28"),
        ("Il a été promu en octobre.", "2023-10-01 to 2023-10-31"),
        ("去里斯本的机票订在1月3日。", "2025-01-03 (Friday)"),
        ("我周日订了机票。", "2024-03-17 (Sunday)"),
        ("10月から週四日勤務になる。", "2024-10-01 to 2024-10-31"),
        ("金曜日にトムが来た。", "2024-03-15 (Friday)"),
    ],
)
def test_a_time_has_the_direction_of_its_clause_and_else_is_the_nearer_one(
    text: str, day: str
) -> None:
    assert told(text) == [day]


@table(
    ("text", "days"),
    [
        ("A walk with Ana, 22 April.", ["2024-04-22 (Monday)", "2023-04-22 (Saturday)"]),
        ("A walk with Ana, 22 February.", ["2024-02-22 (Thursday)", "2025-02-22 (Saturday)"]),
        ("Parents' evening: 2 December.", ["2024-12-02 (Monday)", "2023-12-02 (Saturday)"]),
    ],
)
def test_what_a_clause_leaves_open_keeps_both_years_the_likelier_first(
    text: str, days: list[str]
) -> None:
    assert told(text) == days


PLANS = (Path(__file__).parent / "plans.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("language", ["en", "zh", "de", "es", "fr", "ja"])
def test_who_arranges_something_looks_ahead(language: str) -> None:
    recorded_at = datetime(2026, 3, 8, 19, tzinfo=UTC)
    plans = [line.split(" | ")[1:] for line in PLANS if line.startswith(f"{language} | ")]
    missed = [
        text
        for where, text in plans
        if event_times(text, recorded_at)[0].end.year != {"ahead": 2026, "back": 2025}[where]
    ]
    assert len(plans) >= 12
    assert len(missed) <= 1, missed


@table(
    "text",
    [
        "The exam was postponed to 5 June.",
        "Der Termin am Vormittag wurde auf den 5. Juni verschoben.",
        "La cita se aplazó al 5 de junio.",
        "Le rendez-vous a été reporté au 5 juin.",
        "考试推迟到6月5日了。",
        "会議は6月5日に変更された。",
    ],
)
def test_what_was_put_off_is_to_come(text: str) -> None:
    assert told(text) == ["2024-06-05 (Wednesday)"]


def test_yesterday_is_a_day_of_the_writer() -> None:
    late = datetime(2024, 3, 20, 23, 30, tzinfo=ZoneInfo("America/New_York"))
    assert told("I saw Bo yesterday.", late) == ["2024-03-19 (Tuesday)"]
    assert told("I saw Bo yesterday.", late.astimezone(UTC)) == ["2024-03-20 (Wednesday)"]


def test_a_pasted_calendar_names_no_more_than_a_few() -> None:
    calendar = "\n".join(f"2024-03-{day:02}: meeting" for day in range(1, 31))
    assert len(event_times(calendar, RECORDED)) == 16


RELATIVE = [
    "yesterday", "two weeks ago", "last month", "on Friday", "on May 12", "tomorrow", "next week",
    "in March", "last night", "today", "recently", "at 5pm", "and", "the dentist",
    "three years ago", "昨天", "上周二", "on Mondays", "until June 5",
]  # fmt: skip
texts = st.lists(st.sampled_from([*RELATIVE, "in 2019"]), max_size=5).map(" ".join) | st.text(
    max_size=40
)
moments = st.datetimes(
    datetime(1, 1, 1),
    datetime(9999, 12, 31),
    timezones=st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Pacific/Apia")]),
)


@given(text=texts, recorded_at=moments)
@example(text="tomorrow and on Friday", recorded_at=datetime.max.replace(tzinfo=UTC))
@example(text="yesterday, on Friday", recorded_at=datetime.min.replace(tzinfo=UTC))
@settings(deadline=None)
def test_any_text_gives_bounded_ranges_in_the_zone_of_the_writer(
    text: str, recorded_at: datetime
) -> None:
    events = event_times(text, recorded_at)
    for each in events:
        assert each.start is not None
        assert each.end is not None
        assert each.start.tzinfo is each.end.tzinfo is recorded_at.tzinfo
        assert not each.contains(recorded_at) or each.end - each.start > timedelta(days=1)
    assert len({(each.start, each.end) for each in events}) == len(events)


zones = st.sampled_from(
    [
        ZoneInfo(name)
        for name in (
            "Etc/GMT+12",
            "America/New_York",
            "Europe/Berlin",
            "Asia/Kolkata",
            "Pacific/Kiritimati",
        )
    ]
)


@given(
    writer=zones,
    asker=zones,
    day=st.dates(date(1990, 1, 1), date(2060, 1, 1)),
    unit=st.sampled_from(["day", "week", "month"]),
    away=st.integers(-1, 1),
)
@settings(deadline=None)
def test_a_told_day_is_that_day_for_an_asker_in_any_zone(
    writer: ZoneInfo, asker: ZoneInfo, day: date, unit: Grain, away: int
) -> None:
    start, end = unit_ends(unit, datetime.combine(day, time()))
    told_in = TimeRange(start.replace(tzinfo=writer), end.replace(tzinfo=writer), unit)
    asked = [shift(bound, unit, away).replace(tzinfo=asker) for bound in (start, end)]
    memory = Memory(content="x", events=[told_in])
    read_back = Memory(content="x", events=[parse_interval(format_interval(told_in))])
    for each in (memory, read_back):
        assert (each.matches(TimeRange(*asked, unit)) == "event") == (away == 0)


@table(
    ("told_as", "asked", "found"),
    [
        ("last week", "last Thursday", True),
        ("last month", "in early February", True),
        ("last month", "on February 6", False),
        ("in 2023", "last summer", True),
        ("in 2023", "in March 2023", False),
        ("last Tuesday", "in 2024", True),
        ("yesterday", "yesterday at 5pm", True),
        ("yesterday", "two days ago", False),
        ("two days ago", "on Mondays", True),
        ("last Tuesday", "on Mondays", False),
        ("last week", "on Mondays", False),
    ],
)
def test_an_event_is_found_by_what_it_overlaps_if_it_is_not_told_much_more_coarsely(
    told_as: str, asked: str, found: bool
) -> None:
    memory = Memory(content="x", events=event_times(told_as, RECORDED))
    (time_range,) = extract_time(asked, RECORDED)
    assert memory.matches(time_range) == ("event" if found else None)


def test_an_event_that_goes_on_is_found_by_what_it_overlaps() -> None:
    memory = Memory(content="x", events=[TimeRange(RECORDED.replace(year=2015), None, "day")])
    for asked, found in (("yesterday", "event"), ("on Mondays", None)):
        assert [memory.matches(each) for each in extract_time(asked, RECORDED)] == [found]
