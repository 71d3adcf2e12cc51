"""The tables of docs/ name what there is: settings, stages, defaults, operations."""

import re
from pathlib import Path

import pytest
from pages import ROOT

import langchain_recall
import llamaindex_recall
from benchmarks.conformance.checks import CHECKS
from recall_retrievers import STAGES
from recall_retrievers.retriever.call_options import CallOptions

DOCS = ROOT / "docs"


def test_the_settings_are_those_of_the_retriever_and_the_first_ones_those_of_a_call() -> None:
    tables = [_names(table) for table in _tables(DOCS / "settings.md", "setting")]
    of_the_framework = {"name", "tags", "metadata"}

    assert tables[0] == set(CallOptions.__annotations__)
    named = set().union(*tables)
    assert named == set(langchain_recall.RecallRetriever.model_fields) - of_the_framework


def test_the_defaults_of_the_settings_are_those_of_the_retriever() -> None:
    fields = langchain_recall.RecallRetriever.model_fields
    for table in _tables(DOCS / "settings.md", "setting"):
        for cell, default, *_ in table:
            if re.fullmatch(r"[\w.]+", default) and default != "none":
                [name] = re.findall(r"`([a-z_]+)`", cell)
                assert _written(fields[name].default) == default, name


def test_the_stages_have_the_parameters_and_defaults_that_the_table_names() -> None:
    [table] = _tables(DOCS / "stages.md", "stage")
    listed = set()
    for cell, _, parameters, *_ in table:
        [stage] = re.findall(r"`(\w+)`", cell)
        listed.add(stage)
        fields = getattr(langchain_recall, stage).model_fields
        for name, default in re.findall(r"`([a-z_]+)`(?: \(([^)]*)\))?", parameters):
            assert name in fields, f"{stage} has no {name}"
            if default:
                assert _written(fields[name].default) == default, f"{stage} {name}"
    assert listed == set(STAGES.split())


def test_the_checks_are_listed_in_their_order() -> None:
    page = (DOCS / "stages.md").read_text(encoding="utf-8")

    assert re.findall(r"^\d+\. (\w+):", page, re.MULTILINE) == [str(check) for check in CHECKS]


def test_the_conformance_of_stock_components_is_what_was_measured() -> None:
    """`benchmarks/README.md` has the tables that the benchmark printed."""
    [table] = _tables(DOCS / "stages.md", "LangChain")
    shown = {}
    for langchain, fails, llamaindex, fails_too in table:
        for names, checks in ((langchain, fails), (llamaindex, fails_too)):
            for name in re.findall(r"`(\w+)`", names):
                shown[name] = [] if checks == "none" else checks.split(", ")
    measured = {}
    page = ROOT / "benchmarks" / "README.md"
    for heading in ("langchain-classic", "llama-index-core"):
        [table] = _tables(page, heading)
        for name, *verdicts in table:
            judged = zip(map(str, CHECKS), verdicts, strict=True)
            measured[name.split(" ")[0]] = [check for check, verdict in judged if verdict == "no"]

    assert shown == measured


@pytest.mark.parametrize("face", [langchain_recall, llamaindex_recall])
def test_each_operation_names_classes_that_both_frameworks_have(face: object) -> None:
    names = ("operation", "part", "function")
    tables = [table for each in names for table in _tables(DOCS / "operations.md", each)]
    rows = [row for table in tables for row in table]

    assert len(rows) > 20
    for row in rows:
        for name in re.findall(r"`(\w+)", row[1]):
            assert hasattr(face, name), name


def _tables(page: Path, first: str) -> list[list[list[str]]]:
    """The cells of each row of the tables whose heading begins like this."""
    tables = []
    for part in page.read_text(encoding="utf-8").split("\n\n"):
        if part.startswith(f"| {first}"):
            rows = part.strip().splitlines()[2:]
            tables.append([[cell.strip() for cell in row[1:-1].split("|")] for row in rows])
    return tables


def _names(table: list[list[str]]) -> set[str]:
    return {name for row in table for name in re.findall(r"`([a-z_]+)`", row[0])}


def _written(default: object) -> str:
    if default is None:
        return "none"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return " to ".join(f"{bound:g}" for bound in default)
    return f"{default:,g}" if isinstance(default, int | float) else str(default)
