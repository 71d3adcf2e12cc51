"""The notebooks run from top to bottom, say what is committed, and are twins."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
NAMES = ["langchain_recall", "llamaindex_recall"]


def _read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_says_what_is_committed(name: str) -> None:
    committed, fresh = _read(name), _read(name)

    NotebookClient(fresh, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()

    for before, after in zip(committed.cells, fresh.cells, strict=True):
        if before.cell_type == "code":
            assert _shown(after) == _shown(before), before.source


def test_the_notebooks_are_twins() -> None:
    langchain, llamaindex = (_read(name).cells for name in NAMES)

    assert [cell.cell_type for cell in langchain] == [cell.cell_type for cell in llamaindex]
    assert [_shown(cell) for cell in langchain] == [_shown(cell) for cell in llamaindex]


def _shown(cell: nbformat.NotebookNode) -> list[str]:
    outputs = cell.get("outputs", [])
    return [each.get("text") or each.get("data", {}).get("text/plain", "") for each in outputs]
