"""A collection of made-up memories. `made_collection` builds and keeps it; other processes open it.

It imports chromadb and numpy alone: whoever measures the memory of a process starts from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from numpy.typing import NDArray

from benchmarks.synthetic import FreeEmbeddings

NAME = "memories"
USERS = 50
_QUESTIONS, _VECTORS = "questions.json", "questions.npy"


@dataclass(frozen=True)
class Kept:
    """A collection on a path.

    Attributes:
        path: The path.
        questions: Texts that lie near some of its rows.
        embedding: Knows the vectors of the questions.
    """

    path: Path
    questions: list[str]
    embedding: FreeEmbeddings


def read_kept(path: Path) -> Kept:
    """The collection of a path."""
    noted = json.loads((path / _QUESTIONS).read_text(encoding="utf-8"))
    questions, vectors = noted["questions"], np.load(path / _VECTORS)
    known = {text: number for number, text in enumerate(questions)}
    return Kept(path, questions, FreeEmbeddings(known, vectors, noted["model_name"]))


def note_questions(
    path: Path, questions: Sequence[str], vectors: NDArray[np.float32], model_name: str
) -> None:
    """Keep questions, their vectors, and whose vectors they are said to be, on a path."""
    noted = json.dumps({"model_name": model_name, "questions": questions})
    (path / _QUESTIONS).write_text(noted, encoding="utf-8")
    np.save(path / _VECTORS, vectors)


@contextmanager
def client_of(path: Path) -> Iterator[ClientAPI]:
    """Chroma's client of a path, closed at the end."""
    client = chromadb.PersistentClient(str(path))
    yield client
    client.close()  # type: ignore[attr-defined]  # the class behind the interface has it
