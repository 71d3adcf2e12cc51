"""How fast memories are loaded, how much memory that takes, and what reading event times costs.

    python -m benchmarks.loading --memories examples/memorybank/memories.jsonl [--rows 1000]
                                 [--rounds 3] [--json OUT]

One run, one process. First all rows are loaded into a store on a temporary path, as a user loads
them: with the default embedding, event times read, and a progress bar. ``rate`` is memories a
second, ``rss_mb`` the most of the machine's memory that the process has held up to then. The same
rows are then added once more: ``again_rate`` is how fast a load that was killed gets back to where
it ended, and ``embedded_again`` how many texts were embedded doing so.

Then up to a thousand of the texts are read for event times, and loaded into a store in memory that
does not read them. Both are done in turns, and the median of each counts. ``share`` is the reading,
divided by reading and loading together. A file with fewer texts than rows is gone through again
from its beginning, each time with a number behind its texts, so that no two are equal.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.output import json_file, write_json
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.store import RecallStore
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.timeline.event_times import event_times

_SOME = 1000  # memories over which reading is weighed against loading


class Loading(TypedDict):
    """What ``--json`` writes: milliseconds are those of one memory."""

    rows: int
    rate: float
    rss_mb: int
    again_rate: float
    embedded_again: int
    with_events: int
    loading_ms: float
    reading_ms: float
    share: float


class Counting:
    """The default embedding, and how many texts it was given."""

    def __init__(self) -> None:
        self._model = MiniLM()
        self.model_name = self._model.model_name
        self.texts = 0

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Count and embed."""
        self.texts += len(texts)
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed."""
        return self._model.embed_query(text)

    async def aembed_query(self, text: str) -> NDArray[np.float32]:
        """Embed in a thread."""
        return await self._model.aembed_query(text)


def measure(memories: Sequence[Memory], rounds: int) -> Loading:
    """Load some memories, load them again, and weigh reading against loading.

    Args:
        memories: What is stored; each has an id and a ``created_at``.
        rounds: How often.
    """
    embedding = Counting()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        RecallStore(folder, embedding=embedding) as store,
    ):
        first = _took(lambda: store.add(memories, progress=True)) / 1000
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        embedding.texts = 0
        again = _took(lambda: store.add(memories, progress=True)) / 1000
    some = memories[:_SOME]
    reading, loading = [], []
    for _ in progress_bar(range(rounds), desc="reading and loading", unit="rounds"):
        reading.append(_took(lambda: _read(some)) / len(some))
        loading.append(_took(lambda: _load(some)) / len(some))
    read, loaded = statistics.median(reading), statistics.median(loading)
    return {
        "rows": len(memories),
        "rate": round(len(memories) / first, 1),
        "rss_mb": rss,
        "again_rate": round(len(memories) / again, 1),
        "embedded_again": embedding.texts,
        "with_events": _read(memories),
        "loading_ms": round(loaded, 4),
        "reading_ms": round(read, 4),
        "share": round(read / (read + loaded), 4),
    }


def read_memories(file: Path, rows: int) -> list[Memory]:
    """That many memories of a file, its lines over and over."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    return [
        Memory(
            id=f"{number:08}",
            content=line["content"]
            + (f" ({number // len(lines)})" if number >= len(lines) else ""),
            created_at=line["created_at"],
        )
        for number, line in enumerate(islice(cycle(lines), rows))
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
        f"{result['rows']} memories, {result['rate']:.0f} a second, {result['rss_mb']} MB at most; "
        f"once more {result['again_rate']:.0f} a second, {result['embedded_again']} embedded again."
        f"\n{result['with_events']} with event times: {result['loading_ms']:.2f} ms each to load, "
        f"{result['reading_ms']:.2f} ms to read for event times: {result['share']:.1%} of the "
        "loading time.",
        soft_wrap=True,
    )
    write_json(given.json, result)


if __name__ == "__main__":
    main()
