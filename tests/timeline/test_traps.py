"""Texts in which a time could be seen and none is named: the lines of `traps`."""

from pathlib import Path

import pytest
from tables import table
from timeline.cases import read

TRAPS = Path(__file__).parent / "traps"

# A trap whose words are changed a little is no trap any more: what stays silent there stays silent
# because of its neighbours, and not because the grammar has gone deaf.
TIMES = [
    ("Which version came on 5.3.2021?", "2021-03-05", "2021-03-06"),
    ("Did we move in on 10-24-19?", "2019-10-24", "2019-10-25"),
    ("What did I do in April?", "2024-04-01", "2024-05-01"),
    ("Which film did I see on Friday with Lisa?", "2024-06-07", "2024-06-08"),
    ("Who said I met on Saturday Anna and Bob?", "2024-06-08", "2024-06-09"),
    ("Show me the sales in the year.", "2024-01-01", "2025-01-01"),
    ("Who came in the day after tomorrow?", "2024-06-14", "2024-06-15"),
    ("What did we plan in the winter?", "2023-12-01", "2024-03-01"),
    ("What did I do last season?", "2024-03-01", "2024-06-01"),
    ("What did I think of that song yesterday?", "2024-06-11", "2024-06-12"),
    ("Which bus did I take on the 12th?", "2024-06-12", "2024-06-13"),
    ("How long did I sleep three days ago?", "2024-06-09", "2024-06-10"),
    ("Is the report due by EOM?", "..", "2024-07-01"),
    ("Who called me Friday Night?", "2024-06-07T21:00", "2024-06-08T05:00"),
    ("Where was I on the 3rd last month?", "2024-05-03", "2024-05-04"),
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_traps_yield_nothing(language: str) -> None:
    lines = (TRAPS / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    texts = [line for line in lines if line and not line.startswith("#")]
    assert len(texts) > 150
    assert {text: found for text in texts if (found := read(text))} == {}


@table(("text", "start", "end"), TIMES)
def test_beside_the_traps_times_are_read(text: str, start: str, end: str) -> None:
    assert (start, end) in read(text)
