"""The commands that read a question: `recall ask`, `explain` and `gate`."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args, get_origin

from recall_retrievers.agents.recall_tool import nothing_found
from recall_retrievers.cli.collection import opened
from recall_retrievers.cli.options import add_collection, add_scope, json_value, scope_of
from recall_retrievers.cli.output import (
    print_json,
    print_time,
    range_json,
    report,
    say,
    show,
    show_facts,
)
from recall_retrievers.cli.times import QUOTED, add_moment, texts_of
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.errors import StoreError
from recall_retrievers.core.flat_metadata import to_flat
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Recall
from recall_retrievers.explain.explanation import explain as explain_memories
from recall_retrievers.explain.rows import below, remarks, rows
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.plain_texts import NOTHING_FOUND
from recall_retrievers.stages.search_gate import SearchGate
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

_AS_IN_PYTHON = "as those of RecallRetriever in Python; none switches a limit off"
_SETTINGS = {
    "method": "search by meaning, by words or both",
    "fusion": "how both make one score",
    "semantic_weight": "the share of meaning in it, 0 to 1 (0.65 with the default model)",
    "token_weight": "the share of single words in the share of meaning, 0 to 1",
    "time_mode": "whether a named time is preferred, required or ignored",
    "time_range": 'look in this time, whatever the question names: "last week", "in March"',
    "filter": 'conditions on metadata: \'{"topic": "health"}\'',
    "threshold_score": "similarity below which nothing is a candidate, 0 to 1",
    "only_with_evidence": "return nothing if no memory is about the question: true or false",
    "duplicate_threshold": "share of words from which two memories count as one",
    "mmr_lambda": "below 1, memories that repeat better ones lose score",
    "fetch_k": "the size of the candidate pool",
    "as_of": "answer as the collection stood at this moment, ISO 8601",
    "include_superseded": "find superseded memories, too: true or false",
}
_BY_MODEL = {"semantic_weight"}  # whose default depends on it
_METAVARS = {"filter": "JSON", "time_range": "WORDS", "as_of": "TIME"}


def add_ask(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that asks questions."""
    parser.add_argument("question", nargs="+", help=f"one question, or several, {QUOTED}")
    add_collection(parser)
    parser.add_argument("-k", type=int, default=5, help="how many memories to return (5)")
    add_moment(parser)
    add_scope(parser)
    settings = parser.add_argument_group("settings of the retriever", _AS_IN_PYTHON)
    for name, about in _SETTINGS.items():
        field = MemoryRetriever.model_fields[name]
        settings.add_argument(
            f"--{name.replace('_', '-')}",
            choices=get_args(field.annotation) if get_origin(field.annotation) is Literal else None,
            type=json_value if name == "filter" else str,
            metavar=None if get_origin(field.annotation) is Literal else _METAVARS.get(name, "X"),
            default=argparse.SUPPRESS,
            help=about
            if field.default is None or name in _BY_MODEL
            else f"{about} ({field.default})",
        )


def ask(options: argparse.Namespace) -> int:
    """Ask the memories of a file or collection.

    Prints the time that was understood, and the memories that answer, the best first, each with how
    its score came about.
    """
    with opened(options) as collection:
        retriever = retriever_of(options, collection.store)
        answers = []
        if not options.json:
            how = "loaded" if collection.fresh else "kept"
            held = f"{collection.store.count()} memories {how} in {collection.name}"
            say(held, style="dim")
        for question in texts_of(options.question):
            recall = retriever.recall_without_model(question)
            if options.json:
                answers.append(_as_json(question, recall))
            else:
                _show_found(question, recall)
        if options.json:
            print_json(answers)
    return 0


def _as_json(question: str, recall: Recall) -> dict[str, object]:
    """A question, what was understood of it, and the memories with their flat metadata."""
    asked_at = recall.query.reference_time
    return {
        "question": question,
        "asked_at": asked_at.isoformat(),
        "time": [range_json(each) for each in recall.query.time_ranges],
        **{f"recall_{name}": note for name, note in recall.notes().items() if "evidence" in name},
        "memories": [
            {"id": m.id, "content": m.content, "score": m.score, **to_flat(m, asked_at.tzinfo)}
            for m in recall.memories
        ],
    }


def _show_found(question: str, recall: Recall) -> None:
    say(f"\n{question}", style="bold")
    print_time(recall.query.time_ranges)
    if recall.memories:
        show(explain_memories(recall.memories).table(ids=True))
        for line in below(recall.memories)[-1:]:
            say(line, style="dim")
    else:
        say(nothing_found(why=recall.why_nothing))


def retriever_of(options: argparse.Namespace, store: RecallStore) -> MemoryRetriever:
    """The retriever that the options describe."""
    named = {name: vars(options)[name] for name in _SETTINGS if name in options}
    settings = {name: None if value == "none" else value for name, value in named.items()}
    return MemoryRetriever(
        store=store,
        k=options.k,
        timestamp=options.timestamp,
        timezone=options.timezone,
        scope=scope_of(options),
        everyone=True,
        **settings,
    )


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Add those, and the ids."""
    add_ask(parser)
    parser.add_argument(
        "--id", action="append", default=[], help="a memory to explain, by its id; repeatable"
    )


def explain(options: argparse.Namespace) -> int:
    """Every number behind an answer, or behind one that is missing.

    With --id, the place and the numbers of these memories, wherever they came. If one does not come
    back, the last line says which stage or which setting leaves it out.
    """
    answers = []
    with opened(options) as collection:
        wanted, k = _stored(collection.store, options.id), options.k
        if wanted:
            # A place for every memory.
            options.k = max(k, collection.store.count(include_superseded=True))
        retriever = retriever_of(options, collection.store)
        for question in texts_of(options.question):
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
                answers.append({**_as_json(question, shown), **found})
            else:
                _show_traces(question, recall.query.time_ranges, places, left_out)
    if options.json:
        print_json(answers)
    return 0


def _stored(store: RecallStore, ids: Sequence[str]) -> list[Memory]:
    stored = store.get(ids)
    missing = set(ids) - {memory.id for memory in stored}
    if missing:
        raise StoreError(f"there is no memory with the id {', '.join(sorted(missing))}")
    return stored


def _show_traces(
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
            return f"left out{by}: {recall.why_left_out(memory.id)}"
    if not recall.query.scope.holds(memory.scope):
        scope = ", ".join(f"{name} {value}" for name, value in recall.query.scope.fields().items())
        return f"not found: it is outside the scope, {scope}"
    if memory.superseded_by and not (recall.query.as_of or recall.query.include_superseded):
        return f"not found: {memory.superseded_by} supersedes it"
    in_time = retriever.time_mode == "require" and bool(recall.query.time_ranges)
    limits = {
        "does not fit the filter": recall.query.filter is not None,
        "is outside the time required": in_time,
        "has no word of the question": retriever.method == "keyword",
    }
    reasons = [reason for reason, is_set in limits.items() if is_set]
    return f"not found: it {' or '.join(reasons) or 'is not near enough for the search'}"


def add_gate(parser: argparse.ArgumentParser) -> None:
    """Add the options of `recall gate`."""
    parser.add_argument("message", nargs="+", help="what the user says")
    parser.add_argument(
        "--threshold",
        type=float,
        default=SearchGate.model_fields["threshold"].default,
        help="the sum from which on memories are searched (0); lower = searched more often",
    )


def gate(options: argparse.Namespace) -> int:
    """Whether a message needs memories at all, and why.

    Returns 0 where memories are needed and 1 where they are not, so that a shell can decide by it.
    """
    message = " ".join(options.message)
    reading = SearchGate(threshold=options.threshold).explain(message)
    result = {
        "message": message,
        "search": reading.search,
        "score": reading.score,
        "threshold": reading.threshold,
        "start": reading.start,
        "words": [{"word": word, "points": round(points, 2)} for word, points in reading.words],
    }
    report(options, result, str(reading))
    return 0 if reading.search else 1
