"""The table that the documentation shows is what the benchmark measures."""

import re

import pytest
from pages import ROOT

from benchmarks import everyday
from recall_retrievers.evaluation.comparison import BY_CATEGORY

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("embeds_once")]
NAMES = {"by meaning": "by meaning (vectors)"}  # as the page calls what the benchmark measures


def test_the_table_in_docs_is_measured_and_ours_wins_where_it_says_so() -> None:
    page = (ROOT / "docs" / "how_to" / "evaluate.md").read_text(encoding="utf-8")

    compared = everyday.measure(everyday.FOLDER)

    for name, evaluation in compared.evaluations.items():
        [row] = re.findall(rf"^\| {re.escape(NAMES.get(name, name))} \|(.*)\|$", page, re.MULTILINE)
        shown = [float(cell.strip(" *")) for cell in row.split("|")]
        figures = [evaluation.figures, *evaluation.by_category.values()]
        measured = [each[BY_CATEGORY] for each in figures]
        assert shown == pytest.approx(measured, abs=0.015), name  # another machine's rounding
    *theirs, ours = (
        each.by_category["a day"][BY_CATEGORY] for each in compared.evaluations.values()
    )
    assert ours > max(theirs) + 0.1
