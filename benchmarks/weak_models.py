"""What a model of a known quality makes of the ranking, for several shares of the score.

    python -m benchmarks.weak_models --data DIR [--data DIR ...] [--face langchain|llamaindex|both]
                                     [--shares 0.35,1] [--orders 1] [--seeds 5]
                                     [--questions 60] [--vectors FILE] [--json OUT]

The whole flow answers (`personal_memory_retriever`), and a scripted model scores what its prompt
shows. The models differ in how well they know the relevant memories:

- ``oracle``: 1 for every relevant memory, 0 for the others;
- ``brief``: the same, and names the relevant ones alone, as the prompt asks;
- ``half``: an oracle that stops after the first half of each prompt;
- ``0.9``, ``0.75``, ``0.6``: scores with this AUC, the chance that a relevant memory has more than
  another one; the scores are spread evenly from 0 to 1 over the memories that are not relevant;
- ``random``: the same without any knowledge, AUC 0.5;
- ``sure``: names one memory of sixteen by chance, with 1, and leaves out the others;
- ``constant``: 0.5 for all;
- ``reversed``: 0 for every relevant memory, 1 for the others.

The figure is recall at 5, the mean of the seeds. ``no model`` is the flow without one. ``safe``:
the random model costs no more than 0.02. ``kept``: the part of the oracle's gain, as its score
alone would have it (share 1), that is left. With ``--questions`` so many of each set are asked,
evenly spread.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean
from typing import Any, TypedDict

from rich.console import Console
from rich.table import Table

from benchmarks.datasets import DataError, Question, RetrievalSet, read_retrieval_set, set_folders
from benchmarks.embedding import OncePerText, once_per_text
from benchmarks.faces import FACES, Face
from benchmarks.output import json_file, write_json
from benchmarks.retrieval import asked, open_store
from recall_retrievers.evaluation.evaluate import mean, score
from recall_retrievers.llm import judging
from recall_retrievers.llm.fencing import harmless
from recall_retrievers.store import RecallStore

MODELS = (
    *("oracle", "brief", "half", "0.9", "0.75", "0.6"),
    *("random", "sure", "constant", "reversed"),
)
_AUC = {"0.9": 0.9, "0.75": 0.75, "0.6": 0.6, "random": 0.5}
_SURE = 1 / 16  # of the memories
_K = 10
_MEMORY = re.compile(r'<memory number="(\d+)"[^>]*>\n(.*?)\n</memory>', re.DOTALL)
_NORMAL = NormalDist()

Ask = Callable[[Question], list[str]]


class Row(TypedDict):
    """The recall at 5 of each model for one face, one set and one share."""

    set: str
    face: str
    share: float
    orders: int
    no_model: float
    models: dict[str, float]
    safe: bool
    kept: float


@dataclass(frozen=True)
class Plan:
    """What is tried.

    Attributes:
        shares: The shares of the model in the score.
        orders: In how many orders each window is sent.
        seeds: How often a model with chance in it is tried.
    """

    shares: Sequence[float]
    orders: int = 1
    seeds: int = 5


def fewer(data: RetrievalSet, most: int | None) -> RetrievalSet:
    """A set with so many of its questions, evenly spread; None = all."""
    asked_ = [each for each in data.questions if each.relevant]
    step = max(1.0, len(asked_) / most) if most else 1.0
    chosen = [asked_[int(n * step)] for n in range(int(len(asked_) / step))]
    used = {each.corpus for each in chosen}
    corpora = {name: memories for name, memories in data.corpora.items() if name in used}
    return replace(data, questions=chosen, corpora=corpora)


class Judge:
    """A model that knows how relevant a memory is, as well as its name says.

    Args:
        name: One of `MODELS`.
        seed: What its errors depend on, with the question and the order of the memories.
    """

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.seed = seed
        self.question = ""
        self.relevant: frozenset[str] = frozenset()

    def __call__(self, prompt: str) -> str:
        """The reply to a prompt of `SemanticRank`."""
        shown = _MEMORY.findall(prompt)
        if not shown:  # of `ExtractTime`: nobody knows
            return '{"start": null, "end": null}'
        chance = Random(f"{self.name} {self.seed} {self.question} {shown}")  # noqa: S311 - no secret
        if self.name == "half":
            shown = shown[: (len(shown) + 1) // 2]
        scores = [
            [int(number), self._score(text in self.relevant, chance)] for number, text in shown
        ]
        brief = self.name in {"brief", "sure"}
        return json.dumps({"scores": [each for each in scores if each[1] or not brief]})

    def _score(self, relevant: bool, chance: Random) -> float:
        if self.name == "constant":
            return 0.5
        if self.name == "sure":
            return float(chance.random() < _SURE)
        if self.name not in _AUC:
            return float(relevant is (self.name != "reversed"))
        # Two normal curves so far apart that the one is above the other with this chance.
        apart = 2**0.5 * _NORMAL.inv_cdf(_AUC[self.name])
        return round(_NORMAL.cdf(chance.gauss(apart if relevant else 0.0, 1.0)), 4)


def measure(data: RetrievalSet, face: Face, vectors: OncePerText, plan: Plan) -> list[Row]:
    """Ask every question of a set, with every model, for every share.

    Args:
        data: The set.
        face: Whose flow is asked.
        vectors: The embedding.
        plan: What is tried.
    """
    with ExitStack() as stack:
        stores = {
            corpus: stack.enter_context(open_store(data, corpus, vectors))
            for corpus in data.corpora
        }
        plain = _recall(data, _flow(data, face, stores))

        def figure(name: str, share: float) -> float:
            settings = {"semantic_share": share, "orders": plan.orders}
            tries = range(plan.seeds if name in {*_AUC, "sure"} else 1)
            return fmean(
                _recall(data, _asking(data, face, stores, Judge(name, seed), **settings))
                for seed in tries
            )

        best = figure("oracle", 1.0)
        rows: list[Row] = []
        for share in plan.shares:
            models = {name: round(figure(name, share), 4) for name in MODELS}
            gain = (models["oracle"] - plain) / (best - plain) if best > plain else 1.0
            rows.append(
                {
                    "set": data.name,
                    "face": face,
                    "share": share,
                    "orders": plan.orders,
                    "no_model": round(plain, 4),
                    "models": models,
                    "safe": models["random"] >= plain - 0.02,
                    "kept": round(gain, 3),
                }
            )
        return rows


def _recall(data: RetrievalSet, ask: Ask) -> float:
    return mean([score(each.relevant, ask(each)) for each in data.questions])["recall@5"]


def _asking(
    data: RetrievalSet,
    face: Face,
    stores: Mapping[str, RecallStore],
    judge: Judge,
    **settings: Any,
) -> Ask:
    texts = {
        corpus: {memory.id: memory.content for memory in memories}
        for corpus, memories in data.corpora.items()
    }

    def ask(question: Question) -> list[str]:
        judge.question = question.text
        known = texts[question.corpus]
        judge.relevant = frozenset(
            harmless(known[each]) for each in question.relevant & known.keys()
        )
        return retrieve(question)

    retrieve = _flow(data, face, stores, judge, **settings)
    return ask


def _flow(
    data: RetrievalSet,
    face: Face,
    stores: Mapping[str, RecallStore],
    judge: Judge | None = None,
    **settings: Any,
) -> Ask:
    """The ready-made flow of a face, with a model or without, as one function."""
    package = import_module(f"{face}_recall")
    instead, model = [], None
    if judge is not None:
        model = import_module(f"benchmarks.conformance.{face}_subject").ScriptedModel(
            replies=[judge]
        )
        instead = [package.SemanticRank(**settings)]
    retrievers = {
        corpus: package.personal_memory_retriever(store, model, replace=instead)
        for corpus, store in stores.items()
    }

    def ask(question: Question) -> list[str]:
        text, options = asked(data, question, "parser")
        retriever = retrievers[question.corpus]
        if face == "langchain":
            return [str(each.id) for each in retriever.invoke(text, **options)]
        return [each.node.node_id for each in retriever.retrieve(text, **options)]

    return ask


def _print(rows: Sequence[Row]) -> None:
    table = Table(title="recall at 5, by the share of the model in the score")
    for column in ("set", "face", "orders", "share", "no model", *MODELS, "safe", "kept"):
        table.add_column(column, justify="left" if column in {"set", "face"} else "right")
    for row in rows:
        figures = [f"{row['models'][name]:.3f}" for name in MODELS]
        table.add_row(
            *(row["set"], row["face"], str(row["orders"]), f"{row['share']:g}"),
            *(f"{row['no_model']:.3f}", *figures, "yes" if row["safe"] else "no"),
            f"{row['kept']:.2f}",
        )
    Console(width=170).print(table)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.weak_models")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--face", choices=(*FACES, "both"), default="both")
    share = judging.Judge.model_fields["semantic_share"].default
    parser.add_argument("--shares", default=f"{share:g}")
    parser.add_argument("--orders", type=int, choices=(1, 2, 3), default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--questions", type=int)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    try:
        sets = [
            fewer(read_retrieval_set(folder), given.questions) for folder in set_folders(given.data)
        ]
        shares = [float(each) for each in given.shares.split(",")]
    except (DataError, ValueError) as error:
        parser.error(str(error))
    if min(given.seeds, 1 if given.questions is None else given.questions) < 1 or not all(
        0 <= each <= 1 for each in shares
    ):
        parser.error(
            "--seeds and --questions take a number from 1 on, --shares numbers from 0 to 1"
        )
    faces = FACES if given.face == "both" else (given.face,)
    rows = []
    with once_per_text(given.vectors) as vectors:
        for data in sets:
            for face in faces:
                rows += measure(data, face, vectors, Plan(shares, given.orders, given.seeds))
    _print(rows)
    write_json(given.json, rows)


if __name__ == "__main__":
    main()
