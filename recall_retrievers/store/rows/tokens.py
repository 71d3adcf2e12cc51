"""The token vectors of rows, in 2 bits a dimension, for the comparison of words by meaning.

A row of sixteen telling words takes half a kilobyte. A question reads those of the rows that it
compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.embedding.token_vectors import TokenVectors

# Four levels for a normal distribution with the least error (Max 1960), in standard deviations.
_BOUNDS = np.array([-0.9816, 0, 0.9816], dtype=np.float32)
_VALUES = np.array([-1.51, -0.4528, 0.4528, 1.51], dtype=np.float32)
_PER_BYTE = 4
_SHIFTS = np.array([0, 2, 4, 6], dtype=np.uint8)
_LEVELS = _VALUES[(np.arange(256, dtype=np.uint8)[:, None] >> _SHIFTS) & 3]  # of each byte
_MOST_TOKENS = 2**16 - 1  # of a row
_WIDTH = Struct("<H")  # how many bytes a token takes; before the tokens of a row


def likeness(
    rows: Sequence[bytes], question: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float32]:
    """How near rows come to every token of a question: 1 = they have all of them.

    It is the mean, by weight, of the best cosine to a token of the row (MaxSim, "late
    interaction": Khattab and Zaharia 2020).

    Args:
        rows: The tokens of each row, as `coded` writes them; none may be empty.
        question: The vectors of its tokens, of length 1.
        weights: The weight of each token.
    """
    total, dimension = float(weights.sum()), question.shape[1]
    width = -(-dimension // _PER_BYTE)
    same = all(_WIDTH.unpack_from(row)[0] == width for row in rows)
    if total <= 0 or not rows or not same:  # of another model
        return np.zeros(len(rows), dtype=np.float32)
    codes = np.frombuffer(b"".join([row[_WIDTH.size :] for row in rows]), dtype=np.uint8)
    counts = np.array([(len(row) - _WIDTH.size) // width for row in rows])
    # Not `@`, which starts threads; see `vectors`.
    cosines = np.einsum("td,qd->tq", unpacked(codes.reshape(-1, width), dimension), question)
    best = np.maximum.reduceat(cosines, np.cumsum(counts) - counts, axis=0)
    near: NDArray[np.float32] = np.clip(best @ (weights / np.float32(total)), 0, 1)
    return near


def coded(tokens: TokenVectors) -> bytes:
    """The tokens of a row as they are stored; empty where it has none."""
    if not len(tokens.vectors):
        return b""
    codes = packed(tokens.vectors[:_MOST_TOKENS])
    return _WIDTH.pack(codes.shape[1]) + codes.tobytes()


def packed(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Vectors of length 1 in 2 bits a dimension.

    Examples:
        >>> packed(np.ones((1, 8), dtype=np.float32) / 8**0.5).shape
        (1, 2)
    """
    scaled = vectors * np.sqrt(vectors.shape[1])
    levels = np.zeros((len(vectors), vectors.shape[1] + -vectors.shape[1] % _PER_BYTE), np.uint8)
    for bound in _BOUNDS:
        levels[:, : vectors.shape[1]] += scaled > bound
    quarters = levels.reshape(len(levels), -1, _PER_BYTE) << _SHIFTS
    coded: NDArray[np.uint8] = np.bitwise_or.reduce(quarters, axis=2)
    return coded


def unpacked(codes: NDArray[np.uint8], dimension: int) -> NDArray[np.float32]:
    """Vectors out of 2 bits a dimension, of a length near 1.

    Examples:
        >>> there = np.array([[0.8, -0.3, 0.3, -0.4]], dtype=np.float32)
        >>> [round(each, 1) for each in unpacked(packed(there), 4)[0].tolist()]
        [0.8, -0.2, 0.2, -0.2]
    """
    # The four levels of a byte are taken as one number of 16 bytes: that is twice as quick.
    levels = (_LEVELS / np.float32(np.sqrt(dimension))).view(np.complex128).ravel()
    vectors: NDArray[np.float32] = levels.take(codes).view(np.float32)[:, :dimension]
    return vectors
