"""The tokens of all-MiniLM-L6-v2 as they are compared: the telling ones, in 128 dimensions.

``minilm_tokens.npy`` has the mean of the model's token vectors, and the 128 directions in which
they differ most, turned so that all directions count alike (`benchmarks.token_basis` makes it).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.embedding.token_vectors import TokenVectors, unit
from recall_retrievers.text.stems import STOP_WORDS

Vectors = NDArray[np.float32]

_PART = "##"  # in front of a piece that goes on with a word


class TokenReader:
    """Makes the token vectors of texts."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces
        self._telling = np.array([_tells(piece) for piece in pieces])

    def read(self, numbers: Sequence[int], hidden: Vectors) -> TokenVectors:
        """The vectors of the telling tokens of a text."""
        chosen = self.telling(numbers)
        words = self._words(numbers)
        return TokenVectors([words[place] for place in chosen], reduced(hidden[chosen]))

    def telling(self, numbers: Sequence[int]) -> NDArray[np.intp]:
        """The places of the telling tokens of a text; of a text without any, of all its tokens."""
        inner = np.arange(1, len(numbers) - 1)
        telling = inner[self._telling[np.asarray(numbers)[inner]]]
        return telling if len(telling) else inner

    def _words(self, numbers: Sequence[int]) -> list[str]:
        """The whole word that each token is a part of."""
        pieces = [self._pieces[number] for number in numbers]
        words: list[str] = []
        begin = 0
        for end in range(1, len(pieces) + 1):
            if end == len(pieces) or not pieces[end].startswith(_PART):
                parts = [piece.removeprefix(_PART) for piece in pieces[begin:end]]
                words += ["".join(parts)] * len(parts)
                begin = end
        return words


def reduced(hidden: Vectors) -> Vectors:
    """Vectors of tokens in 128 dimensions, of length 1."""
    mean, directions = _basis()
    turned: Vectors = np.dot(unit(hidden) - mean, directions)
    return unit(turned)


@cache
def _basis() -> tuple[Vectors, Vectors]:
    rows = np.load(Path(__file__).with_name("minilm_tokens.npy")).astype(np.float32)
    return rows[0], np.ascontiguousarray(rows[1:].T)


def _tells(piece: str) -> bool:
    part = piece.removeprefix(_PART)
    if piece in STOP_WORDS or not any(letter.isalnum() for letter in part) or piece[0:1] == "[":
        return False
    single = len(part) == 1 and part.isascii() and part.isalpha()
    return not single or part != piece
