"""How much of the loading time the reading of event times takes.

    python -m benchmarks.loading --memories examples/memorybank/memories.jsonl [--rows 1000]
                                 [--rounds 3] [--json OUT]

One run, one process: the texts are read for event times, and loaded into a store in memory that
does not read them, with the default embedding. Both are done in turns, and the median of each
counts. ``share`` is the reading, divided by reading and loading together. A file with fewer texts
than rows is gone through again from its beginning.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import TypedDict

from rich.console import Console

from benchmarks.output import json_file, write_json
from recall_stages.event_times import event_times
from recall_stages.memory import Memory
from recall_stages.store import RecallStore


class Loading(TypedDict):
    """What ``--json`` writes: milliseconds are those of one memory."""

    rows: int
    with_events: int
    loading_ms: float
    reading_ms: float
    share: float


def measure(memories: Sequence[Memory], rounds: int) -> Loading:
    """Read and load some memories, in turns.

    Args:
        memories: What is stored; each has a ``created_at``.
        rounds: How often.
    """
    _load(memories[:1])  # the first call of a process loads the model
    reading, loading = [], []
    for _ in range(rounds):
        reading.append(_took(lambda: _read(memories)) / len(memories))
        loading.append(_took(lambda: _load(memories)) / len(memories))
    read, loaded = statistics.median(reading), statistics.median(loading)
    return {
        "rows": len(memories),
        "with_events": _read(memories),
        "loading_ms": round(loaded, 4),
        "reading_ms": round(read, 4),
        "share": round(read / (read + loaded), 4),
    }


def read_memories(file: Path, rows: int) -> list[Memory]:
    """That many memories of a file, its lines over and over."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return [
        Memory(content=line["content"], created_at=line["created_at"])
        for line in islice(cycle(lines), rows)
    ]


def _read(memories: Sequence[Memory]) -> int:
    """How many of them tell of a time."""
    return sum(
        bool(event_times(each.content, each.created_at)) for each in memories if each.created_at
    )


def _load(memories: Sequence[Memory]) -> None:
    with RecallStore(event_times=False) as store:
        store.add(memories)


def _took(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.loading")
    parser.add_argument("--memories", type=Path, required=True, metavar="FILE")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    if given.rows < 1 or given.rounds < 1:
        parser.error("--rows and --rounds take a number from 1 on")
    if not given.memories.is_file():
        parser.error(f"{given.memories} is not there; --memories takes a JSONL file")
    result = measure(read_memories(given.memories, given.rows), given.rounds)
    Console().print(
        f"{result['rows']} memories, {result['with_events']} with event times: "
        f"{result['loading_ms']:.2f} ms each to load, {result['reading_ms']:.2f} ms to read for "
        f"event times: {result['share']:.1%} of the loading time.",
        soft_wrap=True,
    )
    write_json(given.json, result)


if __name__ == "__main__":
    main()
