"""What each part of the search is worth: every one switched off in turn, on data in a folder.

    python -m benchmarks.ablation --data DIR [--data DIR ...] [--face langchain|llamaindex]
                                  [--json OUT]

The questions are asked as they are (``--time parser`` of benchmarks.retrieval), through the public
retriever, with its defaults but for the part that is off:

- ``dense``: keyword search alone; ``keyword``: search by meaning alone.
- ``context``: each memory stored for itself, without what was said before it.
- ``fusion``: fused by rank instead of by score.
- ``time window``: the time that a question names is not read.
- ``event time``: the times that memories tell of are not read.
- ``type``, ``author``: neither kind nor speaker of a memory counts.
- ``session``: what else was said in its session does not count.
- ``duplicates``: copies and near-copies stay.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypedDict

from rich.console import Console
from rich.table import Table

from benchmarks.datasets import DataError, RetrievalSet, read_retrieval_set
from benchmarks.embedding import OncePerText
from benchmarks.faces import FACES, Face
from benchmarks.output import json_file, write_json
from benchmarks.retrieval import TimeUse, ask_all, open_store, scores
from recall_stages.evaluation.metrics import Figures
from recall_stages.stages.extract_time import ExtractTime
from recall_stages.stages.fuse_rerank import FuseRerank
from recall_stages.store import RecallStore

_ALL = "nothing"
_SHOWN = ("recall@5", "recall@10")


class Part(TypedDict, total=False):
    """What is different when a part is off."""

    settings: Mapping[str, object]
    store: Mapping[str, bool]
    time: TimeUse


def _fused(**ratios: Any) -> Part:
    return {"settings": {"stages": [ExtractTime(), FuseRerank(**ratios)]}}


PARTS: dict[str, Part] = {
    _ALL: {},
    "dense": {"settings": {"method": "keyword"}},
    "keyword": {"settings": {"method": "semantic"}},
    "context": {"store": {"context": False}},
    "fusion": {"settings": {"fusion": "ranks"}},
    "time window": {"time": "none"},
    "event time": {"store": {"event_times": False}},
    "type": _fused(fuse_ratio_dict={}),
    "author": _fused(fuse_author_ratio=1.0, fuse_role_ratio_dict={}),
    "session": _fused(fuse_session_share=0.0),
    "duplicates": {"settings": {"duplicate_threshold": None}},
}


def measure(data: RetrievalSet, face: Face, vectors: OncePerText) -> dict[str, Figures]:
    """The figures over all questions of a set, by the name of the part that was off."""
    figures: dict[str, Figures] = {}
    loaded: dict[tuple[tuple[str, bool], ...], dict[str, RecallStore]] = {}
    with ExitStack() as stack:
        for name, part in PARTS.items():
            how = part.get("store", {})
            stores = loaded.setdefault(tuple(how.items()), {})
            for corpus in data.corpora:
                if corpus not in stores:
                    opened = open_store(data, corpus, vectors, **how)
                    stores[corpus] = stack.enter_context(opened)
            settings: Mapping[str, Any] = part.get("settings", {})
            found, _ = ask_all(data, face, part.get("time", "parser"), stores, **settings)
            figures[name] = scores(data.questions, found)["overall"]
    return figures


def show(results: Mapping[str, Mapping[str, Figures]]) -> None:
    """A table for a person: a row for each part, a column for each set."""
    table = Table("off", title=" / ".join(_SHOWN))
    for name in results:
        table.add_column(name, justify="right", no_wrap=True)
    for part in PARTS:
        cells = []
        for figures in results.values():
            shown = " / ".join(f"{figures[part][each]:.3f}" for each in _SHOWN)
            lost = figures[part][_SHOWN[0]] - figures[_ALL][_SHOWN[0]]
            cells.append(shown if part == _ALL else f"{shown} {lost:+.3f}")
        table.add_row(part, *cells)
    console = Console()
    console.width = max(console.width, 30 * (1 + len(results)))
    console.print(table)
    console.print(f"Beside each figure: the difference in {_SHOWN[0]} to nothing off.")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.ablation")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--face", choices=FACES, default="langchain")
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        sets = [read_retrieval_set(folder) for folder in given.data]
    except DataError as error:
        parser.error(str(error))
    vectors = OncePerText()
    results = {data.name: measure(data, given.face, vectors) for data in sets}
    show(results)
    write_json(given.json, results)


if __name__ == "__main__":
    main()
