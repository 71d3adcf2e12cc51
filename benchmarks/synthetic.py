"""Made-up memories for latency: as many as wanted, in no time, without a model.

The vectors lie in clusters, as those of real texts do (an even cloud of 384 dimensions is harder
for the index than anything people write): one centre for every hundred rows, drawn from a normal
distribution, and each row a centre plus noise of half its length, all scaled to length 1. Texts
are twelve words drawn from a small vocabulary, and times are spread evenly over two years.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384

_FIRST = datetime(2022, 1, 1, tzinfo=UTC)
_SPAN = timedelta(days=730)
# None of these names a time, so a query of them is a plain one.
_WORDS = ["garden", "kitchen", "train", "river", "letter", "doctor", "music", "coffee", "story"]


@dataclass
class FreeEmbeddings:
    """Looks vectors up by text: an embedding that costs nothing, for LangChain and for us alike."""

    model_name = "free-lookup"
    known: dict[str, list[float]] = field(default_factory=dict)

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts."""
        return [self.known[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of a text."""
        return self.known[text]

    async def aembed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts."""
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """The vector of a text."""
        return self.embed_query(text)


@dataclass(frozen=True)
class SyntheticRows:
    """Memories and questions that lie near some of them.

    Attributes:
        texts: Of the memories, the oldest first; no two are equal.
        times: When they were recorded, evenly spread.
        questions: Texts to ask.
        embedding: Knows the vectors of all of these.
    """

    texts: list[str]
    times: list[datetime]
    questions: list[str]
    embedding: FreeEmbeddings

    def window(self, share: float, place: float) -> tuple[datetime, datetime]:
        """A range of time that holds this share of the rows; ``place`` from 0 to 1 moves it."""
        width = max(1, round(len(self.times) * share))
        first = round((len(self.times) - width) * place)
        end = first + width
        last = self.times[end] if end < len(self.times) else _FIRST + _SPAN
        return self.times[first], last


def synthesise(rows: int, questions: int, seed: int = 7) -> SyntheticRows:
    """Make rows and questions; the same seed makes the same ones."""
    random = np.random.default_rng(seed)
    centres = _unit(random.standard_normal((max(1, rows // 100), DIMENSIONS)))
    vectors = _near(centres[random.integers(len(centres), size=rows)], random)
    asked = _near(vectors[random.integers(rows, size=questions)], random)
    texts = [
        f"{' '.join(_WORDS[each] for each in words)} {number}"
        for number, words in enumerate(random.integers(len(_WORDS), size=(rows, 11)))
    ]
    asking = [" ".join(words) for words, _ in zip(product(_WORDS, repeat=4), asked, strict=False)]
    known = dict(zip([*texts, *asking], [*vectors.tolist(), *asked.tolist()], strict=True))
    times = [_FIRST + _SPAN * number / rows for number in range(rows)]
    return SyntheticRows(texts, times, asking, FreeEmbeddings(known))


def _near(points: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    return _unit(points + 0.5 * _unit(random.standard_normal(points.shape)))


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths
