"""Times as people and programs write them."""

from datetime import UTC, date, datetime

import pytest

from recall_retrievers.timeline.written_time import has_two_meanings, written_time

DAY = datetime(2024, 3, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05", "2024/03/05", "2024/3/5", "2024.03.05", "2024-3-5", "20240305",
        "05.03.2024", "5.3.2024", "5. 3. 2024", "2024年3月5日",
        "March 5, 2024", "Mar 5 2024", "mar. 5, 2024", "March 5th, 2024", "Tuesday, March 5, 2024",
        "5 March 2024", "5th of March 2024", "5. March 2024", "05-Mar-2024", "Tue, 05 Mar 2024",
        " 5  March\n2024 ",
    ],
)  # fmt: skip
def test_the_common_forms_of_a_day_are_read(text: str) -> None:
    assert written_time(text, UTC) == DAY


@pytest.mark.parametrize(
    ("value", "hour", "minute"),
    [
        ("March 5, 2024 at 3:04 PM", 15, 4),
        ("March 5, 2024, 12:30 am", 0, 30),
        ("5 March 2024 12:30 p.m.", 12, 30),
        ("05.03.2024 15:04", 15, 4),
        ("2024/03/05 15:04:00.25", 15, 4),
        ("2024-03-05 15:04:00 UTC", 15, 4),
        ("2024-03-05T15:04:00Z", 15, 4),
        ("Tue, 05 Mar 2024 15:04:00 GMT", 15, 4),
        ("Tue, 05 Mar 2024 17:04:00 +0200", 15, 4),
        ("Tue Mar 05 2024 16:04:00 GMT+0100 (Central European Standard Time)", 15, 4),
        ("Tue Mar  5 15:04:00 2024", 15, 4),
        ("1709651040", 15, 4),
        ("1709651040000", 15, 4),
        (1709651040, 15, 4),
        (1709651040000.0, 15, 4),
        (20240305, 0, 0),
    ],
)
def test_the_time_of_day_and_the_zone_are_read(value: float | str, hour: int, minute: int) -> None:
    assert written_time(value, UTC) == DAY.replace(hour=hour, minute=minute)


def test_day_and_month_are_swapped_only_by_a_setting() -> None:
    assert written_time("05/03/2024", UTC) is None
    assert has_two_meanings("05/03/2024")
    assert written_time("05/03/2024 10:00", UTC, day_first=True) == DAY.replace(hour=10)
    assert written_time("03-05-2024", UTC, day_first=False) == DAY
    assert written_time("25/03/2024", UTC) == datetime(2024, 3, 25, tzinfo=UTC)
    assert written_time("03/25/2024", UTC) == datetime(2024, 3, 25, tzinfo=UTC)
    assert written_time("03/25/2024", UTC, day_first=True) is None
    assert written_time("05/05/2024", UTC) == datetime(2024, 5, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "", "yesterday", "March 2024", "March 5", "5.3.24", "30.02.2024", "2024-13-01", "13:00",
        "March 5, 2024 25:00", "March 5, 2024 13:00 pm", "2024/03-05", "12", "12345678",
        "March 5, 2024 or so", "2024-03-05 10:00 XYZ", float("nan"), 1e40, True, "٢٠٢٤-٠٣-٠٥x",
    ],
)  # fmt: skip
def test_what_names_no_moment_is_not_guessed(value: float | str) -> None:
    assert written_time(value, UTC) is None


def test_a_day_is_that_of_the_zone() -> None:
    read = written_time("March 5, 2024")
    assert read is not None
    assert read.date() == date(2024, 3, 5)
    assert read.utcoffset() is not None
