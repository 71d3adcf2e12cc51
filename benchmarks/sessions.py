"""Questions for a session: the share of what is found first that is of that session.

    python -m benchmarks.sessions [--embedding default|multilingual] [--show "development"]

``data/sessions.jsonl`` has a conversation of six sessions in each language, and its questions. Of a
question for nothing but a session five memories count, of one with a topic the first.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.embedding import EMBEDDINGS, once_per_text
from langchain_recall import RecallRetriever
from recall_retrievers.store import RecallStore

FILE = Path(__file__).parent / "data" / "sessions.jsonl"


def shares(store: RecallStore, file: Path = FILE) -> Iterator[tuple[dict[str, Any], float]]:
    """Each question with the share of the first memories that are of its session."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        owner = {"user_id": line.get("language", "")}
        for number, (start, turns) in enumerate(line.get("sessions", ()), 1):
            begin, roles = datetime.fromisoformat(f"{start}+00:00"), ("user", "assistant") * 9
            messages = [
                {"role": role, "content": text, "created_at": begin + timedelta(minutes=2 * n)}
                for n, (role, text) in enumerate(zip(roles, turns, strict=False))
            ]
            store.add_conversation(messages, scope={**owner, "session_id": str(number)})
        if question := line.get("question"):
            ask = RecallRetriever(store=store, scope=owner, k=line["first"])
            found = ask.invoke(question, timestamp=line["asked"])
            right = [str(line["session"]) == each.metadata["session_id"] for each in found]
            yield line, sum(right) / line["first"]


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.sessions")
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--show", choices=("development", "held back"))
    given = parser.parse_args(argv)
    console, hits = Console(), defaultdict[str, dict[str, list[float]]](lambda: defaultdict(list))
    with RecallStore(embedding=once_per_text(embedding=given.embedding)) as store:
        for asked, share in shares(store):
            for row in (asked["language"], "all"):
                hits[row][asked["half"]].append(share)
            if given.show == asked["half"] and share < 1:
                console.print(f"{share:.1f} {asked['question']}", markup=False)
    table = Table("share of the first", *(halves := ("development", "held back")))
    for row, by_half in hits.items():
        table.add_row(row, *(f"{sum(by_half[half]) / len(by_half[half]):.3f}" for half in halves))
    console.print(table)


if __name__ == "__main__":
    main()
