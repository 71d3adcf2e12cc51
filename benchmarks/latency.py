"""What a question, an added memory, opening and a folder cost, beside what people use instead.

    python -m benchmarks.latency [--data DIR] [--rows 1000,10000] [--questions 100]
                                 [--vectors FILE] [--json OUT]

The memories are those of ``real_rows``. Every system embeds the question itself, with the same
model, and returns ten memories. The systems take turns question by question, in an order dealt
anew for each, in one process, after a warm-up:

- ``recall``: our LangChain retriever as it comes: by meaning, by words and by token vectors;
- ``recall_meaning``: the same retriever with ``method="semantic"``;
- ``langchain_chroma``: ``Chroma.similarity_search`` on a collection as it makes one;
- those of ``rivals`` that are installed: ``pip install --group rivals``.

A question is asked of all memories (``all``), of those of one user of twenty (``one_user``), and of
a tenth of the time (``a_time``: ours prefers it, as it comes; the others filter). Each time it is
embedded anew, for ours as well. Then each adds memories one by one, whose vectors are known
(``add``), and is opened, asked once and closed in this process (``open``).

``cost`` is the median of the milliseconds of processor time of the whole process, and for ``disk``
the kilobytes of a memory in the folder. ``ratio`` is the cost divided by ``langchain_chroma``'s.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, TypeVar

import chromadb
import numpy as np
from langchain_chroma import Chroma

from benchmarks import rivals
from benchmarks.output import json_file, write_json
from benchmarks.real_rows import USERS, RealRows, real_rows, user_of
from benchmarks.report import print_latency
from langchain_recall import Memory, RecallRetriever, RecallStore, Scope
from recall_retrievers.core.progress import progress_bar

K = 10
_WARM_UP, _ADDED, _OPENED = 5, 45, 15  # turns; the second and third are with the warm-up
_PART = 5_000  # memories in one call
_CASES = ("all", "one_user", "a_time")
_BASELINE = "langchain_chroma"

T = TypeVar("T")


class Asked(NamedTuple):
    """A question, and the memories that it is asked of; None = any user, any time."""

    text: str
    user: str | None = None
    during: tuple[datetime, datetime] | None = None


System = Callable[[Asked], Sequence[str]]
"""Returns the texts of the memories that answer."""


class Figures(TypedDict):
    """What was measured of one system in one case."""

    cost: float
    ratio: float


def measure(data: RealRows) -> dict[str, dict[str, Figures]]:
    """Fill the stores, ask them, add to them and open them again; figures by case and system."""
    measured: dict[str, dict[str, Figures]] = {}
    # Added later: the texts of the first memories under new ids, for their vectors are known.
    rows, new = range(len(data.texts)), range(len(data.texts), len(data.texts) + _ADDED)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with ExitStack() as opened:
            store, stock = opened.enter_context(_ours(data, folder)), _stock(data, folder, opened)
            for start in progress_bar(rows[::_PART], desc="storing", unit="parts"):
                store.add([_memory(data, row) for row in rows[start : start + _PART]])
                _add_stock(stock, data, rows[start : start + _PART])
            systems = {**_systems(store, stock), **rivals.systems(data, folder, opened, K)}
            for case in _CASES:
                measured[case] = _questions(systems, data, case)
            adding: dict[str, Callable[[int], object]] = {
                "recall": lambda row: store.add([_memory(data, row)]),
                _BASELINE: lambda row: _add_stock(stock, data, [row]),
            }
            measured["add"] = _in_turns(adding, new, "add")
        opening: dict[str, Callable[[str], object]] = {
            "recall": lambda text: _opened_ours(data, folder, text),
            _BASELINE: lambda text: _opened_stock(data, folder, text),
        }
        measured["open"] = _in_turns(opening, data.questions[:_OPENED], "open")
        measured["disk"] = _figures(
            {name: [_bytes(folder / name) / 1024 / new.stop] for name in opening}
        )
    return measured


def _ours(data: RealRows, folder: Path) -> RecallStore:
    return RecallStore(folder / "recall", embedding=data.embedding)


def _stock(data: RealRows, folder: Path, opened: ExitStack) -> Chroma:
    client: Any = chromadb.PersistentClient(str(folder / _BASELINE))
    opened.enter_context(closing(client))
    return Chroma("stock", data.embedding.for_langchain(), client=client)


def _opened_ours(data: RealRows, folder: Path, text: str) -> None:
    with _ours(data, folder) as store:
        RecallRetriever(store=store, k=K, timezone="UTC").invoke(text)


def _opened_stock(data: RealRows, folder: Path, text: str) -> None:
    with ExitStack() as opened:
        _stock(data, folder, opened).similarity_search(text, k=K)


def _bytes(folder: Path) -> int:
    # What the disk holds, not how long the files are: that of our vectors has holes.
    return sum(512 * each.stat().st_blocks for each in folder.rglob("*"))


def _memory(data: RealRows, row: int) -> Memory:
    return Memory(
        id=f"{row:07}",
        content=data.text(row),
        created_at=data.time(row),
        memory_type="conversation",
        scope=Scope(user_id=user_of(row)),
    )


def _add_stock(stock: Chroma, data: RealRows, rows: Sequence[int]) -> None:
    stock.add_texts(
        [data.text(row) for row in rows],
        [{"user_id": user_of(row), "created_at": data.time(row).timestamp()} for row in rows],
        [f"{row:07}" for row in rows],
    )


def _systems(store: RecallStore, stock: Chroma) -> dict[str, System]:
    retriever = RecallRetriever(store=store, k=K, timezone="UTC")

    def ours(asked: Asked, **settings: Any) -> list[str]:
        scope = Scope() if asked.user is None else Scope(user_id=asked.user)
        found = retriever.invoke(asked.text, scope=scope, time_range=asked.during, **settings)
        return [each.page_content for each in found]

    def similar(asked: Asked) -> list[str]:
        conditions: list[dict[str, Any]] = []
        if asked.user is not None:
            conditions.append({"user_id": asked.user})
        if asked.during is not None:
            first, end = (each.timestamp() for each in asked.during)
            conditions += [{"created_at": {"$gte": first}}, {"created_at": {"$lt": end}}]
        where: Any = conditions[0] if len(conditions) == 1 else {"$and": conditions}
        found = stock.similarity_search(asked.text, k=K, filter=where if conditions else None)
        return [each.page_content for each in found]

    return {
        "recall": ours,
        "recall_meaning": lambda asked: ours(asked, method="semantic"),
        _BASELINE: similar,
    }


def _questions(systems: dict[str, System], data: RealRows, case: str) -> dict[str, Figures]:
    able = {x: y for x, y in systems.items() if case == "all" or x not in rivals.WITHOUT_CONDITIONS}
    asked = [_asked(data, case, number, text) for number, text in enumerate(data.questions)]
    return _in_turns(able, asked, case)


def _asked(data: RealRows, case: str, number: int, text: str) -> Asked:
    """A question of a case."""
    if case == "one_user":
        return Asked(text, user_of(number))
    if case == "a_time":
        width = len(data.texts) // 10
        first = int((len(data.texts) - width - 1) * (number * 0.618034 % 1))
        return Asked(text, during=(data.time(first), data.time(first + width)))
    return Asked(text)


def _in_turns(
    actions: Mapping[str, Callable[[T], object]], turns: Sequence[T], case: str
) -> dict[str, Figures]:
    """Let each system take each turn; what comes first is a warm-up."""
    costs: dict[str, list[float]] = {name: [] for name in actions}
    order = np.random.default_rng(0)
    for number, turn in enumerate(progress_bar(turns, desc=case, unit="turns")):
        # Who follows another finds warm what that one has read, so the order changes.
        for name in order.permutation([*actions]):
            before = time.process_time()
            actions[name](turn)
            spent = time.process_time() - before
            if number >= _WARM_UP:
                costs[name].append(1000 * spent)
    return _figures(costs)


def _figures(costs: Mapping[str, Sequence[float]]) -> dict[str, Figures]:
    medians = {name: statistics.median(each) for name, each in costs.items()}
    return {
        name: {"cost": round(cost, 3), "ratio": round(cost / medians[_BASELINE], 3)}
        for name, cost in medians.items()
    }


def _row_counts(given: str) -> list[int]:
    counts = [int(part) for part in given.split(",")]
    if min(counts) < K * USERS:
        raise ValueError(given)
    return counts


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.latency")
    parser.add_argument("--data", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--rows", type=_row_counts, default=[1_000, 10_000], metavar="N,N")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--vectors", type=Path, metavar="FILE")
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    if given.questions < 1:
        parser.error("--questions takes a number from 1 on")
    asked = given.questions + _WARM_UP
    by_rows = {
        str(rows): measure(real_rows(given.data, rows, asked, given.vectors)) for rows in given.rows
    }
    result = {"k": K, "questions": given.questions, "by_rows": by_rows}
    print_latency(result, rivals.missing())
    write_json(given.json, result)


if __name__ == "__main__":
    main()
