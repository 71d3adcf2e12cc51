"""How long a search takes, beside raw Chroma and stock langchain-chroma, on one collection.

    python -m benchmarks.latency [--rows 10000,100000] [--queries 100] [--json OUT]
                                 [--picture FILE.svg]

One run, one process, one persistent collection in a temporary folder; the systems take turns query
by query, in an order dealt anew for each, after a warm-up. Vectors are given for free to all (see
`synthetic`), so what is measured is the search and what each system does around it, k=10:

- ``raw``: ``collection.query``; ``langchain_chroma``: ``Chroma.similarity_search``;
- ``recall``: our LangChain retriever as it comes (hybrid), without a model;
- ``recall_store``: ``RecallStore.find`` by meaning, which answers what the others answer;
- with a time range that holds 1 %, 10 % or 50 % of the rows: the first two with ``$gte`` and
  ``$lt`` on ``created_at`` in the where clause; ours with ``time_range``, as ``recall_require``
  (only that time, as the others do) and ``recall_prefer`` (the default: the whole and that time);
- with a filter that a tenth of the rows fulfil; ``recall_unfiltered`` is the same without it.

``ratio_to_raw`` and ``ratio_to_langchain_chroma`` divide medians. ``found_of_exact`` is the share
of the ten nearest, by looking at every row, that a system returned. ``first_question_ms`` is the
first hybrid question after the store was opened anew. ``--picture`` draws the medians against the
rows.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from langchain_chroma import Chroma

from benchmarks.latency_picture import draw
from benchmarks.output import json_file, write_json
from benchmarks.report import print_latency
from benchmarks.synthetic import SyntheticRows, synthesise
from langchain_recall import Memory, RecallRetriever, RecallStore
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.stage import Search
from recall_retrievers.timeline import TimeRange

Window = tuple[datetime, datetime] | None
System = Callable[[str, Window], object]


class Measured(TypedDict):
    """What was measured on one number of rows."""

    first_question_ms: float
    cases: dict[str, dict[str, dict[str, float]]]


_K = 10
_WARM_UP = 5
_PART = 10_000  # memories in one call
_NAME = "memories"
_CASES = {
    "unfiltered": None,
    "range_1_percent": 0.01,
    "range_10_percent": 0.1,
    "range_50_percent": 0.5,
    "filter_10_percent": None,
}
_FILTERED = "filter_10_percent"
_FILTER: dict[str, Any] = {"stars": {"$gte": 9}}
_FITTING = slice(9, None, 10)  # the rows that fulfil it
_EXACT = ("raw", "recall_store")  # those that answer by similarity alone


def measure(rows: int, queries: int) -> Measured:
    """Fill a collection and time every case; medians and ratios by case."""
    data = synthesise(rows, queries + _WARM_UP)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        _client(folder) as client,
    ):
        with _store(client, data) as store:
            for start in range(0, rows, _PART):
                store.add(
                    [
                        Memory(
                            content=data.texts[number],
                            created_at=data.times[number],
                            memory_type="conversation",
                            metadata={"stars": number % 10},
                        )
                        for number in range(start, min(start + _PART, rows))
                    ],
                    progress=True,
                )
            cases = {
                case: _measure_case(_systems(client, store, data, case), data, case)
                for case in _CASES
            }
        with _store(client, data) as store:
            started = time.perf_counter()
            RecallRetriever(store=store, k=_K).invoke(data.questions[0])
            first = 1000 * (time.perf_counter() - started)
    return {"first_question_ms": round(first, 1), "cases": cases}


def _store(client: ClientAPI, data: SyntheticRows) -> RecallStore:
    # The texts tell of no times, and reading them for some would be all that loading costs.
    return RecallStore(client, _NAME, embedding=data.embedding, event_times=False)


@contextmanager
def _client(folder: str) -> Iterator[ClientAPI]:
    client = chromadb.PersistentClient(folder)
    yield client
    client.close()  # type: ignore[attr-defined]  # the class behind the interface has it


def _systems(
    client: ClientAPI, store: RecallStore, data: SyntheticRows, case: str
) -> dict[str, System]:
    given = _FILTER if case == _FILTERED else None
    raw = client.get_collection(_NAME)
    stock = Chroma(_NAME, client=client, embedding_function=data.embedding)  # type: ignore[arg-type]  # it has the two methods
    ours = RecallRetriever(store=store, k=_K, timezone="UTC")
    vectors = {
        text: data.embedding.vectors[[data.embedding.known[text]]] for text in data.questions
    }

    def found(search: Search) -> list[Memory]:
        return store.find([search])[0]

    others: dict[str, System] = {
        "raw": lambda text, window: raw.query(
            query_embeddings=vectors[text], n_results=_K, where=given or _where(window)
        ),
        "langchain_chroma": lambda text, window: stock.similarity_search(
            text, k=_K, filter=given or _where(window)
        ),
    }
    if given is not None:
        others["recall_unfiltered"] = lambda text, _: ours.invoke(text)
    if _CASES[case] is None:
        return {
            **others,
            "recall": lambda text, _: ours.invoke(text, filter=given),
            "recall_store": lambda text, _: found(Search(text, _K, filter=given)),
        }
    return {
        **others,
        "recall_require": lambda text, window: ours.invoke(
            text, time_range=window, time_mode="require"
        ),
        "recall_prefer": lambda text, window: ours.invoke(text, time_range=window),
        "recall_store": lambda text, window: store.find([Search(text, _K, within=_span(window))])[
            0
        ],
    }


def _measure_case(
    systems: dict[str, System], data: SyntheticRows, case: str
) -> dict[str, dict[str, float]]:
    share, among = _CASES[case], _FITTING if case == _FILTERED else slice(None)
    took: dict[str, list[float]] = {name: [] for name in systems}
    found: dict[str, list[float]] = {name: [] for name in _EXACT}
    order = np.random.default_rng(0)
    for number, text in enumerate(progress_bar(data.questions, unit="queries")):
        # Another part of the two years each time, in an order that does not walk through them.
        place = number * 0.618034 % 1
        window = None if share is None else data.window(share, place)
        nearest = data.nearest(text, window, _K, among)
        # Whoever follows another finds warm what that one has read. In one order, begun by each in
        # turn, langchain-chroma came right after raw Chroma three times of four, and seemed to be
        # quicker than the very call it makes.
        for name in order.permutation(list(systems)):
            started = time.perf_counter()
            answer = systems[name](text, window)
            took[name].append(1000 * (time.perf_counter() - started))
            if name in _EXACT:
                found[name].append(len(nearest & _texts(answer)) / len(nearest))
    medians = {name: round(statistics.median(each[_WARM_UP:]), 4) for name, each in took.items()}
    shares = {name: round(statistics.mean(each), 4) for name, each in found.items()}
    return {**_ratios(medians), "found_of_exact": shares}


def _texts(answer: Any) -> set[str]:
    if isinstance(answer, list):
        return {memory.content for memory in answer}
    return set(answer["documents"][0])


def _span(window: Window) -> tuple[TimeRange, ...]:
    return () if window is None else (TimeRange(*window, "day"),)


def _ratios(medians: dict[str, float]) -> dict[str, dict[str, float]]:
    return {
        "median_ms": medians,
        **{
            f"ratio_to_{other}": {
                name: round(each / medians[other], 4) for name, each in medians.items()
            }
            for other in ("raw", "langchain_chroma")
        },
    }


def _where(window: Window) -> Any:
    if window is None:
        return None
    start, end = (int(moment.timestamp() * 1000) for moment in window)
    return {"$and": [{"created_at": {"$gte": start}}, {"created_at": {"$lt": end}}]}


def _row_counts(given: str) -> list[int]:
    counts = [int(part) for part in given.split(",")]
    if min(counts) < _K:
        raise ValueError(given)
    return counts


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.latency")
    parser.add_argument("--rows", type=_row_counts, default=[10_000], metavar="N,N")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--json", type=json_file)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    given = parser.parse_args(argv)
    if given.queries < 1:
        parser.error("--queries takes a number from 1 on")
    result = {
        "k": _K,
        "queries": given.queries,
        "by_rows": {str(rows): measure(rows, given.queries) for rows in given.rows},
    }
    print_latency(result)
    if given.picture is not None:
        given.picture.write_text(draw(result["by_rows"]), encoding="utf-8")
    write_json(given.json, result)


if __name__ == "__main__":
    main()
