"""One process of `opening`: it opens a path, asks, looks at its memory, and prints that.

python -m benchmarks.opening_process SYSTEM PATH
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.kept_collection import NAME, Kept, client_of, read_kept

K = 10
_NEXT = 15  # questions after the first
_WAYS: dict[str, dict[str, Any]] = {  # what else ours is asked, beside all of it
    "meaning_ms": {"method": "semantic"},
    "words_ms": {"method": "keyword"},
    "user_ms": {"scope": {"user_id": "user7"}},
    "month_ms": {"time_range": ("2023-03-01", "2023-04-01")},
}


Opened = dict[str, float]
"""Seconds of processor time to open, until the first answer and until the first full one; then the
rest; memory in MB."""


def _chroma(data: Kept) -> Opened:
    started = time.process_time()
    with client_of(data.path) as client:
        collection = client.get_collection(NAME, embedding_function=None)
        opened = time.process_time() - started
        vectors = data.embedding.vectors

        def ask(number: int) -> bool:
            collection.query(query_embeddings=vectors[[number]], n_results=K)
            return True

        return _timed(opened, ask)


def _langchain_chroma(data: Kept) -> Opened:
    from langchain_chroma import Chroma  # noqa: PLC0415 - the other processes do without

    started = time.process_time()
    stock = Chroma(NAME, data.embedding, persist_directory=str(data.path))  # type: ignore[arg-type]  # it has the two methods
    opened = time.process_time() - started
    return _timed(opened, lambda n: bool(stock.similarity_search(data.questions[n], k=K)))


def _recall(data: Kept) -> Opened:
    from langchain_recall import RecallRetriever, RecallStore  # noqa: PLC0415 - as above

    started = time.process_time()
    with RecallStore(data.path, NAME, embedding=data.embedding, event_times=False) as store:
        retriever = RecallRetriever(store=store, k=K, everyone=True)
        opened = time.process_time() - started

        def ask(number: int, **options: object) -> bool:
            found = retriever.invoke(data.questions[number], **options)
            return not any("recall_degraded" in each.metadata for each in found)

        timed = _timed(opened, ask)
        ways = {way: _next_ms(partial(ask, **how)) for way, how in _WAYS.items()}
        return timed | ways


def _timed(opened: float, ask: Callable[[int], bool]) -> Opened:
    """Ask until an answer is full, and then further questions.

    Args:
        opened: Seconds that opening took; they count for the answers.
        ask: Asks a question, and returns whether the answer was full.
    """
    started = time.process_time() - opened
    full = ask(0)
    first = time.process_time() - started
    while not full:
        time.sleep(0.2)  # to ask again and again would be most of the cost
        full = ask(0)
    hybrid = time.process_time() - started
    rss, peak = memory()
    return {
        "open_s": round(opened, 3),
        "first_s": round(first, 3),
        "hybrid_s": round(hybrid, 3),
        "next_ms": _next_ms(ask),
        "rss_mb": rss,
        "peak_mb": peak,
    }


def _next_ms(ask: Callable[[int], bool]) -> float:
    took = []
    for number in range(1, 1 + _NEXT):
        before = time.process_time()
        ask(number)
        took.append(time.process_time() - before)
    return round(1000 * statistics.median(took), 2)


def memory() -> tuple[float, float]:
    """Megabytes that this process holds, and the most that it held; Linux counts them."""
    status = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines()
    )
    now, peak = (int(status[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
    return round(now, 1), round(peak, 1)


SYSTEMS = {"chroma": _chroma, "langchain_chroma": _langchain_chroma, "recall": _recall}

if __name__ == "__main__":
    print(json.dumps(SYSTEMS[sys.argv[1]](read_kept(Path(sys.argv[2])))))
