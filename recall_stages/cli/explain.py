"""`recall explain`: every number behind an answer, also for a memory that did not come back."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from rich.table import Table

from recall_stages.cli.collection import opened
from recall_stages.cli.output import cell, console, print_json, print_time, recall_json, say
from recall_stages.cli.question import add_question, retriever_of, texts_of
from recall_stages.core.errors import StoreError
from recall_stages.core.memory import Memory
from recall_stages.core.stage import Recall
from recall_stages.stages.print_memory import NOTHING_FOUND
from recall_stages.store import RecallStore

NAME = "explain"
ABOUT = """\
every number behind an answer, or behind one that is missing

With --id, the place and the numbers of these memories, wherever they came: so you see why one that
you expected is missing."""
EXAMPLE = '{program} --memories notes.jsonl --id m17 "what did I say about the dentist?"'

Placed = tuple[int, Memory]
"""A memory and its place among all that were found, from 1."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_question(parser)
    parser.add_argument(
        "--id", action="append", default=[], help="a memory to explain, by its id; repeatable"
    )


def run(options: argparse.Namespace) -> int:
    """Ask each question, and show the whole trace of what it finds."""
    answers = []
    with opened(options) as collection:
        if options.id:
            _check_there(collection.store, options.id)
            options.k = max(options.k, collection.store.count())  # a place for every memory
        retriever = retriever_of(options, collection.store)
        for question in texts_of(options.question):
            recall = retriever.recall_without_model(question)
            places = _wanted(recall, options.id)
            shown = replace(recall, memories=tuple(memory for _, memory in places))
            if options.json:
                answer = recall_json(question, shown)
                answers.append({**answer, "places": [place for place, _ in places]})
            else:
                _show(question, shown, places, options.id)
    if options.json:
        print_json(answers)
    return 0


def _check_there(store: RecallStore, ids: Sequence[str]) -> None:
    missing = set(ids) - {memory.id for memory in store.get(ids)}
    if missing:
        raise StoreError(f"there is no memory with the id {', '.join(sorted(missing))}")


def _wanted(recall: Recall, ids: Sequence[str]) -> list[Placed]:
    return [
        (place, memory)
        for place, memory in enumerate(recall.memories, 1)
        if not ids or memory.id in ids
    ]


def _show(question: str, recall: Recall, places: Sequence[Placed], ids: Sequence[str]) -> None:
    out = console()
    say(out, f"\n{question}", style="bold")
    print_time(out, recall.query.time_ranges)
    for place, memory in places:
        table = Table("", "", title=cell(f"{place}. {memory.id}"), title_justify="left")
        table.show_header = False
        for name, value in _numbers(memory).items():
            table.add_row(cell(name), cell(str(value)))
        out.print(table)
    found = {memory.id for _, memory in places}
    for each in ids:
        if each not in found:
            say(
                out,
                f"{each} was not found: it is outside the scope or the time required, or a copy of "
                "a memory that was",
            )
    if not places and not ids:
        out.print(NOTHING_FOUND)


def _numbers(memory: Memory) -> dict[str, object]:
    zone_time = memory.created_at.isoformat() if memory.created_at else ""
    stored = {"content": memory.content, "recorded": zone_time, "type": memory.memory_type}
    traced = {
        name: f"{value:.4f}" if isinstance(value, float) else value
        for name, value in memory.trace.items()
    }
    return {**stored, **traced, "score": "" if memory.score is None else f"{memory.score:.4f}"}
