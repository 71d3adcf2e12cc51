"""A question from the shell: its options, and what it finds."""

from __future__ import annotations

import argparse

from recall_stages.cli.collection import add_collection, add_scope, scope_of
from recall_stages.retriever import MemoryRetriever
from recall_stages.store import RecallStore


def add_question(parser: argparse.ArgumentParser) -> None:
    """The options of everything that asks."""
    parser.add_argument("question", nargs="+", help="one question, or several, each in quotes")
    add_collection(parser)
    parser.add_argument("-k", type=int, default=5, help="how many memories to return (5)")
    add_moment(parser)
    parser.add_argument(
        "--time-mode",
        choices=("prefer", "require", "ignore"),
        default="prefer",
        help="whether a named time is preferred, required or ignored (prefer)",
    )
    add_scope(parser)


def add_moment(parser: argparse.ArgumentParser) -> None:
    """The option that says when it is asked."""
    parser.add_argument("--timestamp", help="the moment of asking, ISO 8601 (the clock)")


def retriever_of(given: argparse.Namespace, store: RecallStore) -> MemoryRetriever:
    """The retriever that the options describe."""
    return MemoryRetriever(
        store=store,
        k=given.k,
        timestamp=given.timestamp,
        timezone=given.timezone,
        time_mode=given.time_mode,
        scope=scope_of(given),
    )
