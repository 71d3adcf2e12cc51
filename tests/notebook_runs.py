"""The notebooks run, without a network: for the tests, and to renew what they show.

    python tests/notebook_runs.py [NAME ...]

runs all of them, or those named, and keeps what they print.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))

# Every connection that Python makes is refused, but those of the kernel to this process.
_NO_NETWORK = """\
import pytest_socket

pytest_socket.socket_allow_hosts(["127.0.0.1", "localhost", "::1"], allow_unix_socket=True)"""


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


_ONCE = """
import sys
from pathlib import Path

sys.path.append({folder!r})
import embeds_once

embeds_once.keep_vectors(Path({kept!r}))"""


def run(notebook: nbformat.NotebookNode, vectors: Path | None = None) -> None:
    """Run every cell in an empty folder, and put what it shows in its place.

    Args:
        notebook: The notebook.
        vectors: The folder where vectors are kept for the next notebook; None = nowhere.
    """
    once = _ONCE.format(folder=str(Path(__file__).parent), kept=str(vectors)) if vectors else ""
    settings, first = notebook.metadata.copy(), new_code_cell(_NO_NETWORK + once)
    notebook.cells.insert(0, first)
    with TemporaryDirectory() as elsewhere:
        client = NotebookClient(
            notebook,
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": elsewhere}},
        )
        client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    notebook.cells.remove(first)
    notebook.metadata = settings  # without the versions of this machine
    # On standard error libraries warn of this machine, with its paths.
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
            for (
                each
            ) in cell.outputs:  # a widget lives as long as its kernel; the still picture stays
                each.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    for count, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
        cell.execution_count = count
        for each in cell.outputs:
            if each.output_type == "execute_result":
                each.execution_count = count


def shown(cell: nbformat.NotebookNode) -> list[str]:
    """The text of what a cell shows; pictures may differ from machine to machine."""
    return [
        each.get("text") or each.get("data", {}).get("text/plain", "")
        for each in cell.get("outputs", [])
    ]


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        for each in sys.argv[1:] or NAMES:
            renewed = read(each)
            run(renewed, Path(folder) / "vectors")
            nbformat.write(renewed, FOLDER / f"{each}.ipynb")
