"""Delete memories of a collection by their owner, time, type or metadata.

All conditions must hold. An owner alone is no condition: --everything deletes all of theirs. It
says how many memories that are, and deletes them after a yes; expired memories go as well.
In Python it is store.delete(...).
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from recall_retrievers.cli.ask import json_value
from recall_retrievers.cli.collection import add_scope, scope_of
from recall_retrievers.cli.existing import PLACE, open_existing
from recall_retrievers.cli.output import complain, report
from recall_retrievers.core.errors import SettingsError
from recall_retrievers.store import Fields, RecallStore
from recall_retrievers.store.conditions import Conditions

EXAMPLE = "{program} --chroma ./my_app --user-id ann --before 2024-01-01"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("--chroma", metavar="PATH|URL", required=True, help=PLACE)
    parser.add_argument("--collection", default="memories", help="its name (memories)")
    add_scope(parser)
    parser.add_argument("--id", action="append", help="the memory with this id; repeatable")
    parser.add_argument("--since", metavar="TIME", help="recorded at this time or later, ISO 8601")
    parser.add_argument("--before", metavar="TIME", help="recorded before this time")
    parser.add_argument("--memory-type", action="append", help="of this type; repeatable")
    parser.add_argument(
        "--filter",
        metavar="JSON",
        type=json_value,
        help="""conditions on metadata: '{"topic": "health"}'""",
    )
    parser.add_argument("--everything", action="store_true", help="all memories, or all of a scope")
    parser.add_argument("--yes", action="store_true", help="delete without asking")


def run(options: argparse.Namespace) -> int:
    """Delete them after a yes; 1 if the answer is no."""
    try:
        Conditions.of(**_conditions(options)).check_deleting(options.id, options.everything)
    except SettingsError as error:
        raise ValueError(str(error).replace("everything=True", "--everything")) from error
    with open_existing(options.chroma, options.collection, Fields(), searched=False) as store:
        if not (options.yes or _agreed(options, store)):
            return 1
        deleted = store.delete(options.id, everything=options.everything, **_conditions(options))
    result = {"collection": options.collection, "deleted": deleted}
    report(options, result, f"{deleted} memories deleted")
    return 0


def _agreed(options: argparse.Namespace, store: RecallStore) -> bool:
    """Whether the user agrees, who sees how many memories it is about."""
    if not sys.stdin.isatty():
        raise ValueError("delete asks before it deletes, and nobody can answer; pass --yes")
    fitting = store.memories(**_conditions(options))
    number = sum(1 for each in fitting if options.id is None or each.id in options.id)
    complain(f"delete {number} of {store.count()} memories of {options.collection}? [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _conditions(options: argparse.Namespace) -> dict[str, Any]:
    between = (options.since, options.before)
    return {
        "scope": scope_of(options),
        "time_range": None if between == (None, None) else between,
        "filter": options.filter,
        "memory_type": options.memory_type,
    }
