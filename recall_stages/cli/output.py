"""What a command prints: tables for a person, or JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import tzinfo

from rich.console import Console

from recall_stages.flat import to_flat
from recall_stages.memory import Memory
from recall_stages.stage import Recall
from recall_stages.timeline import TimeRange
from recall_stages.timeline.interval import format_interval
from recall_stages.timeline.wording import in_words


def console() -> Console:
    """Where tables go: standard output, with colours where that is a terminal."""
    return Console()


def print_json(result: object) -> None:
    """Write a result as JSON, in any script."""
    print(json.dumps(result, indent=2, ensure_ascii=False))


def recall_json(question: str, recall: Recall) -> dict[str, object]:
    """A question, what was understood of it, and what it found."""
    zone = recall.query.reference_time.tzinfo
    return {
        "question": question,
        "asked_at": recall.query.reference_time.isoformat(),
        "time": [range_json(each) for each in recall.query.time_ranges],
        "memories": [memory_json(each, zone) for each in recall.memories],
    }


def memory_json(memory: Memory, timezone: tzinfo | None) -> dict[str, object]:
    """A memory as the faces hand it on: text, score, and flat metadata with the trace."""
    return {
        "id": memory.id,
        "content": memory.content,
        "score": memory.score,
        **to_flat(memory, timezone),
    }


def range_json(time_range: TimeRange) -> dict[str, object]:
    """A time that was understood, and how else it may be meant."""
    return {
        "words": time_range.text,
        "range": format_interval(time_range),
        "means": time_range.describe(),
        "vague": time_range.soft,
        "also": [format_interval(each) for each in time_range.alternatives],
    }


def print_time(out: Console, ranges: Sequence[TimeRange]) -> None:
    """The times that were understood, one a line."""
    for each in ranges:
        out.print(in_words(each), markup=False, highlight=False, soft_wrap=True)
