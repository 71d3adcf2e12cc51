"""Ask the memories of a file or collection.

Prints the time that was understood, and the memories that answer, the best first, each with how its
score came about.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, get_args, get_origin

from recall_retrievers.cli.collection import add_collection, add_scope, opened, scope_of
from recall_retrievers.cli.output import print_json, print_time, recall_json, say, show
from recall_retrievers.core.stage import Recall
from recall_retrievers.explain.explanation import explain
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.stages.plain_texts import NOTHING_FOUND
from recall_retrievers.store import RecallStore

EXAMPLE = '{program} --memories notes.jsonl "what did I say about the dentist last Tuesday?"'

QUOTED = "each in quotes"
_AS_IN_PYTHON = "as those of RecallRetriever in Python; none switches a limit off"
_SETTINGS = {
    "method": "search by meaning, by words or both",
    "fusion": "how both make one score",
    "semantic_weight": "the share of meaning in it, 0 to 1",
    "token_weight": "the share of single words in the share of meaning, 0 to 1",
    "time_mode": "whether a named time is preferred, required or ignored",
    "time_range": 'look in this time, whatever the question names: "last week", "in March"',
    "filter": 'conditions on metadata: \'{"topic": "health"}\'',
    "threshold_score": "similarity below which nothing is a candidate, 0 to 1",
    "duplicate_threshold": "share of words from which two memories count as one",
    "mmr_lambda": "below 1, memories that repeat better ones lose score",
    "fetch_k": "the size of the candidate pool",
}
_METAVARS = {"filter": "JSON", "time_range": "WORDS"}
_WHOLE = re.compile(r"\s|[\u3040-\u30ff\u3400-\u9fff]")  # Chinese and Japanese have no spaces


def add_arguments(parser: argparse.ArgumentParser) -> None:
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
            help=about if field.default is None else f"{about} ({field.default})",
        )


def run(options: argparse.Namespace) -> int:
    """Ask each question and show what it finds."""
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
                answers.append(recall_json(question, recall))
            else:
                _show(question, recall)
        if options.json:
            print_json(answers)
    return 0


def _show(question: str, recall: Recall) -> None:
    say(f"\n{question}", style="bold")
    print_time(recall.query.time_ranges)
    if recall.memories:
        show(explain(recall.memories).table(ids=True))
    else:
        say(NOTHING_FOUND)


def add_moment(parser: argparse.ArgumentParser) -> None:
    """Add the option for the moment of asking."""
    parser.add_argument("--timestamp", help="the moment of asking, ISO 8601 (the clock)")


def texts_of(words: Sequence[str]) -> list[str]:
    """The texts on a command line: words without quotes are one, texts in quotes are several.

    Examples:
        >>> texts_of(["what", "did", "I", "do"]), texts_of(["Who is Bob?", "Who moved?"])
        (['what did I do'], ['Who is Bob?', 'Who moved?'])
    """
    return [*words] if any(map(_WHOLE.search, words)) else [" ".join(words)]


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
        **settings,
    )


def json_value(text: str) -> object:
    """An option that is JSON, and not empty."""
    with suppress(ValueError):
        if value := json.loads(text):
            return value
    message = f"""expected JSON that is not empty, such as '{{"topic": "health"}}'; got {text!r}"""
    raise argparse.ArgumentTypeError(message)
