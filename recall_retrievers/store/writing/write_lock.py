"""The lock that the stores of one process on one collection share when they write.

Each of them has a writer of its own. Chroma would add the metadata of two writes of one row up, and
a row index could hear of them in another order than Chroma.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection


class WriteLock:
    """What the writers of one collection share.

    Attributes:
        changing: Held while a memory is read, changed and written again.
        writes: How many writes have ended.
    """

    def __init__(self) -> None:
        self.changing = Lock()
        self.writes = 0
        self._writing = Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold it until Chroma and the row indexes have taken over a write."""
        with self._writing:
            try:
                yield
            finally:
                self.writes += 1


_locks: WeakValueDictionary[str, WriteLock] = WeakValueDictionary()
_looking = Lock()


def write_lock_of(collection: Collection) -> WriteLock:
    """The lock of a collection, however it was opened; it goes with the last store that has it."""
    with _looking:
        return _locks.setdefault(str(collection.id), WriteLock())
