"""The 128 directions in which the token vectors of an embedding on this machine differ most.

    python -m benchmarks.token_basis [--embedding default|multilingual] --data DIR [--data DIR ...]
                                     --out FILE.npy

DIR is one set; the file of the default was made of FriendsQA (Apache-2.0), that of the multilingual
embedding of FriendsQA and the Chinese MemoryBank (MIT), each counting the same. Its first row is
the mean of the vectors of all telling tokens, each of length 1; the others are the principal
directions around it. They are turned at random (always by the same turn), so that each has the same
share of the differences: only then do the same 2 bits fit all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import read_retrieval_set
from benchmarks.embedding import EMBEDDINGS
from recall_retrievers.store.chroma.search_text import index_text
from recall_retrievers.store.embedding.local_model import LocalModel, unit
from recall_retrievers.store.embedding.minilm import MiniLM
from recall_retrievers.store.embedding.multilingual import Multilingual

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
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(argv)
    model = Multilingual() if given.embedding == "multilingual" else MiniLM()
    tokens = [_tokens(model, folder) for folder in given.data]
    least = min(map(len, tokens))
    random = np.random.default_rng(0)
    alike = [each[random.permutation(len(each))[:least]] for each in tokens]
    np.save(given.out, basis(np.concatenate(alike)))


def _tokens(model: LocalModel, folder: Path) -> NDArray[np.float32]:
    """The vectors of all telling tokens of a set, of length 1."""
    network = model.network()
    corpora = read_retrieval_set(folder).corpora.values()
    vectors = []
    for text in dict.fromkeys(index_text(memory) for corpus in corpora for memory in corpus):
        numbers = network.tokens("passage", text)
        _, [hidden] = network.run([numbers])
        vectors.append(hidden[network.telling(numbers)])
    return unit(np.concatenate(vectors))


if __name__ == "__main__":
    main()
