"""Every number behind an answer, or behind one that is missing.

With --id, the place and the numbers of these memories, wherever they came. If one does not come
back, the last line says which stage or which setting leaves it out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recall_retrievers.cli import ask
from recall_retrievers.cli.collection import opened
from recall_retrievers.cli.output import print_json, print_time, recall_json, say, show_facts
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Recall
from recall_retrievers.explain.rows import remarks, rows
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.plain_texts import NOTHING_FOUND
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

EXAMPLE = '{program} --memories notes.jsonl --id m17 "what did I say about the dentist?"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    ask.add_arguments(parser)
    parser.add_argument(
        "--id", action="append", default=[], help="a memory to explain, by its id; repeatable"
    )


def run(options: argparse.Namespace) -> int:
    """Ask each question, and show the whole trace of what it finds."""
    answers = []
    with opened(options) as collection:
        wanted, k = _stored(collection.store, options.id), options.k
        if wanted:
            options.k = max(k, collection.store.count())  # a place for every memory
        retriever = ask.retriever_of(options, collection.store)
        for question in ask.texts_of(options.question):
            recall = retriever.recall_without_model(question)
            places = {
                place: memory
                for place, memory in enumerate(recall.memories, 1)
                if not wanted or memory.id in options.id
            }
            reasons = {memory.id: _absence(recall, memory, retriever, k) for memory in wanted}
            left_out = {memory_id: reason for memory_id, reason in reasons.items() if reason}
            if options.json:
                shown = replace(recall, memories=tuple(places.values()))
                found = {"places": list(places), "left_out": left_out}
                answers.append({**recall_json(question, shown), **found})
            else:
                _show(question, recall.query.time_ranges, places, left_out)
    if options.json:
        print_json(answers)
    return 0


def _stored(store: RecallStore, ids: Sequence[str]) -> list[Memory]:
    stored = store.get(ids)
    missing = set(ids) - {memory.id for memory in stored}
    if missing:
        raise StoreError(f"there is no memory with the id {', '.join(sorted(missing))}")
    return stored


def _show(
    question: str,
    times: Sequence[TimeRange],
    places: Mapping[int, Candidate],
    left_out: Mapping[str, str],
) -> None:
    say(f"\n{question}", style="bold")
    print_time(times)
    for place, memory in places.items():
        show_facts(f"{place}. {memory.id}", _facts(memory))
    for memory_id, reason in left_out.items():
        say(f"{memory_id} was {reason}")
    if not places and not left_out:
        say(NOTHING_FOUND)


def _facts(memory: Candidate) -> Iterator[tuple[str, str]]:
    yield "content", memory.content
    yield "recorded", memory.created_at.isoformat() if memory.created_at else ""
    yield "type", memory.memory_type
    for row in rows(memory):
        yield f"{row.after:.4f}", row.label
    for remark in remarks(memory):
        yield "", remark
    yield "score", "" if memory.score is None else f"{memory.score:.4f}"


def _absence(recall: Recall, memory: Memory, retriever: MemoryRetriever, k: int) -> str:
    """Why a memory does not come back with the first k; empty where it does."""
    ids = [found.id for found in recall.memories]
    if memory.id in ids:
        return "" if memory.id in ids[:k] else f"left out: cut at k {k}"
    for dropped in recall.dropped:
        if memory.id in dropped.ids:
            by = f" by {dropped.stage}" if dropped.stage else ""
            repeats = (
                f"duplicate of {other.id}"
                for other in recall.memories
                if memory.id in str(other.noted("duplicates")).split(", ")
            )
            return f"left out{by}: {next(repeats, dropped.reason)}"
    if not recall.query.scope.holds(memory.scope):
        scope = ", ".join(f"{name} {value}" for name, value in recall.query.scope.fields().items())
        return f"not found: it is outside the scope, {scope}"
    in_time = retriever.time_mode == "require" and bool(recall.query.time_ranges)
    limits = {
        "does not fit the filter": recall.query.filter is not None,
        "is outside the time required": in_time,
        "has no word of the question": retriever.method == "keyword",
    }
    reasons = [reason for reason, is_set in limits.items() if is_set]
    return f"not found: it {' or '.join(reasons) or 'is not near enough for the search'}"
