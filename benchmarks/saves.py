"""How long a kill hurts: the part of a load in which Chroma saves its index.

    python -m benchmarks.saves [--rows 20000] [--threshold 250 1000 4000] [--batch 250] [--json OUT]

Chroma saves an index in place after every ``sync_threshold`` rows. A process that is killed in a
save leaves it torn, and `recall repair` must build it again. For each threshold, made-up vectors
are loaded into a collection of raw Chroma. ``saving`` is the time from the first to the last file
of each save, all saves together, in seconds; ``share`` is that time divided by the whole load.
``one_by_one`` is how long single rows take afterwards, in milliseconds: every write reads again
what was not saved yet.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

import chromadb
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.output import json_file, write_json
from benchmarks.synthetic import synthesise

_HEADER, _NAMES = "header.bin", "index_metadata.pickle"  # the first and the last file of a save
_SINGLE = 50  # rows written one by one


class Saves(TypedDict):
    """One line of the table, and of what ``--json`` writes."""

    threshold: int
    rate: float
    saves: int
    saving: float
    share: float
    longest_ms: float
    one_by_one: float


def measure(rows: int, threshold: int, batch: int) -> Saves:
    """Load rows into a collection with a threshold."""
    vectors = synthesise(rows + _SINGLE, 1).embedding.vectors
    configuration: Any = {"hnsw": {"space": "cosine", "sync_threshold": threshold}}
    with tempfile.TemporaryDirectory() as path:
        client: Any = chromadb.PersistentClient(path)
        collection = client.create_collection(
            "saves", configuration=configuration, embedding_function=None
        )
        seen: dict[int, float] = {}
        began = time.perf_counter()
        for start in range(0, rows, batch):
            _write(collection, start, vectors[start : min(start + batch, rows)])
            seen |= _last_save(Path(path))
        took = time.perf_counter() - began
        began = time.perf_counter()
        for place in range(rows, rows + _SINGLE):
            _write(collection, place, vectors[place : place + 1])
        single = time.perf_counter() - began
        client.close()
    return {
        "threshold": threshold,
        "rate": rows / took,
        "saves": len(seen),
        "saving": sum(seen.values()),
        "share": sum(seen.values()) / took,
        "longest_ms": 1000 * max(seen.values(), default=0),
        "one_by_one": 1000 * single / _SINGLE,
    }


def _write(collection: Any, start: int, vectors: np.ndarray[Any, Any]) -> None:
    ids = [f"row {start + place}" for place in range(len(vectors))]
    collection.upsert(ids=ids, embeddings=vectors, documents=ids)


def _last_save(path: Path) -> dict[int, float]:
    """How long the last save took, by the time at which it ended."""
    for names in path.glob(f"*/{_NAMES}"):
        ended = names.stat().st_mtime_ns
        return {ended: (ended - (names.parent / _HEADER).stat().st_mtime_ns) / 1e9}
    return {}


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.saves")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--threshold", type=int, nargs="+", default=[250, 1_000, 4_000])
    parser.add_argument("--batch", type=int, default=250)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    measured = [measure(given.rows, each, given.batch) for each in given.threshold]
    table = Table(*Saves.__annotations__, title=f"{given.rows} rows, {given.batch} a call")
    for each in measured:
        table.add_row(*(f"{value:.3g}" for value in each.values()))
    Console().print(table)
    write_json(given.json, measured)


if __name__ == "__main__":
    main()
