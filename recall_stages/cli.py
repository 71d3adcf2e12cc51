"""The main job from a shell: ask the memories of a JSONL file, and see why each one came back.

It runs on the stages alone, without loading either framework: that is what makes it start fast.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Never

from rich.console import Console

from recall_stages.errors import RecallError
from recall_stages.explain import explain
from recall_stages.jsonl import open_beside
from recall_stages.memory import Scope
from recall_stages.print_memory import NOTHING_FOUND
from recall_stages.retriever import MemoryRetriever
from recall_stages.stage import Prompt, Recall, run
from recall_stages.store.minilm import MiniLM


def main(program: str, arguments: Sequence[str] | None = None) -> int:
    """Run the command line of a face.

    Args:
        program: How the user called it, for the help text.
        arguments: The words after it; None = those of the process.

    Returns:
        The exit code: 0 when all went well, 2 when the input cannot be used.
    """
    given = _parser(program).parse_args(arguments)
    # A second of what the user waits for is chromadb's import; the model loads beside it.
    ThreadPoolExecutor(1).submit(MiniLM().warm)
    logging.basicConfig(level=logging.DEBUG if given.verbose else logging.WARNING)
    try:
        _ask(given)
    except (RecallError, OSError, ValueError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    return 0


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    ask = commands.add_parser(
        "ask",
        help="ask the memories of a file",
        description="Ask the memories of a JSONL file in plain words. The collection is kept "
        "beside the file, in FILE.recall, so that the next question starts at once.",
        epilog=f'example: {program} ask --memories notes.jsonl "what did I say about the dentist '
        'last Tuesday?"',
    )
    ask.add_argument("question", nargs="+", help="one question, or several, each in quotes")
    ask.add_argument(
        "--memories",
        metavar="FILE",
        type=Path,
        required=True,
        help="JSON objects, one a line: content; and created_at, memory_type, user_id, ...",
    )
    ask.add_argument("-k", type=int, default=5, help="how many memories to return (5)")
    ask.add_argument("--timestamp", help="the moment of asking, ISO 8601 (the clock)")
    ask.add_argument("--timezone", help="such as Europe/Berlin (the machine's)")
    ask.add_argument(
        "--time-mode",
        choices=("prefer", "require", "ignore"),
        default="prefer",
        help="whether a named time is preferred, required or ignored (prefer)",
    )
    ask.add_argument(
        "--event-times",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the times that a text tells of are read when the file is loaded (yes)",
    )
    for name in Scope.model_fields:
        ask.add_argument(f"--{name.replace('_', '-')}", help=f"only the memories of this {name}")
    ask.add_argument("-v", "--verbose", action="store_true", help="say what is being done")
    return parser


def _ask(given: argparse.Namespace) -> None:
    console = Console()
    store, loaded = open_beside(given.memories, given.timezone, event_times=given.event_times)
    with store:
        for number, why in loaded.bad_lines.items():
            print(f"{given.memories.name} line {number} is left out: {why}", file=sys.stderr)
        done = "loaded" if loaded.fresh else "kept"
        console.print(
            f"{loaded.count} memories {done} in {given.memories.name}.recall", style="dim"
        )
        retriever = MemoryRetriever(
            store=store,
            k=given.k,
            timestamp=given.timestamp,
            timezone=given.timezone,
            time_mode=given.time_mode,
            scope={name: value for name in Scope.model_fields if (value := getattr(given, name))},
        )
        for question in given.question:
            recall = run(
                retriever.steps_for(question, datetime.now(UTC), {}), _no_model, store.find
            )
            _show(console, question, recall)


def _show(console: Console, question: str, recall: Recall) -> None:
    console.print(f"\n{question}", style="bold", markup=False)
    for each in recall.query.time_ranges:
        console.print(f'"{each.text}" is understood as {each.describe()}', markup=False)
    console.print(explain(recall.memories).table() if recall.memories else NOTHING_FOUND)


def _no_model(_: Sequence[Prompt]) -> Never:
    raise RecallError("no stage of the command line asks a model")
