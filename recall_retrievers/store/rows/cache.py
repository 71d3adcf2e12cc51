"""The memory that row indexes take for vectors that could be read again."""

from __future__ import annotations

import threading
from collections import Counter


class Cache:
    """Bounded memory for all row indexes of one collection. Several threads may use it.

    Vectors take room only where the row index is in memory; in a folder they are in a file.

    Args:
        most: The most bytes.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._taken: Counter[object] = Counter()
        self._lock = threading.RLock()  # `clear` may come between, when an owner is collected

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
