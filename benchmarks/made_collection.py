"""Builds a collection of made-up memories on a path, of any size, and keeps it.

The vectors are those of `synthesise`, in parts of 10,000 rows. The texts, the metadata and the
name of the embedding model are those of a collection that `RecallStore` made, so it opens it, and
so does the command line. The rows are written by Chroma itself, in its largest batches and with
rare saves: `RecallStore` takes four times as long. A build that was ended goes on where it ended.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chromadb.api import ClientAPI

from benchmarks.kept_collection import NAME, USERS, Kept, client_of, note_questions, read_kept
from benchmarks.synthetic import SyntheticRows, synthesise
from langchain_recall import Memory, RecallStore, Scope
from recall_retrievers.core.candidate import Candidate
from recall_retrievers.core.progress import progress_bar
from recall_retrievers.store.chroma.rows import to_metadata

_QUESTIONS = 20
_PART = 10_000  # rows whose vectors are made together
_CALL = 5_000  # rows; Chroma takes 5,461
_SAVED_EACH = 20_000  # rows, while a collection is built
_SAVED = 1_000  # rows, after that: Chroma's own default
_FIRST = datetime(2022, 1, 1, tzinfo=UTC)
_SPAN = timedelta(days=730)


class NotBuiltError(Exception):
    """The time was over before the collection had all rows."""


def made(folder: Path, rows: int, minutes: float) -> Kept:
    """The collection with this many rows under a folder; what is missing is built.

    Raises:
        NotBuiltError: When that takes longer than the given minutes. Call again to go on.
    """
    path = folder / f"rows-{rows}"
    if not (path / "done").exists():
        path.mkdir(parents=True, exist_ok=True)
        _build(path, rows, time.monotonic() + 60 * minutes)
        _save(path)
        (path / "done").touch()
    return read_kept(path)


def _build(path: Path, rows: int, until: float) -> None:
    with client_of(path) as client:
        if not client.list_collections():
            _prepare(client, path, rows)
        collection: Any = client.get_collection(NAME, embedding_function=None)
        parts = range(collection.count() // _PART, -(-rows // _PART))
        for part in progress_bar(parts, desc=f"building {rows:,} rows", unit="parts"):
            data = _part(part, rows)
            memories = _memories(data.texts, part, rows)
            for start in range(0, len(memories), _CALL):
                if time.monotonic() > until:
                    raise NotBuiltError(f"{collection.count():,} of {rows:,} rows are built")
                some = memories[start : start + _CALL]
                collection.upsert(  # not `add`: a build that was ended may have stored some of them
                    ids=[each.id for each in some],
                    embeddings=data.embedding.vectors[start : start + len(some)],
                    documents=[each.content for each in some],
                    metadatas=[_metadata(each) for each in some],
                )
        collection.modify(configuration={"hnsw": {"sync_threshold": _SAVED}})


def _save(path: Path) -> None:
    """Write a row once more: Chroma then saves the rows that only its log has."""
    with client_of(path) as client:
        collection: Any = client.get_collection(NAME, embedding_function=None)
        wanted = ["embeddings", "documents", "metadatas"]
        row = collection.get(limit=1, include=wanted)
        collection.upsert(**{key: row[key] for key in ("ids", *wanted)})


def _prepare(client: ClientAPI, path: Path, rows: int) -> None:
    """A collection of `RecallStore` with one row, and the questions."""
    data = _part(0, rows)
    client.create_collection(
        NAME,
        configuration={
            "hnsw": {"space": "cosine", "ef_search": 400, "sync_threshold": _SAVED_EACH}
        },
        embedding_function=None,
    )
    with RecallStore() as default:
        model_name = default.embedding_model  # so that the command line opens it
    embedding = replace(data.embedding, model_name=model_name)
    with RecallStore(client, NAME, embedding=embedding, event_times=False) as store:
        store.add(_memories(data.texts[:1], 0, rows))
    vectors = embedding.vectors[-len(data.questions) :]
    note_questions(path, data.questions, vectors, model_name)


def _part(part: int, rows: int) -> SyntheticRows:
    return synthesise(min(_PART, rows - part * _PART), _QUESTIONS, seed=part)


def _memories(texts: Sequence[str], part: int, rows: int) -> list[Memory]:
    return [
        Memory(
            id=f"{part * _PART + number:08}",
            content=text if part == 0 else f"{text}p{part}",  # no two texts are equal
            created_at=_FIRST + _SPAN * (part * _PART + number) / rows,
            memory_type="conversation",
            scope=Scope(user_id=f"user{number % USERS}"),
        )
        for number, text in enumerate(texts)
    ]


def _metadata(memory: Memory) -> dict[str, Any]:
    # Written long ago, so that nobody takes the row for a new one.
    return {**to_metadata(Candidate.of(memory)), "written_at": int(1000 * _FIRST.timestamp())}
