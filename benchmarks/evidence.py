"""What the sign `recall_evidence` catches, and what it cannot see, on data in a folder.

    python -m benchmarks.evidence --data DIR [--data DIR ...] [--vectors FILE] [--json OUT]

DIR is one set, or a folder of sets; LoCoMo's category adversarial is left out. Every question is
asked four times: of its own memories ("own"), of those of another corpus of its set ("other"), with
the name of the other speaker in it ("person", where two people talk, one is named, and all the
evidence is the words of that one), and of its own memories without the evidence ("answer").

AUROC is that of `Evidence.number`: how often a question at its own memories has more of it than one
that has no answer. Questions about the wrong person are compared with those they are made of.
"Silenced" are the questions whose sign is "none"; of "own" these are lost. "Bound elsewhere" is the
same with nothing but a bound on the number, which loses 1 % of the own questions of other sets,
each counting the same: a set and its twin are left out together.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.datasets import (
    DataError,
    Question,
    RetrievalSet,
    read_retrieval_set,
    set_folders,
)
from benchmarks.embedding import OncePerText, once_per_text
from benchmarks.output import json_file, write_json
from benchmarks.retrieval import open_store
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.core.query import Evidence, Filter
from recall_retrievers.retriever.memory_retriever import MemoryRetriever
from recall_retrievers.text.questions import asks_about, person

KINDS: Final = ("own", "other", "person", "answer")
_OTHERS: Final = KINDS[1:]
_NAMED: Final = "named"  # the own questions that those about the wrong person are made of
_LOST: Final = 0.01
_PLACE: Final = "place"  # the metadata key by which the evidence is left out

Asked = Mapping[str, Sequence[Evidence]]
"""The evidence of the questions of a set, by kind."""


def ask(data: RetrievalSet, vectors: OncePerText) -> Asked:
    """Ask every question of a set in the four ways."""
    data = replace(
        data,
        corpora={
            name: [each.model_copy(update={"metadata": {_PLACE: each.id}}) for each in memories]
            for name, memories in data.corpora.items()
        },
    )
    found: dict[str, list[Evidence]] = defaultdict(list)
    corpora = [*data.corpora]
    with ExitStack() as stack:
        asks = {
            name: MemoryRetriever(store=stack.enter_context(open_store(data, name, vectors)))
            for name in corpora
        }
        questions = [each for each in data.questions if each.relevant]
        questions = [each for each in questions if each.category != "adversarial"]
        for n, question in enumerate(progress_bar(questions, desc=data.name, unit="queries")):
            own, text = asks[question.corpus], question.text
            later = len(data.visible(question)) < len(data.corpora[question.corpus])
            seen: list[Filter] = [{"created_at": {"$lte": question.now}}] if later else []
            rest: Filter = {_PLACE: {"$nin": sorted(question.relevant)}}
            ask_of = partial(_evidence, now=question.now, messages=question.messages)
            found["own"].append(ask_of(own, text, conditions=seen))
            found["answer"].append(ask_of(own, text, conditions=[*seen, rest]))
            others = [each for each in corpora if each != question.corpus]
            if others:
                other = asks[others[n % len(others)]]
                found["other"].append(ask_of(other, text))
            for swapped in _wrong_person(data, question):
                found[_NAMED].append(found["own"][-1])
                found["person"].append(ask_of(own, swapped, conditions=seen))
    return found


def _evidence(
    asked: MemoryRetriever,
    text: str,
    now: datetime,
    messages: Sequence[tuple[str, str]],
    conditions: Sequence[Filter] = (),
) -> Evidence:
    condition: Filter | None = {"$and": [*conditions]} if len(conditions) > 1 else None
    condition = condition or next(iter(conditions), None)
    recall = asked.recall_without_model(
        text, timestamp=now, timezone="UTC", filter=condition, messages=messages
    )
    return recall.evidence or Evidence("some")  # nothing was searched for: it names a time alone


def _wrong_person(data: RetrievalSet, question: Question) -> Iterable[str]:
    """The question with the name of the other one of two people, if that one cannot answer."""
    memories = data.corpora[question.corpus]
    people = sorted({author for each in memories if (author := person(each.author))})
    named = [name for name in people if asks_about(question.text, name)]
    answer = {each.author for each in memories if each.id in question.relevant}
    if len(people) != 2 or len(named) != 1 or answer != set(named):
        return
    [other] = set(people) - set(named)
    swapped, ours = question.text, other.split()
    for place, part in enumerate(named[0].split()):
        swapped = re.sub(rf"\b{re.escape(part)}\b", ours[min(place, len(ours) - 1)], swapped)
    if asks_about(swapped, other) and not asks_about(swapped, named[0]):
        yield swapped


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float | None:
    """How often one of the first is higher than one of the second; a draw counts half.

    Examples:
        >>> auroc([3, 2], [1, 2])
        0.875
    """
    if not len(higher) or not len(lower):
        return None
    one, other = np.asarray(higher)[:, None], np.asarray(lower)[None, :]
    return round(float((one > other).mean() + (one == other).mean() / 2), 4)


def measure(asked: Mapping[str, Asked]) -> list[dict[str, object]]:
    """The figures of each set, by name."""
    return [_figures(name, kinds, asked) for name, kinds in asked.items()]


def _figures(name: str, kinds: Asked, asked: Mapping[str, Asked]) -> dict[str, object]:
    numbers = {kind: [each.number for each in found] for kind, found in kinds.items()}
    bound = _bound(
        [each["own"] for other, each in asked.items() if _family(other) != _family(name)]
    )
    return {
        "set": name,
        "questions": {kind: len(numbers.get(kind, ())) for kind in KINDS},
        "auroc": {
            kind: auroc(numbers[_NAMED if kind == "person" else "own"], numbers[kind])
            for kind in _OTHERS
            if kind in numbers
        },
        "silenced": {kind: _share(kinds, kind, "none") for kind in KINDS},
        "strong": {kind: _share(kinds, kind, "strong") for kind in KINDS},
        "bound_elsewhere": {
            kind: _mean([number < bound for number in numbers.get(kind, ())]) for kind in KINDS
        },
    }


def _share(kinds: Asked, kind: str, sign: str) -> float | None:
    return _mean([each.sign == sign for each in kinds.get(kind, ())])


def _family(name: str) -> str:
    return name.partition("-")[0]


def _bound(sets: Sequence[Sequence[Evidence]]) -> float:
    """The number below which 1 % of the questions lie, each set counting the same."""
    if not sets:
        return float("-inf")
    numbers = np.concatenate([[each.number for each in found] for found in sets])
    weights = np.concatenate([np.full(len(found), 1 / len(found) / len(sets)) for found in sets])
    order = np.argsort(numbers)
    return float(numbers[order][np.searchsorted(np.cumsum(weights[order]), _LOST)])


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 4) if known else None


def print_figures(results: Sequence[dict[str, dict[str, float | None]]]) -> None:
    """A table of all sets, and their mean."""
    table = Table("set", "questions", *(f"AUROC {kind}" for kind in _OTHERS), title="evidence")
    for title in ("silenced", "strong", "bound elsewhere"):
        table.add_column(f"{title}: {', '.join(KINDS)}")
    for each in results:
        table.add_row(str(each["set"]), str(each["questions"]["own"]), *_cells(each))
    parts = ("auroc", "silenced", "strong", "bound_elsewhere")
    means = {
        part: {kind: _mean([each[part].get(kind) for each in results]) for kind in KINDS}
        for part in parts
    }
    table.add_row("mean", "", *_cells(means))
    Console(width=170).print(table)


def _cells(each: Mapping[str, Mapping[str, float | None]]) -> list[str]:
    single = [_shown(each["auroc"].get(kind)) for kind in _OTHERS]
    parts = ("silenced", "strong", "bound_elsewhere")
    return [*single, *(" ".join(_shown(each[part][kind]) for kind in KINDS) for part in parts)]


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.evidence")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        sets = [read_retrieval_set(folder) for folder in set_folders(given.data)]
    except DataError as error:
        parser.error(str(error))
    with once_per_text(given.vectors) as vectors:
        asked = {data.name: ask(data, vectors) for data in sets}
    results = measure(asked)
    print_figures(results)
    write_json(given.json, results)


if __name__ == "__main__":
    main()
