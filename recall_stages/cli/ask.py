"""Ask the memories of a file or collection.

Prints the time that was understood, and the memories that answer, the best first, each with how its
score came about.
"""

from __future__ import annotations

import argparse

from recall_stages.cli.collection import opened
from recall_stages.cli.output import print_json, print_time, recall_json, say, show
from recall_stages.cli.question import add_question, retriever_of, texts_of
from recall_stages.core.stage import Recall
from recall_stages.explain.explanation import explain
from recall_stages.stages.print_memory import NOTHING_FOUND

EXAMPLE = '{program} --memories notes.jsonl "what did I say about the dentist last Tuesday?"'


add_arguments = add_question


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
