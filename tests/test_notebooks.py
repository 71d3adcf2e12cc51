"""The notebooks run from top to bottom without a network, say what is committed, and are twins."""

import re
from pathlib import Path

import nbclient.exceptions
import nbformat.v4
import notebook_runs
import pytest
from rounding import nearly_same

pytestmark = pytest.mark.slow
TWINS = ["langchain_recall", "llamaindex_recall"]


def all_of(name: str) -> str:
    cells = notebook_runs.read(name).cells
    return "\n".join(text for cell in cells for text in notebook_runs.shown(cell))


def test_the_notebooks_run_and_say_what_is_committed(vectors: Path) -> None:
    # One after the other: they have the same memories, and embedding is most of the work.
    for name in notebook_runs.NAMES:
        committed, fresh = notebook_runs.read(name), notebook_runs.read(name)

        notebook_runs.run(fresh, vectors)

        for before, after in zip(committed.cells, fresh.cells, strict=True):
            said, says = (notebook_runs.shown(cell) for cell in (before, after))
            assert len(said) == len(says), before.source
            assert all(map(nearly_same, said, says)), (name, before.source, says)


def test_the_notebooks_are_twins() -> None:
    langchain, llamaindex = (notebook_runs.read(name).cells for name in TWINS)

    assert [cell.cell_type for cell in langchain] == [cell.cell_type for cell in llamaindex]
    assert list(map(notebook_runs.shown, langchain)) == list(map(notebook_runs.shown, llamaindex))


@pytest.mark.parametrize("name", notebook_runs.NAMES)
def test_a_reader_who_has_not_run_it_sees_tables_and_pictures(name: str) -> None:
    outputs = [each for cell in notebook_runs.read(name).cells for each in cell.get("outputs", [])]
    pages = [each["data"]["text/html"] for each in outputs if "text/html" in each.get("data", {})]

    assert len(pages) >= 2
    assert not any("<style" in page for page in pages)
    assert all("text-align:left" in page for page in pages)
    assert any("data:image/svg+xml" in page for page in pages)
    assert not any("widget-view" in kind for each in outputs for kind in each.get("data", {}))


@pytest.mark.parametrize("name", TWINS)
def test_the_first_answer_is_right_and_ours_is_above_the_stock_retriever(name: str) -> None:
    shown = all_of(name)

    assert shown.index("The dentist filled a tooth") < shown.index("2024-03-06 Wednesday")
    stock, ours = (
        [float(figure) for figure in re.findall(r"\d\.\d{3}", row)]
        for row in re.findall(r"│ (?:vector store|RecallRetriever) .*", shown)[:2]
    )
    assert all(one >= other for one, other in zip(ours, stock, strict=True))
    assert sum(ours) > sum(stock)


@pytest.mark.parametrize("name", notebook_runs.NAMES)
def test_what_the_text_claims_is_what_the_cells_show(name: str) -> None:
    cells, shown = notebook_runs.read(name).cells, all_of(name)
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")

    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert not re.search(r"benchmarks|sys.path|\.\./", code)  # it runs outside a checkout, too
    assert "explore(" in code
    assert set(re.findall(r"\b0\.\d{3}\b", text)) <= set(re.findall(r"\b0\.\d{3}\b", shown))


def test_no_notebook_reaches_the_network() -> None:
    reaches_out = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(reaches_out)])

    with pytest.raises(nbclient.exceptions.CellExecutionError, match="SocketConnectBlockedError"):
        notebook_runs.run(notebook)
