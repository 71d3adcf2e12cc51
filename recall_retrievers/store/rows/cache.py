"""The memory that row indexes take for what can be read again: memories, and vectors."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable

from recall_retrievers.core.candidate import Candidate

_MEMORIES = 16  # the share of memories that were read; the rest is for vectors
_BEYOND = 4  # so many times its bytes in the file does a memory take, and this much more:
_A_MEMORY = 1600  # with the words by which it is compared

Key = tuple[object, int]
"""The owner of a row, and its place there."""


class Cache:
    """Bounded memory for all row indexes of one collection. Several threads may use it.

    Vectors take room only where the row index is in memory; in a folder they are in a file.

    Args:
        most: The most bytes.
    """

    def __init__(self, most: int) -> None:
        self._room = most // _MEMORIES
        self._left = most - self._room
        self._taken: Counter[object] = Counter()
        self._lock = threading.RLock()  # `clear` may come between, when an owner is collected
        self._memories: OrderedDict[Key, tuple[Candidate, int]] = OrderedDict()

    def found(self, owner: object, places: Iterable[int]) -> dict[int, Candidate | None]:
        """The memories at places; None where one has to be read."""
        known: dict[int, Candidate | None] = {}
        with self._lock:
            for place in places:
                kept = self._memories.get((owner, place))
                known[place] = kept and kept[0]
        return known

    def keep(self, owner: object, place: int, memory: Candidate, size: int) -> None:
        """Keep a memory that was read, in place of the oldest ones.

        Args:
            owner: The owner of its row.
            place: Its place there.
            memory: The memory.
            size: The bytes of its row in the file.
        """
        takes = _A_MEMORY + _BEYOND * size
        with self._lock:
            self._forget((owner, place))
            self._memories[owner, place] = memory, takes
            self._room -= takes
            while self._room < 0 and self._memories:
                self._forget(next(iter(self._memories)))

    def forget(self, owner: object, place: int) -> None:
        """Let a memory go."""
        with self._lock:
            self._forget((owner, place))

    def take(self, owner: object, size: int) -> bool:
        """Take room for vectors, where there is any."""
        with self._lock:
            fits = size <= self._left
            if fits:
                self._left -= size
                self._taken[owner] += size
        return fits

    def clear(self, owner: object) -> None:
        """Let all go that an owner has."""
        with self._lock:
            self._left += self._taken.pop(owner, 0)
            for key in list(self._memories):
                if key[0] is owner:
                    self._forget(key)

    def _forget(self, key: Key) -> None:
        gone = self._memories.pop(key, None)
        if gone is not None:
            self._room += gone[1]
