"""What the tests of the store share: a small embedding, and the plain answer to compare with."""

import hashlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.candidate import Hit
from recall_retrievers.core.memory import Memory
from recall_retrievers.core.stage import Search
from recall_retrievers.store import RecallStore
from recall_retrievers.timeline import TimeRange

NOON = datetime(2024, 3, 5, 12, tzinfo=UTC)
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]

TEXTS = [
    "green tea in the garden",
    "the dentist put in a filling",
    "a train to the river",
    "tea with the dentist",
    "winter bread",
    "letters from the river in winter",
]
FIRST = datetime(2024, 3, 1, 9, 30, tzinfo=UTC)
MOMENTS = [FIRST + timedelta(days=number) for number in range(len(TEXTS))]


def day(number: int) -> TimeRange:
    return TimeRange(MOMENTS[number], MOMENTS[number] + timedelta(days=1), "day")


@lru_cache(maxsize=50_000)
def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).normal(size=dimension)


class SmallEmbedding:
    """A direction of its own for each word: exact, fast, and the same on every machine."""

    def __init__(self, dimension: int = 64, model_name: str = "small", unit: bool = True) -> None:
        self.dimension = dimension
        self.model_name = model_name
        self.unit = unit

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = sum(_direction(word, self.dimension) for word in text.lower().split() or [""])
        scale = 1 if self.unit else len(text)
        return (vector / np.linalg.norm(vector) * scale).tolist()

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)


class Counting(SmallEmbedding):
    """Counts the texts that it embeds to be stored."""

    embedded = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += len(texts)
        return super().embed_documents(texts)


def similarities(
    question: str, texts: Sequence[str], embedding: SmallEmbedding
) -> NDArray[np.float64]:
    """The cosines between a question and texts, those below 0 as 0."""
    rows = np.array(embedding.embed_documents(list(texts)))
    asked = np.array(embedding.embed_query(question))
    cosines = rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
    return np.clip(cosines, 0, 1)


def contents(memories: Sequence[Memory | Hit]) -> list[str]:
    return [(x.memory if isinstance(x, Hit) else x).content for x in memories]


def ids(memories: Sequence[Memory | Hit]) -> list[str]:
    return [memory.id for memory in memories]


def best(store: RecallStore, text: str, limit: int = 1, **search: Any) -> list[Hit]:
    return store.find([Search(text, limit, **search)])[0]


def python_process(script: str, *arguments: str) -> subprocess.Popen[str]:
    tests = Path(__file__).parent.parent
    paths = [str(tests), str(tests.parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
