"""`recall stats`: what a collection holds."""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import datetime

from rich.table import Table

from recall_stages.cli.collection import add_collection, opened
from recall_stages.cli.output import cell, console, print_json
from recall_stages.core.scope import Scope
from recall_stages.store import RecallStore

NAME = "stats"
ABOUT = """\
what a collection holds: the number of memories, their types, owners and times"""
EXAMPLE = "{program} --chroma ./my_app --collection notes --field created_at=date"

_MOST = 10  # values that a row of the table names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_collection(parser)


def run(options: argparse.Namespace) -> int:
    """Count the memories of the collection."""
    with opened(options, searched=False) as collection:
        counted = _count(collection.store)
    if options.json:
        print_json({"collection": collection.name, **counted})
        return 0
    table = Table("", "", title=cell(collection.name), title_justify="left")
    table.show_header = False
    for name, value in counted.items():
        table.add_row(name.replace("_", " "), cell(_as_text(value)))
    console().print(table)
    return 0


def _count(store: RecallStore) -> dict[str, object]:
    kinds: Counter[str] = Counter()
    authors: Counter[str] = Counter()
    scopes: dict[str, Counter[str]] = {name: Counter() for name in Scope.model_fields}
    ends: list[datetime] = []  # the first and the last time
    dated = events = 0
    for memory in store.memories():
        kinds[memory.memory_type] += 1
        authors.update([memory.author] if memory.author else [])
        for name, value in memory.scope.fields().items():
            scopes[name][value] += 1
        events += bool(memory.events)
        if memory.created_at is not None:
            dated += 1
            ends = [*ends, memory.created_at]
            ends = [min(ends), max(ends)]
    return {
        "memories": kinds.total(),
        "embedding_model": store.embedding_model,
        "first_recorded": ends[0].isoformat() if ends else None,
        "last_recorded": ends[-1].isoformat() if ends else None,
        "without_a_time": kinds.total() - dated,
        "telling_of_a_time": events,
        "memory_type": dict(kinds.most_common()),
        "author": dict(authors.most_common()),
        **{name: dict(values.most_common()) for name, values in scopes.items()},
    }


def _as_text(value: object) -> str:
    if not isinstance(value, dict):
        return "-" if value is None else str(value)
    named = [f"{name} {count}" for name, count in list(value.items())[:_MOST]]
    more = [f"and {len(value) - _MOST} more"] if len(value) > _MOST else []
    return ", ".join([*named, *more]) or "-"
