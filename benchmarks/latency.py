"""What a question costs, and what it finds, beside what people use instead. Texts are real.

    python -m benchmarks.latency [--data DIR] [--rows 10000,100000] [--questions 40]
                                 [--vectors FILE] [--json OUT] [--picture FILE.svg]

The memories are those of ``real_rows``; every system embeds the question itself, with the same
model, and returns ten memories. The systems take turns question by question, in an order dealt
anew for each, in one process, after a warm-up:

- ``recall``: our LangChain retriever as it comes: by meaning, by words and by token vectors;
- ``recall_meaning``: ``RecallStore.find`` by meaning alone, which answers what Chroma answers;
- ``langchain_chroma``: ``Chroma.similarity_search`` on a collection as it makes one;
- ``langchain_chroma_on_ours``: the same on our collection, whose graph looks at more candidates;
- those of ``rivals`` that are installed: ``pip install --group rivals``.

A question is asked of all memories (``all``), of those of one user of twenty (``one_user``), and of
a tenth of the time (``a_time``: ours prefers it, as it comes; the others filter). ``cpu_ms`` is the
processor time of the whole process, ``wall_ms`` the time on the clock, both medians. Each is
divided by that of ``langchain_chroma``. ``found`` is the share of the ten memories with the
nearest vectors that a system by meaning returned. ``--picture`` draws ``cpu_ms`` against the rows.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import chromadb
import numpy as np
from langchain_chroma import Chroma

from benchmarks import rivals
from benchmarks.latency_picture import draw
from benchmarks.output import json_file, write_json
from benchmarks.real_rows import USERS, RealRows, real_rows, user_of
from benchmarks.report import print_latency
from langchain_recall import Memory, RecallRetriever, RecallStore, Scope
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.stage import Search
from recall_retrievers.timeline import TimeRange

K = 10
_WARM_UP = 5
_PART = 5_000  # memories in one call
_BY_MEANING = ("recall_meaning", "langchain_chroma", "langchain_chroma_on_ours")
_BASELINE = "langchain_chroma"


class Asked(NamedTuple):
    """A question, and the memories that it is asked of; None = any user, any time."""

    text: str
    user: str | None = None
    during: tuple[datetime, datetime] | None = None


System = Callable[[Asked], Sequence[str]]
"""Returns the texts of the memories that answer."""


class Figures(TypedDict):
    """What was measured of one system in one case."""

    cpu_ms: float
    wall_ms: float
    cpu_ratio: float
    wall_ratio: float
    found: float | None


def measure(data: RealRows) -> dict[str, dict[str, Figures]]:
    """Fill the stores and ask them; figures by case and system."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(_folder()))
        systems = {**_ours(data, folder, opened), **rivals.systems(data, folder, opened, K)}
        return {case: _measured(systems, data, case) for case in ("all", "one_user", "a_time")}


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(ignore_cleanup_errors=True)


def _ours(data: RealRows, folder: Path, opened: ExitStack) -> dict[str, System]:
    client: Any = opened.enter_context(closing(chromadb.PersistentClient(str(folder / "chroma"))))
    # The texts tell of times, but nobody asks for these here.
    store = opened.enter_context(
        RecallStore(client, "ours", embedding=data.embedding, event_times=False)
    )
    stock = Chroma("stock", data.embedding, client=client)  # type: ignore[arg-type]  # it has the methods
    rows = range(len(data.texts))
    for start in progress_bar(rows[::_PART], desc="storing", unit="parts"):
        part = rows[start : start + _PART]
        store.add([_memory(data, row) for row in part])
        stock.add_texts(
            [data.texts[row] for row in part],
            [{"user_id": user_of(row), "created_at": data.time(row).timestamp()} for row in part],
            [f"{row:07}" for row in part],
        )
    retriever = RecallRetriever(store=store, k=K, timezone="UTC")
    on_ours = Chroma("ours", data.embedding, client=client)  # type: ignore[arg-type]
    return {
        "recall": lambda asked: [
            each.page_content
            for each in retriever.invoke(asked.text, scope=_scope(asked), time_range=asked.during)
        ],
        "recall_meaning": lambda asked: [
            hit.content
            for hit in store.find([Search(asked.text, K, _scope(asked), within=_within(asked))])[0]
        ],
        "langchain_chroma": _similar(stock, 1),
        "langchain_chroma_on_ours": _similar(on_ours, 1000),
    }


def _memory(data: RealRows, row: int) -> Memory:
    return Memory(
        id=f"{row:07}",
        content=data.texts[row],
        created_at=data.time(row),
        memory_type="conversation",
        scope=Scope(user_id=user_of(row)),
    )


def _scope(asked: Asked) -> Scope:
    return Scope() if asked.user is None else Scope(user_id=asked.user)


def _within(asked: Asked) -> tuple[TimeRange, ...]:
    return () if asked.during is None else (TimeRange(*asked.during, "day"),)


def _similar(store: Chroma, a_second: int) -> System:
    """The answers of langchain-chroma, whose rows have so many units of time in a second."""

    def answer(asked: Asked) -> list[str]:
        conditions: list[dict[str, Any]] = []
        if asked.user is not None:
            conditions.append({"user_id": asked.user})
        if asked.during is not None:
            first, end = (int(each.timestamp() * a_second) for each in asked.during)
            conditions += [{"created_at": {"$gte": first}}, {"created_at": {"$lt": end}}]
        where: Any = conditions[0] if len(conditions) == 1 else {"$and": conditions}
        found = store.similarity_search(asked.text, k=K, filter=where if conditions else None)
        return [each.page_content for each in found]

    return answer


def _measured(systems: dict[str, System], data: RealRows, case: str) -> dict[str, Figures]:
    taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
    found: dict[str, list[float]] = defaultdict(list)
    order = np.random.default_rng(0)
    able = [name for name in systems if case == "all" or name not in rivals.WITHOUT_CONDITIONS]
    for number, text in enumerate(progress_bar(data.questions, desc=case, unit="questions")):
        asked, rows = _asked(data, case, number, text)
        vector = np.array(data.embedding.embed_query(text), dtype=np.float32)
        nearest = data.nearest(vector, rows, K)
        # Who follows another finds warm what that one has read, so the order changes.
        for name in order.permutation(able):
            cpu, wall = time.process_time(), time.perf_counter()
            answer = systems[name](asked)
            spent = time.process_time() - cpu, time.perf_counter() - wall
            if number >= _WARM_UP:
                taken[name].append(spent)
                if name in _BY_MEANING:
                    found[name].append(len(nearest & set(answer)) / len(nearest))
    medians = {
        name: [1000 * statistics.median(column) for column in zip(*spent, strict=True)]
        for name, spent in taken.items()
    }
    return {
        name: {
            "cpu_ms": round(cpu, 3),
            "wall_ms": round(wall, 3),
            "cpu_ratio": round(cpu / medians[_BASELINE][0], 3),
            "wall_ratio": round(wall / medians[_BASELINE][1], 3),
            "found": round(statistics.mean(found[name]), 3) if name in found else None,
        }
        for name, (cpu, wall) in ((name, medians[name]) for name in able)
    }


def _asked(data: RealRows, case: str, number: int, text: str) -> tuple[Asked, Sequence[int]]:
    """A question of a case, and the rows that it is asked of."""
    rows = range(len(data.texts))
    if case == "one_user":
        user = number % USERS
        return Asked(text, user_of(user)), rows[user::USERS]
    if case == "a_time":
        width = len(rows) // 10
        first = int((len(rows) - width - 1) * (number * 0.618034 % 1))
        during = data.time(first), data.time(first + width)
        return Asked(text, during=during), rows[first : first + width]
    return Asked(text), rows


def _row_counts(given: str) -> list[int]:
    counts = [int(part) for part in given.split(",")]
    if min(counts) < K * USERS:
        raise ValueError(given)
    return counts


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.latency")
    parser.add_argument("--data", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--rows", type=_row_counts, default=[10_000], metavar="N,N")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--vectors", type=Path, metavar="FILE")
    parser.add_argument("--json", type=json_file)
    parser.add_argument("--picture", type=Path, metavar="FILE.svg")
    given = parser.parse_args(argv)
    if given.questions < 1:
        parser.error("--questions takes a number from 1 on")
    asked = given.questions + _WARM_UP
    by_rows = {
        str(rows): measure(real_rows(given.data, rows, asked, given.vectors)) for rows in given.rows
    }
    result = {"k": K, "questions": given.questions, "by_rows": by_rows}
    print_latency(result, rivals.missing())
    if given.picture is not None:
        given.picture.write_text(draw(by_rows), encoding="utf-8")
    write_json(given.json, result)


if __name__ == "__main__":
    main()
