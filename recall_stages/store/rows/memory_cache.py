"""A cache for the candidates of rows, because Chroma takes 0.1 ms to return one."""

from __future__ import annotations

from collections.abc import Iterable

from recall_stages.core.candidate import Candidate

_MOST = 256_000_000  # bytes: 250,000 memories of a sentence; further ones are read from Chroma
_A_CANDIDATE, _A_VALUE, _AN_EVENT = 600, 150, 500  # bytes apart from texts, as sys.getsizeof says
_WIDEST = 2  # bytes a character, if not all are ASCII


class CandidateCache:
    """Candidates by the place of their row in the `Roster`, as long as there is room.

    Args:
        most: The estimated number of bytes that they may take.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._candidates: dict[int, Candidate] = {}
        self._size = 0

    def keep(self, place: int, memory: Candidate) -> None:
        """Keep a candidate in place of the old one, if there is room."""
        self.forget(place)
        size = _size(memory)
        if self._size + size <= self._most:
            self._candidates[place] = memory
            self._size += size

    def forget(self, place: int) -> None:
        """Forget the candidate at a place, and free its room."""
        gone = self._candidates.pop(place, None)
        if gone is not None:
            self._size -= _size(gone)

    def at(self, places: Iterable[int]) -> list[Candidate | None]:
        """The candidates at some places; None for one that is not here."""
        return [*map(self._candidates.get, places)]


def _size(memory: Candidate) -> int:
    texts = (memory.content, memory.id, memory.author, memory.when_to_use, memory.said_before)
    size = _A_CANDIDATE + _AN_EVENT * len(memory.events)
    for text in texts:
        size += len(text) if text.isascii() else _WIDEST * len(text)
    for value in memory.metadata.values():
        size += _A_VALUE + (len(value) if isinstance(value, str) else 0)
        size += sum(map(len, map(str, value))) if isinstance(value, list) else 0
    return size
