"""The 128 directions in which the token vectors of all-MiniLM-L6-v2 differ most.

    python -m benchmarks.token_basis --data DIR --out FILE.npy

DIR is one set; the file in the package was made of FriendsQA (Apache-2.0). Its first row is the
mean of the vectors of all telling tokens, each of length 1; the others are the principal directions
around it. They are turned at random (always by the same turn), so that each has the same share of
the differences: only then do the same 2 bits fit all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import read_retrieval_set
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.embedding.minilm import network

DIMENSIONS = 128


def basis(vectors: NDArray[np.float32], dimensions: int = DIMENSIONS) -> NDArray[np.float16]:
    """The mean of vectors, and the directions in which they differ most, evenly mixed.

    Examples:
        >>> basis(np.eye(4, dtype=np.float32), 2).shape
        (3, 4)
    """
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    _, directions = np.linalg.eigh(centred.T @ centred)  # the widest last
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((dimensions, dimensions)))
    return np.vstack([mean, turn @ directions[:, -dimensions:].T]).astype(np.float16)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.token_basis")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(argv)
    corpora = read_retrieval_set(given.data).corpora.values()
    texts = dict.fromkeys(index_text(memory) for corpus in corpora for memory in corpus)
    model = network()
    vectors = []
    for text in texts:
        numbers = model.tokens(text)
        hidden, _ = model.run([numbers])
        vectors.append(hidden[0][model.reader.telling(numbers)])
    tokens = np.concatenate(vectors)
    tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
    np.save(given.out, basis(tokens))


if __name__ == "__main__":
    main()
