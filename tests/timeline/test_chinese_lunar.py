from datetime import timedelta

import pytest
from tables import table
from timeline.cases import NOW

from recall_retrievers.timeline import extract_time
from recall_retrievers.timeline.grammar.lunar import lunar_day, lunar_month


@table(
    ("text", "month", "day"),
    [
        ("2033年春节", 1, 31),
        ("1978年中秋", 9, 17),
        ("1996年农历六月初一", 7, 16),
        ("2023年端午", 6, 22),
        ("2020年清明", 4, 4),
    ],
)
def test_feasts_of_the_moon_and_the_sun_in_other_years(text: str, month: int, day: int) -> None:
    (found,) = extract_time(text, NOW)
    assert found.start is not None
    assert (found.start.month, found.start.day) == (month, day)


def test_every_lunar_year_has_its_months_in_a_row() -> None:
    for year in range(1950, 2050):
        begins = [lunar_month(year, number)[0] for number in range(1, 13)]
        begins.append(lunar_month(year + 1, 1)[0])
        assert begins == sorted(begins)
        assert begins[12] - begins[0] in {timedelta(days=n) for n in (353, 354, 355, 383, 384, 385)}


def test_what_the_calendar_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="month 1 of the lunar year 2024 has no day 30"):
        lunar_day(2024, 1, 30)
    with pytest.raises(ValueError, match="the lunar year 2024 has no month 4 that is a leap month"):
        lunar_month(2024, 4, leap=True)
    with pytest.raises(ValueError, match="the lunar calendar of 1800 is not in the table"):
        lunar_month(1800, 1)
