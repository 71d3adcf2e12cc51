"""Questions for the latest or the first: whether the right memory comes first.

    python -m benchmarks.order [--embedding default|multilingual] [--show "development"]

Each question of ``data/order.jsonl`` has its own few memories: several about its subject, of
different times, and some that only share words with it. The retriever has its defaults. ``--show``
prints the questions of a half whose answer is wrong.
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

FILE = Path(__file__).parent / "data" / "order.jsonl"


class Asked(TypedDict):
    """A line of the file; ``right`` is the place of the answer among the memories."""

    language: str
    half: str
    question: str
    asked: str
    memories: list[tuple[str, str]]
    right: int


def read(file: Path = FILE) -> list[Asked]:
    """The questions of the file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def first_found(store: RecallStore, questions: Sequence[Asked]) -> list[str]:
    """The text of the memory that the retriever puts first, for each question."""
    found = []
    for number, asked in enumerate(questions):
        scope = Scope(user_id=str(number))
        store.add(
            Memory(content=text, created_at=f"{day}T12:00:00Z", scope=scope)
            for day, text in asked["memories"]
        )
        retriever = RecallRetriever(store=store, scope=scope)
        memories = retriever.invoke(asked["question"], timestamp=asked["asked"])
        found.append(memories[0].page_content if memories else "")
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.order")
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--show", choices=("development", "held back"))
    given = parser.parse_args(argv)
    questions = read()
    console, hits = Console(), defaultdict[str, dict[str, list[bool]]](lambda: defaultdict(list))
    with RecallStore(embedding=once_per_text(embedding=given.embedding)) as store:
        for asked, found in zip(questions, first_found(store, questions), strict=True):
            right = asked["memories"][asked["right"]][1]
            for row in (asked["language"], "all"):
                hits[row][asked["half"]].append(found == right)
            if given.show == asked["half"] and found != right:
                console.print(f"{asked['question']}\n  {found}", markup=False)
    halves = sorted({asked["half"] for asked in questions})
    table = Table("hit@1", *halves)
    for row, by_half in hits.items():
        table.add_row(row, *(f"{sum(by_half[half]) / len(by_half[half]):.3f}" for half in halves))
    console.print(table)


if __name__ == "__main__":
    main()
