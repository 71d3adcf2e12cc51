"""Questions for the latest, the first or the present: whether the right memory comes first.

    python -m benchmarks.order [--of order|updates] [--embedding default|multilingual]
        [--show "development"]

Each question of ``data/order.jsonl`` or ``data/updates.jsonl`` has its own few memories: two or
more about its subject, of different times, and some that only share words with it. Where no answer
is the right one, it is right that the times change nothing. The retriever has its defaults.
``--show`` prints the questions of a half whose answer is wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from rich.console import Console
from rich.table import Table

from benchmarks.embedding import EMBEDDINGS, once_per_text
from langchain_recall import RecallRetriever
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.scope import Scope
from recall_retrievers.store import RecallStore

DATA = Path(__file__).parent / "data"
UNMOVED = "as before"


class Asked(TypedDict):
    """A line of a file; ``right`` is the place of the answer among the memories.

    None = the times of the memories must not change their order.
    """

    language: str
    half: str
    question: str
    asked: str
    memories: list[tuple[str, str]]
    right: int | None


def read(name: str = "order") -> list[Asked]:
    """The questions of a file."""
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def wanted(asked: Asked) -> str:
    """The text that `first_found` should give."""
    return UNMOVED if asked["right"] is None else asked["memories"][asked["right"]][1]


def first_found(store: RecallStore, questions: Sequence[Asked]) -> list[str]:
    """The text of the memory that the retriever puts first, for each question.

    Where none is right: `UNMOVED` if the times changed nothing.
    """
    found = []
    for number, asked in enumerate(questions):
        scope = Scope(user_id=str(number))
        store.add(
            Memory(content=text, created_at=f"{day}T12:00:00Z", scope=scope)
            for day, text in asked["memories"]
        )
        retriever = RecallRetriever(store=store, scope=scope)
        memories = retriever.invoke(asked["question"], timestamp=asked["asked"])
        moved = any("recall_order_ratio" in memory.metadata for memory in memories)
        first = memories[0].page_content if memories else ""
        found.append(UNMOVED if asked["right"] is None and not moved else first)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.order")
    parser.add_argument("--of", choices=("order", "updates"), default="order")
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--show", choices=("development", "held back"))
    given = parser.parse_args(argv)
    questions = read(given.of)
    console, hits = Console(), defaultdict[str, dict[str, list[bool]]](lambda: defaultdict(list))
    with RecallStore(embedding=once_per_text(embedding=given.embedding)) as store:
        for asked, found in zip(questions, first_found(store, questions), strict=True):
            right = found == wanted(asked)
            kind = "nothing to move" if asked["right"] is None else "one first"
            for row in (asked["language"], kind, "all"):
                hits[row][asked["half"]].append(right)
            if given.show == asked["half"] and not right:
                console.print(f"{asked['question']}\n  {found}", markup=False)
    halves = sorted({asked["half"] for asked in questions})
    table = Table("hit@1", *halves)
    for row, by_half in hits.items():
        table.add_row(row, *(f"{sum(by_half[half]) / len(by_half[half]):.3f}" for half in halves))
    console.print(table)


if __name__ == "__main__":
    main()
