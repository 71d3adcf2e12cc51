"""`recall explain`: every number behind an answer, also for a memory that did not come back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.table import Table

from recall_stages.cli.collection import opened
from recall_stages.cli.output import cell, console, print_json, print_time, recall_json, say
from recall_stages.cli.question import add_question, retriever_of, texts_of
from recall_stages.core.candidate import Candidate
from recall_stages.core.errors import StoreError
from recall_stages.core.stage import Recall
from recall_stages.explain.notes import remarks
from recall_stages.explain.rows import rows
from recall_stages.stages.print_memory import NOTHING_FOUND
from recall_stages.store import RecallStore

NAME = "explain"
ABOUT = """\
every number behind an answer, or behind one that is missing

With --id, the place and the numbers of these memories, wherever they came: so you see why one that
you expected is missing."""
EXAMPLE = '{program} --memories notes.jsonl --id m17 "what did I say about the dentist?"'

_REASONS = {
    "below fuse_score_threshold": "its relevance is too low (fuse_score_threshold)",
    "below threshold_score": "its relevance is too low (threshold_score)",
    "duplicates": "it is a copy of another memory",
}

Placed = tuple[int, Candidate]
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
        for name, value in _facts(memory):
            table.add_row(cell(name), cell(value))
        out.print(table)
    found = {memory.id for _, memory in places}
    for each in ids:
        if each not in found:
            say(out, _absence(recall, each))
    if not places and not ids:
        out.print(NOTHING_FOUND)


def _facts(memory: Candidate) -> Iterator[tuple[str, str]]:
    yield "content", memory.content
    yield "recorded", memory.created_at.isoformat() if memory.created_at else ""
    yield "type", memory.memory_type
    for row in rows(memory):
        yield f"{row.after:.4f}", row.label
    for remark in remarks(memory):
        yield "", remark
    yield "score", "" if memory.score is None else f"{memory.score:.4f}"


def _absence(recall: Recall, memory_id: str) -> str:
    """Why a memory is not among the results."""
    for dropped in recall.dropped:
        if memory_id in dropped.ids:
            by = f" by {dropped.stage}" if dropped.stage else ""
            reason = _REASONS.get(dropped.reason, dropped.reason)
            return f"{memory_id} was found, and left out{by}: {reason}"
    return f"{memory_id} was not found: it is outside the scope or the time required"
