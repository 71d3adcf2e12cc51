"""What an installation weighs, and how long an import or the start of a command takes.

    python -m benchmarks.footprint [--rounds 3] [--json OUT]

Megabytes are those of the files of every distribution that ``recall-retrievers`` with an extra
pulls in, as they are installed here; nothing is fetched. An import or a command is timed in a
process of its own: the processor's time, less what Python takes for nothing; the median counts. A
server is timed until its client has the answer to `initialize`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from rich.console import Console
from rich.table import Table

from benchmarks.output import json_file, write_json

EXTRAS = ("", "chroma,embedding", "langchain", "llamaindex", "all")
IMPORTS = {
    "langchain_recall": "import langchain_recall",
    "llamaindex_recall": "import llamaindex_recall",
    "langchain_recall.RecallRetriever": "from langchain_recall import RecallRetriever",
    "llamaindex_recall.RecallRetriever": "from llamaindex_recall import RecallRetriever",
    "langchain_core.retrievers alone": "import langchain_core.retrievers",
    "llama_index.core alone": "import llama_index.core",
    "chromadb, when a store is opened": "import chromadb",
    "langchain_chroma alone": "import langchain_chroma",
}
_RUN = "from recall_retrievers.cli import main; main('recall', {})"
COMMANDS = {
    "`recall time`": _RUN.format(["time", "last Tuesday"]),
    "`recall mcp`, until it answers": _RUN.format(["mcp", "no-folder"]),
}
_CLIENT = {"capabilities": {}, "clientInfo": {"name": "footprint", "version": "1"}}
_PARAMS = {"protocolVersion": "2025-06-18", **_CLIENT}
_INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _PARAMS}


def required(extra: str) -> list[Distribution]:
    """The distributions that our wheel with one extra pulls in, ours left out."""
    found: dict[str, Distribution] = {}
    done: set[str] = set()
    wanted = [Requirement(f"recall-retrievers[{extra}]" if extra else "recall-retrievers")]
    while wanted:
        requirement = wanted.pop()
        if str(requirement) in done:
            continue
        done.add(str(requirement))
        installed = distribution(requirement.name)
        found[installed.name] = installed
        for needed in map(Requirement, installed.requires or []):
            asked_for = ({"extra": each} for each in requirement.extras or {""})
            if not needed.marker or any(needed.marker.evaluate(each) for each in asked_for):
                wanted.append(needed)
    del found["recall-retrievers"]
    return list(found.values())


def megabytes(distributions: Sequence[Distribution]) -> float:
    """The files of some distributions together, byte code left out."""
    files = {
        Path(str(path.locate()))
        for each in distributions
        for path in each.files or []
        if path.suffix != ".pyc"
    }
    return sum(path.stat().st_size for path in files if path.is_file()) / 2**20


def milliseconds(code: str, rounds: int, *, serves: bool = False) -> float:
    """The median of what a new Python computes for some code, or for its first answer."""
    took = []
    for _ in range(rounds + 1):  # the first finds the files cold
        before, answered = os.times(), False
        with subprocess.Popen(  # noqa: S603 - our own code
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            if serves and process.stdin and process.stdout:
                process.stdin.write(f"{json.dumps(_INITIALIZE)}\n")
                process.stdin.flush()
                answered = process.stdout.readline().startswith("{")
                process.kill()
            process.communicate()
        if not answered if serves else process.returncode:
            raise RuntimeError(f"it failed: {code}")
        after = os.times()
        spent = (after.children_user - before.children_user) + (
            after.children_system - before.children_system
        )
        took.append(1000 * spent)
    return statistics.median(took[1:])


def measure(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """The weight of each extra and the time of each import; what ``--json`` writes."""
    nothing = milliseconds("pass", rounds)
    weights = {extra: required(extra) for extra in EXTRAS}
    return {
        "installation": {
            extra: {"mb": round(megabytes(each)), "packages": len(each)}
            for extra, each in weights.items()
        },
        "imports": {
            name: {"ms": round(milliseconds(code, rounds, serves="mcp" in name) - nothing)}
            for name, code in {**IMPORTS, **COMMANDS}.items()
        },
    }


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.footprint")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    if given.rounds < 1:
        parser.error("--rounds takes a number from 1 on")
    result = measure(given.rounds)
    table = Table("installed", "MB", "packages")
    for extra, figures in result["installation"].items():
        name = f"recall-retrievers[{extra}]" if extra else "recall-retrievers"
        table.add_row(name, str(figures["mb"]), str(figures["packages"]))
    imports = Table("import or command", "ms")
    for name, figures in result["imports"].items():
        imports.add_row(name, str(figures["ms"]))
    console = Console()
    console.print(table, imports, markup=False)
    write_json(given.json, result)


if __name__ == "__main__":
    main()
