"""What each part of the search is worth: every one switched off in turn, on data in a folder.

    python -m benchmarks.ablation --data DIR [--data DIR ...] [--face langchain|llamaindex]
                                  [--part NAME ...] [--variant NAME=SETTINGS ...]
                                  [--embedding default|multilingual] [--vectors FILE] [--json OUT]

DIR is one set, or a folder of sets. The questions are asked as they are (``--time parser`` of
benchmarks.retrieval), through the public retriever, with its defaults but for the part that is off:

- ``dense``: keyword search alone; ``keyword``: search by meaning alone.
- ``context``: each memory stored for itself, without what was said before it.
- ``words around``: a turn is found by its own words alone, not by those of the turns around it.
- ``single words``: the words of a question are not compared with those of a memory by meaning
  (MaxSim).
- ``fusion``: fused by rank instead of by score.
- ``time window``: the time that a question names is not read.
- ``event time``: the times that memories tell of are not read.
- ``type``, ``author``: neither kind nor speaker of a memory counts.
- ``matched words``: the share of meaning is the same if no memory has the question's words.
- ``replies``: a turn is not lifted towards a better reply.
- ``session``: a turn is not lifted towards a better one of its session.
- ``duplicates``: copies and near-copies stay.

``--part`` measures these alone. ``--variant`` measures settings of the retriever, as JSON:
``--variant 'weight .45={"semantic_weight": 0.45}'``. ``--vectors`` keeps the embedded texts in a
file, so that the next run takes minutes. The category adversarial is left out.

The first table decides about a default: the mean over sets, the change in it with its 95 % interval
(paired bootstrap over questions), and the sets whose own change is certain. A change stays when the
mean rises and no set falls for certain.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypedDict
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from benchmarks.datasets import DataError, RetrievalSet, read_retrieval_set, set_folders
from benchmarks.embedding import EMBEDDINGS, OncePerText, once_per_text
from benchmarks.faces import FACES, Face
from benchmarks.output import json_file, write_json
from benchmarks.paired import Change, mean_change, paired_change
from benchmarks.retrieval import TimeUse, ask_all, open_store
from recall_retrievers.evaluation.evaluate import Figures, mean, score
from recall_retrievers.stages.extract_time import ExtractTime
from recall_retrievers.stages.fuse_rerank import FuseRerank
from recall_retrievers.store import RecallStore

_ALL = "nothing"
_SHOWN = ("recall@5", "recall@10")

Results = Mapping[str, Mapping[str, "Answers"]]
"""The answers by set and part."""


class Part(TypedDict, total=False):
    """What is different when a part is off."""

    settings: Mapping[str, object]
    store: Mapping[str, bool]
    time: TimeUse
    patched: Mapping[str, object]  # names of ours that no setting reaches


def _fused(**ratios: Any) -> Part:
    return {"settings": {"stages": [ExtractTime(), FuseRerank(**ratios)]}}


PARTS: dict[str, Part] = {
    _ALL: {},
    "dense": {"settings": {"method": "keyword"}},
    "keyword": {"settings": {"method": "semantic"}},
    "context": {"store": {"context": False}},
    "words around": {
        "patched": {
            "recall_retrievers.store.rows.turns.counted": lambda own, _before, _after: Counter(own)
        }
    },
    "single words": {"settings": {"token_weight": 0.0}},
    "fusion": {"settings": {"fusion": "ranks"}},
    "time window": {"time": "none"},
    "event time": {"store": {"event_times": False}},
    "type": _fused(fuse_ratio_dict={}),
    "author": _fused(fuse_author_ratio=1.0, fuse_role_ratio_dict={}),
    "matched words": {"patched": {"recall_retrievers.retriever.memory_retriever._UNMATCHED": None}},
    "replies": {"patched": {"recall_retrievers.ranking.fusion._REPLY": 0.0}},
    "session": _fused(fuse_session_share=0.0),
    "duplicates": {"settings": {"duplicate_threshold": None}},
}


class Answers(TypedDict):
    """How a set was answered with one part off.

    Attributes:
        overall: The mean figures.
        by_question: Each figure question by question, in the order of the set.
    """

    overall: Figures
    by_question: dict[str, list[float]]


def measure(
    data: RetrievalSet, face: Face, vectors: OncePerText, parts: Mapping[str, Part] = PARTS
) -> dict[str, Answers]:
    """The figures over all questions of a set, by the name of the part that was off."""
    answers: dict[str, Answers] = {}
    loaded: dict[tuple[object, ...], dict[str, RecallStore]] = {}
    with ExitStack() as stack:
        for name, part in parts.items():
            how, patched = part.get("store", {}), part.get("patched", {})
            stores = loaded.setdefault((*how.items(), *patched), {})
            with ExitStack() as changed:
                for path, value in patched.items():
                    changed.enter_context(patch(path, value))
                for corpus in data.corpora:
                    if corpus not in stores:
                        opened = open_store(data, corpus, vectors, **how)
                        stores[corpus] = stack.enter_context(opened)
                settings: Mapping[str, Any] = part.get("settings", {})
                found, _ = ask_all(data, face, part.get("time", "parser"), stores, **settings)
            answers[name] = _answers(data, found)
    return answers


def _answers(data: RetrievalSet, found: Sequence[Sequence[str]]) -> Answers:
    figures = [
        figures
        for question, ranking in zip(data.questions, found, strict=True)
        if question.category != "adversarial" and (figures := score(question.relevant, ranking))
    ]
    return {
        "overall": mean(figures),
        "by_question": {name: [each[name] for each in figures] for name in _SHOWN},
    }


def changes(results: Results, part: str, figure: str) -> tuple[Change, dict[str, Change]]:
    """What a part does to the mean over sets, and to each set.

    Args:
        results: The answers by set and part.
        part: The part that was off.
        figure: Such as "recall@5".
    """
    pairs = {
        name: (answers[_ALL]["by_question"][figure], answers[part]["by_question"][figure])
        for name, answers in results.items()
    }
    return mean_change(pairs), {name: paired_change(*pair) for name, pair in pairs.items()}


def show(results: Results, parts: Iterable[str]) -> None:
    """Two tables for a person: what decides, and the figures of each set."""
    console = Console()
    console.width = max(console.width, 30 * (1 + len(results)))
    others = [part for part in parts if part != _ALL]
    for figure in _SHOWN:
        table = Table("off", "mean", "change", "sets down", "sets up", title=f"{figure}, all sets")
        table.add_row(_ALL, f"{_over_sets(results, _ALL, figure):.3f}")
        for part in others:
            change, by_set = changes(results, part, figure)
            certain = {name: each for name, each in by_set.items() if each.certain}
            down, up = (
                ", ".join(f"{n} {c.mean:+.3f}" for n, c in certain.items() if (c.mean > 0) == rises)
                for rises in (False, True)
            )
            table.add_row(part, f"{_over_sets(results, part, figure):.3f}", str(change), down, up)
        console.print(table)
    table = Table("off", title=" / ".join(_SHOWN))
    for name in results:
        table.add_column(name, justify="right", no_wrap=True)
    for part in (_ALL, *others):
        table.add_row(part, *(_cell(answers, part) for answers in results.values()))
    console.print(table)
    console.print(f"Beside each figure: the difference in {_SHOWN[0]} to nothing off.")


def _over_sets(results: Results, part: str, figure: str) -> float:
    return sum(each[part]["overall"][figure] for each in results.values()) / len(results)


def _cell(answers: Mapping[str, Answers], part: str) -> str:
    shown = " / ".join(f"{answers[part]['overall'][each]:.3f}" for each in _SHOWN)
    lost = answers[part]["overall"][_SHOWN[0]] - answers[_ALL]["overall"][_SHOWN[0]]
    return shown if part == _ALL else f"{shown} {lost:+.3f}"


def _variant(given: str) -> tuple[str, Part]:
    name, _, settings = given.partition("=")
    try:
        read = json.loads(settings)
    except ValueError:
        read = None
    if not name or not isinstance(read, dict):
        raise argparse.ArgumentTypeError(
            f'expected NAME=SETTINGS such as weight={{"semantic_weight": 0.45}}; got {given}'
        )
    return name, {"settings": read}


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.ablation")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--face", choices=FACES, default="langchain")
    parser.add_argument("--part", choices=[part for part in PARTS if part != _ALL], action="append")
    parser.add_argument("--variant", type=_variant, action="append", default=[])
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        sets = [read_retrieval_set(folder) for folder in set_folders(given.data)]
    except DataError as error:
        parser.error(str(error))
    chosen = given.part or ([] if given.variant else PARTS)
    parts = {_ALL: PARTS[_ALL], **{part: PARTS[part] for part in chosen}, **dict(given.variant)}
    with once_per_text(given.vectors, given.embedding) as vectors:
        results = {data.name: measure(data, given.face, vectors, parts) for data in sets}
    show(results, parts)
    write_json(given.json, results)


if __name__ == "__main__":
    main()
