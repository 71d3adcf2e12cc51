"""What a collection holds: the number of memories, their types, owners and times."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from recall_retrievers.cli.collection import add_collection, opened
from recall_retrievers.cli.output import print_json, show_facts
from recall_retrievers.store import StoreStats

EXAMPLE = "{program} --chroma ./my_app --collection notes --field created_at=date"

_MOST = 10  # values that a row of the table names


add_arguments = add_collection


def run(options: argparse.Namespace) -> int:
    """Count the memories of the collection."""
    with opened(options, searched=False) as collection:
        counted = _counted(collection.store.stats())
    if options.json:
        print_json({"collection": collection.name, **counted})
        return 0
    facts = ((name.replace("_", " "), _as_text(value)) for name, value in counted.items())
    show_facts(collection.name, facts)
    return 0


def _counted(stats: StoreStats) -> dict[str, object]:
    moments = {"first_recorded": stats.first_recorded, "last_recorded": stats.last_recorded}
    written = {name: moment and moment.isoformat() for name, moment in moments.items()}
    return {**asdict(stats), **written}


def _as_text(value: object) -> str:
    if not isinstance(value, dict):
        return "-" if value is None else str(value)
    named = [f"{name} {count}" for name, count in list(value.items())[:_MOST]]
    more = [f"and {len(value) - _MOST} more"] if len(value) > _MOST else []
    return ", ".join([*named, *more]) or "-"
