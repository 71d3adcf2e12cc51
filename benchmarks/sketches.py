"""How many of the memories nearest to a question are among those that sketches choose.

    python -m benchmarks.sketches [--data DIR] [--rows 100000] [--questions 300]
                                  [--embedding default|multilingual] [--vectors FILE]

The rows are the texts of sets, and mixtures of two of them. The questions are those of the sets:
with rows of the collection as questions, any sketch finds nearly all. Prints, by how many rows are
compared exactly, the share of the true nearest ten and fifty that is among them.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.embedding import EMBEDDINGS, once_per_text
from benchmarks.real_rows import texts_and_questions
from recall_retrievers.store.embedding.local_model import unit
from recall_retrievers.store.rows.vectors import Vectors

_COMPARED = (1_000, 2_000, 4_000, 8_000, 16_000)
_NEAREST = (10, 50)


def shares(
    texts: NDArray[np.float32], questions: NDArray[np.float32], rows: int
) -> Mapping[int, tuple[float, ...]]:
    """The shares by how many rows are compared, from the vectors of texts and of questions."""
    dice = np.random.default_rng(1)
    one, other = dice.integers(0, len(texts), (2, max(rows - len(texts), 0)))
    part = dice.random((len(one), 1), dtype=np.float32)
    mixed = unit(part * texts[one] + (1 - part) * texts[other])
    vectors = dice.permutation(np.concatenate([texts, mixed])[:rows])
    slots, kept = np.arange(rows), Vectors(None, 0, 0)
    kept.put(slots, vectors, rows)
    kept.make_sketches(slots)
    found = np.empty((len(_COMPARED), len(_NEAREST), len(questions)))
    for number, question in enumerate(questions):
        true = np.argsort(-(vectors @ question))
        for row, compared in enumerate(_COMPARED):
            near = kept.near(slots, question, compared)
            found[row, :, number] = [np.isin(true[:n], near).mean() for n in _NEAREST]
    return dict(zip(_COMPARED, map(tuple, found.mean(axis=2).tolist()), strict=True))


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.sketches")
    parser.add_argument("--data", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--embedding", choices=EMBEDDINGS, default="default")
    parser.add_argument("--vectors", type=Path, metavar="FILE")
    given = parser.parse_args(argv)
    texts, asked = texts_and_questions(given.data)
    with once_per_text(given.vectors, given.embedding) as model:
        vectors = unit(model.embed_documents(texts[: given.rows]))
        questions = unit(np.stack([model.embed_query(x) for x in asked[: given.questions]]))
    for compared, (ten, fifty) in shares(vectors, questions, given.rows).items():
        print(f"{compared:6,} compared: {ten:.4f} of 10, {fifty:.4f} of 50")


if __name__ == "__main__":
    main()
