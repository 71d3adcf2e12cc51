"""Whose turn it is to write: the stores of one process on one collection take turns.

Each of them has a writer of its own. Chroma would add the metadata of two writes of one row up, and
a row index could hear of them in another order than Chroma.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection


class Turn:
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
        """Wait for the turn; it lasts until Chroma and the row indexes have taken over a write."""
        with self._writing:
            try:
                yield
            finally:
                self.writes += 1


_turns: WeakValueDictionary[tuple[str, str], Turn] = WeakValueDictionary()
_looking = Lock()


def turn_of(collection: Collection, folder: Path | None) -> Turn:
    """The turn of a collection; it is gone with the last store that has it.

    Args:
        collection: The collection.
        folder: The Chroma path; None = it is not in one.
    """
    with _looking:
        return _turns.setdefault((str(folder or ""), str(collection.id)), Turn())
