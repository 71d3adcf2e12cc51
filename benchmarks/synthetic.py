"""Made-up memories for latency: as many as wanted, in no time, without a model.

The vectors lie in clusters, as those of real texts do (an even cloud of 384 dimensions is harder
for the index than anything people write): one centre for every hundred rows, drawn from a normal
distribution, and each row a centre plus noise of half its length, all scaled to length 1. Texts
are twelve words, as common as the words of a language (Zipf: the second half as common as the
first, the third a third).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DIMENSIONS = 384

# Syllables make words that name no time and that no stemmer cuts, so a query of them is plain.
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
_WORDS = [a + b + c for a in _SYLLABLES[::3] for b in _SYLLABLES[::2] for c in _SYLLABLES[::4]]


@dataclass(frozen=True)
class FreeEmbeddings:
    """Looks vectors up by text: an embedding that costs nothing, for LangChain and for us alike.

    Attributes:
        known: For each text, which of the vectors it has.
        vectors: One a row, each of length 1.
        model_name: The name that a collection remembers.
    """

    known: dict[str, int]
    vectors: NDArray[np.float32]
    model_name: str = "free-lookup"

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts."""
        return self.vectors[[self.known[text] for text in texts]].tolist()

    def embed_query(self, text: str) -> list[float]:
        """The vector of a text."""
        return self.vectors[self.known[text]].tolist()

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
        texts: Of the memories; no two are equal.
        questions: Texts to ask.
        embedding: Knows the vectors of all of these.
    """

    texts: list[str]
    questions: list[str]
    embedding: FreeEmbeddings


def synthesise(rows: int, questions: int, seed: int = 7) -> SyntheticRows:
    """Make rows and questions; the same seed makes the same ones."""
    random = np.random.default_rng(seed)
    centres = _unit(random.standard_normal((max(1, rows // 100), _DIMENSIONS), dtype=np.float32))
    vectors = _near(centres[random.integers(len(centres), size=rows)], random)
    asked = _near(vectors[random.integers(rows, size=questions)], random)
    shares = 1 / np.arange(1, len(_WORDS) + 1)
    drawn = random.choice(len(_WORDS), size=(rows + questions, 11), p=shares / shares.sum())
    # The number, which keeps texts apart, is a word too, and of no length that a year has.
    said = [f"{' '.join(_WORDS[n] for n in row)} x{number}" for number, row in enumerate(drawn)]
    texts = said[:rows]
    asking = [" ".join(text.split()[:5]) + f" {text.split()[-1]}" for text in said[rows:]]
    known = {text: number for number, text in enumerate([*texts, *asking])}
    return SyntheticRows(texts, asking, FreeEmbeddings(known, np.concatenate([vectors, asked])))


def _near(points: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
    return _unit(points + 0.5 * _unit(random.standard_normal(points.shape, dtype=np.float32)))


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths
