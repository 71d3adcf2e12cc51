"""What the first answer costs after opening, and how much memory that needs.

    python -m benchmarks.opening [--rows 10000,100000] [--folder FOLDER] [--rounds 3]
                                 [--minutes 60] [--json OUT] [--page docs/how_it_grows.md]

A collection of each size is built once under ``--folder`` (see `made_collection`: the vectors are
made, Chroma writes the rows) and kept, so that a second run need not build it. A size that is not
built within ``--minutes`` is left out; run it again to go on.

Every figure is of a process of its own, on files that the machine has in its memory:

- ``chroma``: chromadb alone opens the path and answers one raw query. What it holds is the base.
- ``langchain_chroma``: ``similarity_search`` of a store that was just opened.
- ``recall, building``: our retriever where Chroma has all rows and the row index does not exist.
- ``recall``: our retriever after that: the median of ``--rounds`` processes.

The processes take turns, and times are processor time. ``first_s`` are the seconds from opening to
the first answer, ``hybrid_s`` those to the first answer by meaning *and* words (an answer while
rows are still read says that it is less); ``open_s`` is their part before the question.
``next_ms`` is the median of the questions after that. ``beyond_mb`` is the resident memory beyond
that of ``chroma``, ``peak_beyond_mb`` the most of it. ``ask_s`` is ``recall ask`` as a whole
process, with the default embedding; ``ask_of_100_s`` the same on a hundred rows. ``--page``
writes them into the table of a page.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.grown_page import write_opening
from benchmarks.kept_collection import NAME, Kept, client_of
from benchmarks.made_collection import NotBuiltError, made
from benchmarks.opening_process import SYSTEMS, K, Opened
from benchmarks.output import json_file, write_json
from benchmarks.report import print_opening

_WAITS = 1800.0  # seconds within which a process must answer
_SMALL = 100  # rows of the collection that shows what `recall ask` takes for nothing


def measure(folder: Path, rows: int, rounds: int, minutes: float) -> dict[str, object]:
    """All figures of one size; what ``--json`` writes for it."""
    data = made(folder, rows, minutes)
    small = made(folder, _SMALL, minutes)
    _forget_index(data.path)
    building = _process("recall", data)
    turns = [{name: _process(name, data) for name in SYSTEMS} for _ in range(rounds)]
    systems = {"recall, building": building} | {
        name: _medians([turn[name] for turn in turns]) for name in SYSTEMS
    }
    base = systems["chroma"]
    return {
        "systems": {
            name: {
                **each,
                "beyond_mb": round(each["rss_mb"] - base["rss_mb"], 1),
                "peak_beyond_mb": round(each["peak_mb"] - base["peak_mb"], 1),
            }
            for name, each in systems.items()
        },
        "ask_s": _asked(data, rounds),
        "ask_of_100_s": _asked(small, rounds),
    }


def _medians(runs: Sequence[Opened]) -> Opened:
    return {key: round(statistics.median(each[key] for each in runs), 3) for key in runs[0]}


def _process(system: str, data: Kept) -> Opened:
    ran = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "benchmarks.opening_process", system, data.path],
        check=True,
        stdout=subprocess.PIPE,
        timeout=_WAITS,
    )
    result: Opened = json.loads(ran.stdout.splitlines()[-1])
    return result


def _asked(data: Kept, rounds: int) -> float:
    """Seconds of processor time that `recall ask` takes as a whole process."""
    took = []
    for number in range(rounds):
        before = os.times()
        question = data.questions[number % len(data.questions)]
        command = ["-m", "langchain_recall", "ask", "--chroma", str(data.path), question]
        subprocess.run(  # noqa: S603 - our own module
            [sys.executable, *command], check=True, stdout=subprocess.DEVNULL, timeout=_WAITS
        )
        after = os.times()
        user, system = (after[field] - before[field] for field in (2, 3))  # of our children
        took.append(user + system)
    return round(statistics.median(took), 2)


def _forget_index(path: Path) -> None:
    """Delete the row index: the next process has to build it."""
    with client_of(path) as client:
        collection = client.get_collection(NAME, embedding_function=None).id
    shutil.rmtree(path / ".recall" / str(collection), ignore_errors=True)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.opening")
    parser.add_argument("--rows", default="10000,100000", metavar="N,N")
    parser.add_argument("--folder", type=Path, help="where they are kept (nowhere)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60, help="for building one size")
    parser.add_argument("--json", type=json_file)
    parser.add_argument("--page", type=Path, metavar="FILE.md")
    given = parser.parse_args(argv)
    sizes = [int(each) for each in given.rows.split(",")]
    if min(sizes) < K or given.rounds < 1:
        parser.error(f"--rows takes numbers from {K} on, --rounds from 1 on")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as nowhere:
        folder = given.folder or Path(nowhere)
        by_rows: dict[str, dict[str, object]] = {}
        for rows in sizes:
            try:
                by_rows[str(rows)] = measure(folder, rows, given.rounds, given.minutes)
            except NotBuiltError as error:
                by_rows[str(rows)] = {"left_out": str(error)}
    result = {"k": K, "rounds": given.rounds, "by_rows": by_rows}
    print_opening(result)
    if given.page is not None:
        write_opening(given.page, by_rows)
    write_json(given.json, result)


if __name__ == "__main__":
    main()
