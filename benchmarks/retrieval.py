"""Retrieval quality through the public retriever, beside three baselines, on data in a folder.

    python -m benchmarks.retrieval --data DIR [--data DIR ...] [--face langchain|llamaindex]
                                   [--time parser|none|oracle|wrong] [--vectors FILE] [--json OUT]
                                   [--embedding default|multilingual]

DIR is one set, or a folder of sets; of several sets the mean is printed last, each counting the
same. ``--vectors`` keeps the embedded texts in a file for the next run; a question is then embedded
once, and its milliseconds leave that out.

A query may find the memories of its own corpus that were created at or before its ``now``. There
is one store a corpus, loaded once, as the conversation that it is (a pause of an hour begins
another). Where it holds a later memory, the call carries the filter ``created_at <= now``, which
finds what a store cut at ``now`` would.

``--time`` says what becomes of the time a query names: ``parser`` asks the text as it is;
``none`` the same with time handling off; ``oracle`` hands in the right window, with the words that
name it out of the text; ``wrong`` asks for a wrong window (``off_text``) in the parser's way.
A question of a conversation carries its ``messages``. The baselines are asked with the same words,
those of the time included, and read the bare text of the memories; the retriever's store may embed
more of a memory than that, such as its author.

``overall`` leaves the category adversarial out; ``time_naming`` is over all queries whose ``time``
is not null. ``queries`` counts the lines; one to which nothing is relevant has no figures.
``ahead`` of a baseline is our figure minus its own, with the 95 % interval (paired bootstrap).
``without_time`` compares, with ``--time parser``, the queries whose ``time`` is null with
``--time none``: how many there are, and those that do not rank exactly the same. ``whole_days``
counts the queries for a day or a week with at most ten memories, and how many got all of these.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from benchmarks.baselines import Baselines
from benchmarks.datasets import (
    DataError,
    Question,
    RetrievalSet,
    read_retrieval_set,
    set_folders,
)
from benchmarks.embedding import EMBEDDINGS, OncePerText, once_per_text
from benchmarks.faces import FACES, Face, open_face
from benchmarks.output import json_file, write_json
from benchmarks.paired import Change, paired_change
from benchmarks.report import AHEAD, print_ahead, print_retrieval, print_retrieval_mean
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.evaluation.evaluate import Figures, mean, score
from recall_retrievers.retriever.call_options import CallOptions
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange
from recall_retrievers.timeline.extract_time import without_time_words

TimeUse = Literal["parser", "none", "oracle", "wrong"]

_K = 10


class Scores(TypedDict):
    """The figures of one system."""

    overall: Figures
    by_category: dict[str, Figures]
    time_naming: Figures


def measure(
    data: RetrievalSet,
    face: Face,
    use: TimeUse,
    vectors: OncePerText,
    **settings: Any,
) -> dict[str, object]:
    """Ask every question of a set, and count.

    Args:
        data: The set.
        face: Whose retriever is asked.
        use: What becomes of the time that a query names; see the module.
        vectors: The embedding of stores and baselines alike.
        **settings: Further settings of the retriever, to try variants.

    Returns:
        What ``--json`` writes.
    """
    rankings: dict[str, list[list[str]]] = {"bm25": [], "dense": [], "rrf": []}
    baselines = Baselines(data, vectors)
    with ExitStack() as stack:
        stores = {
            corpus: stack.enter_context(open_store(data, corpus, vectors))
            for corpus in data.corpora
        }
        found, milliseconds = ask_all(data, face, use, stores, **settings)
        without = _without_time(data, face, stores, found, **settings) if use == "parser" else {}
    for question in data.questions:
        for name, ranking in baselines.rank(question, _words(question, use)).items():
            rankings[name].append(ranking)
    p50, p95 = np.percentile(milliseconds, [50, 95])
    others = {name: scores(data.questions, ranked) for name, ranked in rankings.items()}
    return {
        "set": data.name,
        "face": face,
        "time": use,
        "queries": len(data.questions),
        **scores(data.questions, found),
        "without_time": without,
        "whole_days": _whole_days(data, found),
        "ms_per_query": {"p50": round(p50, 4), "p95": round(p95, 4)},
        "baselines": {
            name: {
                **figures["overall"],
                "by_category": figures["by_category"],
                "time_naming": figures["time_naming"],
                "ahead": _ahead(data.questions, found, rankings[name]),
            }
            for name, figures in others.items()
        },
    }


def ask_all(
    data: RetrievalSet,
    face: Face,
    use: TimeUse,
    stores: Mapping[str, RecallStore],
    **settings: Any,
) -> tuple[list[list[str]], list[float]]:
    """For each question the ids found, and the milliseconds it took.

    Args:
        data: The set.
        face: Whose retriever is asked.
        use: What becomes of the time that a query names; see the module.
        stores: The store of each corpus, filled.
        **settings: Further settings of the retriever.
    """
    ask = {corpus: open_face(face, store, **settings) for corpus, store in stores.items()}
    for each in ask.values():
        each("warm up", {"k": _K})  # the first call of a process loads the model
    found, milliseconds = [], []
    for question in progress_bar(data.questions, desc=data.name, unit="queries"):
        text, options = asked(data, question, use)
        started = time.perf_counter()
        found.append(ask[question.corpus](text, options))
        milliseconds.append(1000 * (time.perf_counter() - started))
    return found, milliseconds


def _without_time(
    data: RetrievalSet,
    face: Face,
    stores: Mapping[str, RecallStore],
    found: Sequence[list[str]],
    **settings: Any,
) -> dict[str, object]:
    """How many questions are marked as naming no time, and which rank otherwise for time's sake."""
    asked_, ranked = [], []
    for question, ids in zip(data.questions, found, strict=True):
        if question.window is None:
            asked_.append(question)
            ranked.append(ids)
    plain, _ = ask_all(replace(data, questions=asked_), face, "none", stores, **settings)
    moved = [q.text for q, one, other in zip(asked_, ranked, plain, strict=True) if one != other]
    return {"queries": len(asked_), "moved": moved}


def _whole_days(data: RetrievalSet, found: Sequence[list[str]]) -> dict[str, int]:
    """How many questions name a day or a week with few memories, and how many got all of them."""
    whole = []
    for question, ids in zip(data.questions, found, strict=True):
        window = question.window
        if window is None or window.end - window.start > timedelta(days=7):
            continue
        days = ((each.id, each.created_at) for each in data.visible(question))
        inside = {name for name, day in days if day and window.start <= day < window.end}
        whole += [inside.issubset(ids)] if 0 < len(inside) <= _K else []
    return {"queries": len(whole), "whole": sum(whole)}


def open_store(
    data: RetrievalSet,
    corpus: str,
    vectors: OncePerText,
    *,
    context: bool = True,
    event_times: bool = True,
) -> RecallStore:
    """A store with the memories of a corpus: as the conversation they are, or each for itself."""
    store = RecallStore(embedding=vectors, event_times=event_times)
    add = store.add_conversation if context else store.add
    add(data.corpora[corpus])
    return store


def asked(data: RetrievalSet, question: Question, use: TimeUse) -> tuple[str, CallOptions]:
    """The words and the call's settings with which a question is asked."""
    options: CallOptions = {"k": _K, "timestamp": question.now, "timezone": "UTC"}
    if len(data.visible(question)) < len(data.corpora[question.corpus]):
        options["filter"] = {"created_at": {"$lte": question.now}}
    if question.messages:
        options["messages"] = question.messages
    text = _words(question, use)
    if use == "none":
        options["time_mode"] = "ignore"
    if use == "oracle" and question.window is not None:
        window = question.window
        options["time_range"] = (window.start, window.end)
        # The set marks the words in lower case here and there.
        place = text.lower().find(window.span.lower())
        if window.span and place >= 0:
            span = (place, place + len(window.span))
            text = without_time_words(text, [TimeRange(window.start, window.end, "day", span=span)])
    return text, options


def _words(question: Question, use: TimeUse) -> str:
    return question.off_text or question.text if use == "wrong" else question.text


def scores(questions: Sequence[Question], rankings: Sequence[Sequence[str]]) -> Scores:
    """The figures of a system's rankings, one ranking a question."""
    figures = [
        (question, score(question.relevant, ranking))
        for question, ranking in zip(questions, rankings, strict=True)
    ]
    return {
        "overall": _mean([each for asked_, each in figures if asked_.category != "adversarial"]),
        "by_category": {
            category: _mean([each for asked_, each in figures if asked_.category == category])
            for category in sorted({question.category for question in questions})
        },
        "time_naming": _mean([each for asked_, each in figures if asked_.window is not None]),
    }


def _ahead(
    questions: Sequence[Question], ours: Sequence[list[str]], others: Sequence[list[str]]
) -> dict[str, Change]:
    """Our recall minus that of another system, over the questions of ``overall``."""
    pairs = [
        (theirs, own)
        for question, *ranked in zip(questions, ours, others, strict=True)
        if question.category != "adversarial"
        for own, theirs in [[score(question.relevant, ranking) for ranking in ranked]]
        if own is not None and theirs is not None
    ]
    return {
        name: paired_change([old[name] for old, _ in pairs], [new[name] for _, new in pairs])
        for name in AHEAD
        if pairs
    }


def _mean(figures: Sequence[Figures | None]) -> Figures:
    return {name: round(value, 4) for name, value in mean(figures).items()}


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.retrieval")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--face", choices=FACES, default="langchain")
    parser.add_argument("--time", choices=get_args(TimeUse), default="parser")
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        sets = [read_retrieval_set(folder) for folder in set_folders(given.data)]
    except DataError as error:
        parser.error(str(error))
    results = []
    with once_per_text(given.vectors, given.embedding) as vectors:
        for data in sets:
            results.append(measure(data, given.face, given.time, vectors))
            print_retrieval(results[-1])
    if len(results) > 1:
        print_retrieval_mean(results)
    print_ahead(results)
    write_json(given.json, results[0] if len(results) == 1 else results)


if __name__ == "__main__":
    main()
