"""Real texts as memories of twenty users, in any number; their vectors are made once and kept.

Texts beyond those of the data are half of one and half of another. Such a row has the mean of both
vectors with some noise, and half of the token vectors of each. Authors are left out, so that every
system sees the same texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from benchmarks.datasets import read_retrieval_set, set_folders
from benchmarks.embedding import once_per_text
from langchain_recall.embedding import MiniLM as LangChainMiniLM
from recall_retrievers.core.memory_lines import read_memories
from recall_retrievers.evaluation.questions import read_questions
from recall_retrievers.store.embedding.local_model import TokenVectors, asked, unit
from recall_retrievers.store.embedding.minilm import MiniLM

USERS = 20
_EXAMPLES = Path("examples/memorybank")
_FIRST = datetime(2022, 1, 1, tzinfo=UTC)
_SPAN = timedelta(days=730)
_NOISE = 0.35  # of a mixed row, beside the mean of two vectors
_OTHER = 7919  # a prime: the second half of a mixed row comes from far away
_PART = 1_000  # texts in one call


@dataclass(frozen=True)
class RealRows:
    """Memories, and questions about some of them.

    Attributes:
        texts: Of the memories, the oldest first; no two are equal.
        questions: Texts to ask.
        vectors: One a memory, of length 1.
        embedding: Knows the vectors of the memories, and embeds everything else.
    """

    texts: list[str]
    questions: list[str]
    vectors: NDArray[np.float32]
    embedding: KnownTexts

    def text(self, row: int) -> str:
        """The text of a memory; beyond the last one they begin anew."""
        return self.texts[row % len(self.texts)]

    def time(self, row: int) -> datetime:
        """When a memory was recorded."""
        return _FIRST + _SPAN * row / len(self.texts)


def user_of(row: int) -> str:
    """The user of a memory."""
    return f"user-{row % USERS:02}"


class KnownTexts(MiniLM):
    """The default embedding, which does not embed the memories again.

    Attributes:
        rows: The two texts of each memory, by its own text, and its vector.
    """

    def __init__(self, base: Sequence[tuple[NDArray[np.float32], TokenVectors]]) -> None:
        self._base = base
        self.rows: dict[str, tuple[int, int, NDArray[np.float32]]] = {}

    def for_langchain(self) -> Embeddings:
        """The same, as our `MiniLM` hands its vectors to LangChain."""

        class Known(LangChainMiniLM):
            converted = self

        return Known()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of memories."""
        return np.stack([self.rows[text][2] for text in texts])

    def embed_with_tokens(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        """The vectors of memories, with those of their tokens."""
        return self.embed_documents(texts), [self._tokens(*self.rows[text][:2]) for text in texts]

    def embed_query_with_tokens(self, text: str) -> tuple[NDArray[np.float32], TokenVectors]:
        """The vectors of a question, embedded anew: no rival remembers its last questions."""
        asked.cache_clear()
        return super().embed_query_with_tokens(text)

    def _tokens(self, one: int, other: int) -> TokenVectors:
        first, second = self._base[one][1], self._base[other][1]
        if one == other:
            return first
        n, m = len(first.words) // 2, len(second.words) // 2
        words = [*first.words[:n], *second.words[m:]]
        parts = [each for each in (first.vectors[:n], second.vectors[m:]) if len(each)]
        return TokenVectors(words, np.concatenate(parts) if parts else first.vectors[:0])


def real_rows(data: Sequence[Path], rows: int, questions: int, kept: Path | None) -> RealRows:
    """Texts and questions of sets, or of the examples of the project.

    Args:
        data: Folders of sets, as benchmarks.retrieval takes them; empty = the examples.
        rows: How many memories.
        questions: How many questions.
        kept: An SQLite file that keeps vectors between runs; None = nothing keeps them.
    """
    found, asked = texts_and_questions(data)
    texts, made = found[:rows], list[str]()
    with once_per_text(kept) as model:
        vectors, tokens = np.empty((0, MiniLM.dimension), dtype=np.float32), list[TokenVectors]()
        for start in range(0, len(texts), _PART):
            part, own = model.embed_with_tokens([*texts[start : start + _PART], texts[0]])
            vectors = np.concatenate([vectors, part[:-1]])
            tokens += own[:-1]
    base = list(zip(vectors, tokens, strict=True))
    known = KnownTexts(base)
    random = np.random.default_rng(7)
    for row, (one, other) in enumerate(_pairs(len(texts), rows)):
        if one == other:
            text, vector = texts[one], vectors[one]
        else:
            halves = texts[one].split(), texts[other].split()
            n, m = (len(half) // 2 for half in halves)
            text = " ".join([*halves[0][:n], *halves[1][m:]])
            text = text if text not in known.rows else f"{text} {row}"
            noise = unit(random.standard_normal(MiniLM.dimension, dtype=np.float32))
            vector = unit((vectors[one] + vectors[other]) / 2 + np.float32(_NOISE) * noise)
        known.rows[text] = one, other, vector
        made.append(text)
    matrix = np.stack([known.rows[text][2] for text in made])
    return RealRows(made, [asked[n % len(asked)] for n in range(questions)], matrix, known)


def _pairs(texts: int, rows: int) -> Iterator[tuple[int, int]]:
    """The two texts of each row."""
    yield from ((row, row) for row in range(texts))
    for row in range(texts, rows):
        one = row % texts
        yield one, (one + _OTHER * (row // texts)) % texts


def texts_and_questions(data: Sequence[Path]) -> tuple[list[str], list[str]]:
    """The texts and the questions of sets, those of all sets among each other; see `real_rows`."""
    texts, asked = _read(data)
    return _dealt(texts), _dealt(asked)


def _dealt(texts: Sequence[str]) -> list[str]:
    """Each text once, those of all sets among each other."""
    once = [*dict.fromkeys(texts)]
    return [once[number] for number in np.random.default_rng(0).permutation(len(once))]


def _read(data: Sequence[Path]) -> tuple[list[str], list[str]]:
    if not data:
        memories = read_memories(_EXAMPLES / "memories.jsonl")
        questions = read_questions(_EXAMPLES / "questions.jsonl")
        return [each.content for each in memories], [each.question for each in questions]
    sets = list(map(read_retrieval_set, set_folders(data)))
    texts = [m.content for each in sets for corpus in each.corpora.values() for m in corpus]
    return texts, [q.text for each in sets for q in each.questions]
