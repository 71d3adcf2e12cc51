"""Questions in the middle of a talk: the answers among the first five, and in the first place.

    python -m benchmarks.follow_ups [--embedding default|multilingual] [--show "development"]

``data/follow_ups`` has about 140 memories in each of three languages, and 160 questions with the
messages before them: 80 that need these messages, and 80 that stand for themselves. Compared are
the question alone, and the retriever with ``messages=``. ``--show`` prints what the retriever does
not find of a half.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.embedding import EMBEDDINGS, once_per_text
from langchain_recall import RecallRetriever
from recall_retrievers.core.memory import Memory
from recall_retrievers.store import RecallStore

FOLDER = Path(__file__).parent / "data" / "follow_ups"
ASKED = "2024-06-12T15:30:00Z"
WAYS = ("alone, R@5", "first", "with messages, R@5", "first")


def read(name: str) -> list[dict[str, Any]]:
    """The lines of a file."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def found(
    store: RecallStore, questions: Sequence[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], list[float]]]:
    """Each question with the share of its answers that each way finds, and whether one is first."""
    store.add(
        Memory(
            id=each["id"],
            content=each["content"],
            created_at="2024-05-01T12:00:00Z",
            scope={"user_id": each["language"]},
        )
        for each in read("memories")
    )
    retriever = RecallRetriever(store=store, timestamp=ASKED)
    for asked in questions:
        shares: list[float] = []
        for messages in ([], asked["messages"]):
            scope = {"user_id": asked["language"]}
            ids = [
                x.id for x in retriever.invoke(asked["question"], scope=scope, messages=messages)
            ]
            right = set(asked["right"])
            shares += [len(right.intersection(ids)) / len(right), float(ids[0] in right)]
        yield asked, shares


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.follow_ups")
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--show", choices=("development", "held back"))
    given = parser.parse_args(argv)
    console = Console(width=100)
    hits: dict[tuple[str, str, str], list[list[float]]] = defaultdict(list)
    with RecallStore(embedding=once_per_text(embedding=given.embedding)) as store:
        for asked, shares in found(store, read("questions")):
            for language in (asked["language"], "all"):
                hits[asked["half"], asked["kind"], language].append(shares)
            if given.show == asked["half"] and shares[2] < 1:
                console.print(f"{asked['question']}  {shares} {asked['right']}", markup=False)
    table = Table("", "", "", *WAYS)
    for row, shares_of in sorted(hits.items()):
        means = [sum(way) / len(way) for way in zip(*shares_of, strict=True)]
        table.add_row(*row, *(f"{mean:.3f}" for mean in means))
    console.print(table)


if __name__ == "__main__":
    main()
