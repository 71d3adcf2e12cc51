"""What the tests of the store share: a small embedding, and the plain answer to compare with."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recall_stages.memory import Memory

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]


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

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return self.embed_query(text)


def similarities(
    question: str, texts: Sequence[str], embedding: SmallEmbedding
) -> NDArray[np.float64]:
    """The cosines between a question and texts, those below 0 as 0."""
    rows = np.array(embedding.embed_documents(list(texts)))
    asked = np.array(embedding.embed_query(question))
    cosines = rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
    return np.clip(cosines, 0, 1)


def contents(memories: Sequence[Memory]) -> list[str]:
    return [memory.content for memory in memories]


def ids(memories: Sequence[Memory]) -> list[str]:
    return [memory.id for memory in memories]
