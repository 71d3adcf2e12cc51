"""The time expressions of `forms`, language by language: what is read, and what stays silent."""

from pathlib import Path

import pytest

from benchmarks.datasets import read_expressions
from benchmarks.time_expressions import silent, strict
from recall_retrievers.timeline import extract_time

FORMS = Path(__file__).parent / "forms"
LANGUAGES = ("en", "zh", "de", "es", "fr", "ja")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_reading_is_the_time_that_is_named(language: str) -> None:
    cases = [case for case in read_expressions(FORMS / f"{language}.jsonl") if case.readings]
    misread = [c.text for c in cases if not strict(c, extract_time(c.text, c.reference))]
    assert len(cases) >= 45
    assert misread == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_names_no_time_stays_silent(language: str) -> None:
    cases = [case for case in read_expressions(FORMS / f"{language}.jsonl") if not case.readings]
    heard = [c.text for c in cases if not silent(extract_time(c.text, c.reference))]
    assert len(cases) >= 20
    assert heard == []
