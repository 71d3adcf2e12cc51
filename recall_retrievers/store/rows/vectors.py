"""The vectors of rows, and a sketch of each: the rows nearest to a question, out of these alone.

Chroma takes 40 ms to return a thousand vectors; a thousand are compared here in less than 1 ms.
They have 32 bits: numpy compares those of 16 bits five times as slowly, and `repair` can build
Chroma's index from them.

A vector lies at the slot of its row in one file. It is written before its row is committed, and
nobody waits until it is on the disk. So each row has a checksum of its vector: after a kill or a
power cut the file may hold another one, or zeros.

A sketch is one bit a dimension: whether the vector is above the mean of all there. Rows whose
sketches differ in few bits from that of the question are compared exactly. Sketches are in memory:
those of 100,000 rows take 5 MB, and are made in .05 s when the first question needs them.
"""

import os
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from struct import Struct
from weakref import finalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recall_retrievers.core.errors import StoreClosedError
from recall_retrievers.core.system import mapped, open_private, read_at
from recall_retrievers.store.embedding.local_model import TokenVectors, unit
from recall_retrievers.store.rows.columns import Slots

FILE = "vectors"
_BLOCK = 8192  # rows compared at once
_SAMPLE = 10_000  # rows: the mean of more is the same
_WORD = 64  # bits of a sketch that are compared at once
_DENSE = 4  # where every fourth sketch is compared, all are: they lie in line


class Vectors:
    """Vectors of length 1, by the slot of their row. One thread at a time may put some.

    Without a folder the file has no name. Where it is cut off, zeros are read.
    """

    def __init__(self, folder: Path | None, dimension: int, slots: int) -> None:
        self.dimension = dimension  # 0 = not known yet
        self.sketched = 0  # of how many rows sketches have the mean; 0 = there are none
        self._rows = np.zeros((0, dimension), dtype=np.float32)
        self._sketches: tuple[NDArray[np.float32], NDArray[np.uint64]]  # the mean; by word and row
        self._slots = slots if dimension else 0
        self._mapping = threading.Lock()  # for a moment: nothing is mapped once it is closed
        self._sketching = threading.Lock()  # while sketches are made, or some of them change
        if folder is None:
            with tempfile.TemporaryFile() as unnamed:
                self._file = os.dup(unnamed.fileno())
        else:
            self._file = open_private(folder / FILE)
        self._closed = finalize(self, os.close, self._file)
        if os.fstat(self._file).st_size < 4 * slots * dimension:
            os.truncate(self._file, 4 * slots * dimension)

    def put(self, slots: Slots, vectors: NDArray[np.float32], room: int) -> NDArray[np.uint32]:
        """Put vectors at slots, of which there are ``room`` with these; return their checksums."""
        self.dimension = vectors.shape[1]
        scaled, size = unit(vectors).astype(np.float32), 4 * self.dimension
        if room > self._slots:
            os.truncate(self._file, room * size)
            self._slots = room
        for part in np.split(np.arange(len(slots)), np.flatnonzero(np.diff(slots) != 1) + 1):
            os.lseek(self._file, int(slots[part[0]]) * size, os.SEEK_SET)
            left = memoryview(scaled[part].tobytes())
            while left:
                left = left[os.write(self._file, left) :]
        with self._sketching:
            if self.sketched:
                mean, sketches = self._sketches
                if room > len(sketches[0]):
                    sketches = np.pad(sketches, ((0, 0), (0, room - len(sketches[0]))))
                sketches[:, slots] = self._sketch(scaled, mean)
                self._sketches = mean, sketches
        return checksums(scaled)

    def torn(self, slots: Slots, checks: NDArray[np.uint32]) -> Slots:
        """Those of these slots, in order, whose vector does not have its checksum.

        The file is read, not mapped: a bad sector is an `OSError`, and no signal.
        """
        wrong, size = np.zeros(len(slots), dtype=np.bool_), 4 * self.dimension
        for block in np.unique(slots // _BLOCK).tolist():
            first = _BLOCK * block
            inside = slice(*np.searchsorted(slots, [first, first + _BLOCK]))
            data = read_at(self._file, _BLOCK * size, first * size)
            vectors = np.frombuffer(data, np.float32).reshape(-1, self.dimension)
            wrong[inside] = checksums(vectors[slots[inside] - first]) != checks[inside]
        return slots[wrong]

    def at(self, slots: Slots) -> NDArray[np.float32]:
        return self._all()[slots]

    def cosines(self, slots: Slots, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosines of the vectors at slots, in order, to a vector of length 1."""
        rows, cosines = self._all(), np.empty(len(slots), dtype=np.float32)
        for start in range(0, len(slots), _BLOCK):
            part = slots[start : start + _BLOCK]
            in_line = part[-1] - part[0] == len(part) - 1  # that needs no copy
            compared = rows[part[0] : part[-1] + 1] if in_line else rows[part]
            # `@` starts threads that wait for each other: 12 ms instead of 1 on a busy machine.
            np.einsum("ij,j->i", compared, vector, out=cosines[start : start + _BLOCK])
        return cosines

    # -- sketches ---------------------------------------------------------------------------------

    def make_sketches(self, slots: Slots) -> None:
        """Make the sketches of all rows, with the mean of these."""
        with self._sketching:
            rows = self._all()
            mean = rows[slots[:: len(slots) // _SAMPLE + 1]].mean(axis=0)
            parts = [self._sketch(rows[n : n + _BLOCK], mean) for n in range(0, len(rows), _BLOCK)]
            self._sketches = mean, np.concatenate(parts, axis=1)
            self.sketched = len(slots)

    def near(self, slots: Slots, vector: NDArray[np.float32], most: int) -> Slots:
        """About so many of these slots, in order: those with the most similar sketches."""
        mean, sketches = self._sketches
        own, far = self._sketch(vector[None], mean), np.empty(len(slots), dtype=np.uint16)
        for start in range(0, len(slots), _BLOCK):
            part = slots[start : start + _BLOCK]
            first, end = part[0], part[-1] + 1
            dense = end - first < _DENSE * len(part)
            compared = sketches[:, first:end] if dense else sketches[:, part]
            bits = np.bitwise_count(compared ^ own).sum(axis=0, dtype=np.uint16)
            far[start : start + _BLOCK] = bits[part - first] if dense else bits
        limit = np.searchsorted(np.bincount(far).cumsum(), most)
        return slots[far <= limit]

    def _sketch(
        self, vectors: NDArray[np.float32], mean: NDArray[np.float32]
    ) -> NDArray[np.uint64]:
        """The words of sketches, by word and vector."""
        bits = np.zeros((len(vectors), -(-self.dimension // _WORD) * _WORD), dtype=np.bool_)
        np.greater(vectors, mean, out=bits[:, : self.dimension])
        words: NDArray[np.uint64] = np.packbits(bits, axis=1).view(np.uint64).T.copy()
        return words

    def close(self) -> None:
        """Let the file go, as soon as nobody compares vectors any more."""
        with self._mapping:
            self._closed()
            self._rows = self._rows[:0].copy()

    def _all(self) -> NDArray[np.float32]:
        with self._mapping:
            if len(self._rows) < self._slots:
                if not self._closed.alive:
                    raise StoreClosedError("the store was closed while it was searched")
                read = mapped(self._file, 4 * self._slots * self.dimension)
                self._rows = np.frombuffer(read, np.float32).reshape(-1, self.dimension)
            return self._rows


def checksums(vectors: NDArray[np.float32]) -> NDArray[np.uint32]:
    """A checksum of each vector; never 0."""
    return np.array([crc32(each) or 1 for each in vectors], dtype=np.uint32)


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
    interaction": Khattab and Zaharia 2020). Rows are as `coded` writes them; none may be empty.
    """
    total, dimension = float(weights.sum()), question.shape[1]
    width = -(-dimension // _PER_BYTE)
    if total <= 0 or {row[: _WIDTH.size] for row in rows} != {_WIDTH.pack(width)}:  # another model
        return np.zeros(len(rows), dtype=np.float32)
    codes = np.frombuffer(b"".join([row[_WIDTH.size :] for row in rows]), dtype=np.uint8)
    counts = np.array([(len(row) - _WIDTH.size) // width for row in rows])
    # The four levels of a byte are taken as one number of 16 bytes: that is twice as quick.
    levels = (_LEVELS / np.float32(np.sqrt(dimension))).view(np.complex128).ravel()
    tokens = levels.take(codes.reshape(-1, width)).view(np.float32)[:, :dimension]
    # Not `@`, which starts threads; see `cosines`.
    cosines = np.einsum("td,qd->tq", tokens, question)
    best = np.maximum.reduceat(cosines, np.cumsum(counts) - counts, axis=0)
    near: NDArray[np.float32] = np.clip(best @ (weights / np.float32(total)), 0, 1)
    return near


def coded(tokens: TokenVectors) -> bytes:
    """The tokens of a row as they are stored, in 2 bits a dimension; empty where it has none."""
    vectors = tokens.vectors[:_MOST_TOKENS]
    if not len(vectors):
        return b""
    dimension = vectors.shape[1]
    scaled = vectors * np.sqrt(dimension)
    levels = np.zeros((len(vectors), dimension + -dimension % _PER_BYTE), np.uint8)
    for bound in _BOUNDS:
        levels[:, :dimension] += scaled > bound
    quarters = levels.reshape(len(levels), -1, _PER_BYTE) << _SHIFTS
    codes: NDArray[np.uint8] = np.bitwise_or.reduce(quarters, axis=2)
    return _WIDTH.pack(codes.shape[1]) + codes.tobytes()
