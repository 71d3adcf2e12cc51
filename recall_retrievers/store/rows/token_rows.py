"""The token vectors of rows, in 2 bits a dimension, for the comparison of words by meaning.

A row of sixteen telling words takes half a kilobyte, so that those of 100,000 rows are some 55 MB
on disk. They are mapped: a question reads those of the rows that it compares, and opening none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.store.embedding.token_vectors import TokenVectors
from recall_retrievers.store.rows.append_file import AppendFile
from recall_retrievers.store.rows.wanted import Places

SPAN = np.dtype([("first", "<u8"), ("count", "<u2"), ("width", "<u2")])
"""Of each row: where its first token is, how many it has, and how many bytes each takes."""

Coded = tuple[bytes, int, int]
"""The coded tokens of a row, their number, and the bytes of one."""

# Four levels for a normal distribution with the least error (Max 1960), in standard deviations.
_BOUNDS = np.array([-0.9816, 0, 0.9816], dtype=np.float32)
_VALUES = np.array([-1.51, -0.4528, 0.4528, 1.51], dtype=np.float32)
_PER_BYTE = 4
_SHIFTS = np.array([0, 2, 4, 6], dtype=np.uint8)
_LEVELS = _VALUES[(np.arange(256, dtype=np.uint8)[:, None] >> _SHIFTS) & 3]  # of each byte
_MOST_TOKENS = 2**16 - 1  # of a row


class TokenRows:
    """The token vectors of rows, by the place of the row.

    Args:
        codes: The vectors, four dimensions a byte, one after the other.
        spans: Where those of each row are; see `SPAN`.
        rows: How many rows there are; those without a span have no vectors.
        room: Takes room for more of them, where there is any. None = there is room for all.
    """

    def __init__(
        self,
        codes: AppendFile,
        spans: AppendFile,
        rows: int,
        room: Callable[[int], bool] | None,
    ) -> None:
        self._codes, self._spans = codes, spans
        self._room = room
        lacking = rows - spans.size // SPAN.itemsize
        if lacking > 0:
            spans.append(bytes(lacking * SPAN.itemsize))

    def append(self, tokens: Sequence[Coded], rows: int) -> None:
        """Add the token vectors of the next rows, while there is room.

        Args:
            tokens: Of each row; empty = they have none.
            rows: How many rows there are.
        """
        spans = np.zeros(rows, dtype=SPAN)
        size = sum(len(data) for data, _, _ in tokens)
        if size and (self._room is None or self._room(size)):
            first = self._codes.size
            for place, (data, count, width) in enumerate(tokens):
                spans[place] = first, count, width
                first += len(data)
            self._codes.append(b"".join([data for data, _, _ in tokens]))
        self._spans.append(spans.tobytes())

    def at(self, place: int) -> Coded:
        """The token vectors of a row."""
        first, count, width = (int(each) for each in self._noted()[place])
        return self._codes.view()[first : first + count * width].tobytes(), count, width

    def missing(self, places: Places) -> NDArray[np.bool_]:
        """Whether the row at each place has no token vectors."""
        missing: NDArray[np.bool_] = self._noted()["count"][places] == 0
        return missing

    def likeness(
        self, places: Places, question: NDArray[np.float32], weights: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """How near each row comes to every token of a question: 1 = it has all of them.

        It is the mean, by weight, of the best cosine to a token of the row (MaxSim, "late
        interaction": Khattab and Zaharia 2020).

        Args:
            places: The rows; none may be without token vectors.
            question: The vectors of its tokens, of length 1.
            weights: The weight of each token.
        """
        total, dimension = float(weights.sum()), question.shape[1]
        width = -(-dimension // _PER_BYTE)
        spans = self._noted()[places]
        if total <= 0 or not len(places) or (spans["width"] != width).any():  # of another model
            return np.zeros(len(places), dtype=np.float32)
        codes, counts = self._codes.view(), spans["count"].astype(np.int64)
        ends = spans["first"].astype(np.int64) + counts * width
        parts = zip(spans["first"].tolist(), ends.tolist(), strict=True)
        joined = np.concatenate([codes[first:end] for first, end in parts]).reshape(-1, width)
        # Not `@`, which starts threads; see `vectors`.
        cosines = np.einsum("td,qd->tq", unpacked(joined, dimension), question)
        best = np.maximum.reduceat(cosines, np.cumsum(counts) - counts, axis=0)
        likeness: NDArray[np.float32] = np.clip(best @ (weights / np.float32(total)), 0, 1)
        return likeness

    def _noted(self) -> NDArray[np.void]:
        return self._spans.view().view(SPAN)


def coded(tokens: TokenVectors) -> Coded:
    """The tokens of a row as they are stored."""
    if not len(tokens.vectors):
        return b"", 0, 0
    codes = packed(tokens.vectors[:_MOST_TOKENS])
    return codes.tobytes(), len(codes), codes.shape[1]


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
    levels = _LEVELS[codes].reshape(len(codes), -1)[:, :dimension]
    vectors: NDArray[np.float32] = levels / np.float32(np.sqrt(dimension))
    return vectors
