"""Our retriever beside BM25, vectors and the two fused, on questions that people ask.

    python -m benchmarks.everyday [--data FOLDER] [--html FILE]

The folder holds memories.jsonl and questions.jsonl as `recall eval` reads them; see the README of
examples/everyday. The baselines are those of benchmarks.retrieval: they search only in the memories
of the question's user, with the same embedding over the same texts, and read no time.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import datasets
from benchmarks.baselines import Baselines
from benchmarks.embedding import OncePerText, once_per_text
from langchain_recall import RecallRetriever, evaluate
from recall_retrievers.core.memory import Memory
from recall_retrievers.evaluation.comparison import Comparison, compare
from recall_retrievers.evaluation.evaluate import Evaluation, Find, evaluate_with
from recall_retrievers.evaluation.questions import Question, read_questions
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import parse_time

FOLDER = Path(__file__).parent.parent / "examples" / "everyday"
BASELINES = {"dense": "by meaning", "bm25": "BM25", "rrf": "BM25 + meaning, by rank"}


def read_memories(folder: Path) -> list[Memory]:
    """The memories of a folder, each in the scope of its user."""
    lines = (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [Memory(scope={"user_id": row.pop("user_id")}, **row) for row in rows]


def evaluate_baselines(
    memories: Iterable[Memory], questions: Sequence[Question], vectors: OncePerText
) -> dict[str, Evaluation]:
    """What each baseline finds.

    Args:
        memories: All memories; a question's user has those in the same ``user_id``.
        questions: The questions.
        vectors: The embedding.
    """
    owned: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        owned[memory.scope.user_id or ""].append(memory)
    baselines = Baselines(datasets.RetrievalSet("everyday", owned, []), vectors)
    return {
        shown: evaluate_with(_finding(baselines, owned, name), questions)
        for name, shown in BASELINES.items()
    }


def _finding(baselines: Baselines, owned: Mapping[str, Sequence[Memory]], name: str) -> Find:
    def find(question: Question) -> list[Memory]:
        owner = question.scope.user_id or ""
        asked = datasets.Question(
            corpus=owner,
            text=question.question,
            now=parse_time(question.timestamp, question.timezone),
            category=question.category,
            relevant=question.relevant,
            window=None,
            off_text=None,
        )
        by_id = {memory.id: memory for memory in owned[owner]}
        return [by_id[each] for each in baselines.rank(asked, question.question)[name]]

    return find


def measure(folder: Path) -> Comparison:
    """The baselines, and our retriever with its defaults, on the questions of a folder."""
    memories, questions = read_memories(folder), read_questions(folder / "questions.jsonl")
    vectors = once_per_text()
    found = evaluate_baselines(memories, questions, vectors)
    with RecallStore(embedding=vectors) as store:
        store.add(memories)
        ours = evaluate(RecallRetriever(store=store), questions)
    return compare({**found, "RecallRetriever": ours})


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.everyday")
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--html", type=Path)
    given = parser.parse_args(argv)
    compared = measure(given.data)
    Console(width=100).print(compared)
    if given.html:
        given.html.write_text(compared.to_html(), encoding="utf-8")


if __name__ == "__main__":
    main()
